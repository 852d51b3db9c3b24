# SPDX-License-Identifier: Apache-2.0
# VaultFeedKeyFile: a key that is missing, short, or that others can read stops the start with a sentence.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;

my $path = vars('t_logs') . '/a-key';

# A file with this text and mode.
sub key
{
    my ($text, $mode) = @_;
    unlink $path;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    chmod $mode // 0600, $path;
    return;
}

my $line = qq(VaultFeedKeyFile "$path"\n);
my $key = 'k' x 32;
for my $row (["$key\n", 'a key'], [$key, 'a key without a line end'], ["$key\r\n", 'a line end of another system'], ['k' x 512, 'a long one']) {
    key($row->[0]);
    accepts($line, $row->[1]);
}
key("$key\n", 0640);
accepts($line, 'a file that a group reads');
accepts("<VirtualHost *:80>\n$line</VirtualHost>\n", 'a key of a virtual host');
accepts("VaultFeedKeyFile Off\n", 'no key');
refuses("<Location /x>\n$line</Location>\n", qr/^VaultFeedKeyFile not allowed (?:here|in <Location>)/, 'in a location');

my $accepted = qr/a key of 32 to 512 printable ASCII characters without a blank, alone in its file, is accepted; openssl rand -hex 32 makes one$/;
for my $row (['', 'an empty file'], ["\n", 'an empty line'], ['k' x 31, 'a short key'], ['k' x 513, 'one that is too long'], ["$key $key", 'a blank'],
    ["$key\n$key\n", 'two keys'], ["k\x{fc}" . $key, 'a letter that is not ASCII'], ['k' x 2000, 'a file of another kind']) {
    key($row->[0]);
    refuses($line, qr/^VaultFeedKeyFile \Q$path\E: $accepted/, $row->[1]);
}
key("$key\0$key");
refuses($line, "VaultFeedKeyFile $path: a NUL is in the file", 'a NUL');
for my $mode (0644, 0604, 0602) {
    key("$key\n", $mode);
    refuses($line, "VaultFeedKeyFile $path: other users can read or write the file; chmod o= makes the key a secret", sprintf 'mode %o', $mode);
}
unlink $path;
refuses($line, qr/^VaultFeedKeyFile \Q$path\E: No such file/, 'no file');
refuses(qq(VaultFeedKeyFile "@{[vars('t_logs')]}"\n), qr/^VaultFeedKeyFile \S+: (?:it is not a file|Is a directory)/, 'a folder');

finish();
