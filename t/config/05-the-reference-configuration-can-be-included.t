# SPDX-License-Identifier: Apache-2.0
# conf/vault.conf, as it is installed, goes into an ordinary configuration without a word, and says the defaults.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;

# It loads the module from where it will be installed; here it is loaded already, and this is what the line is for.
my $conf = vars('top_dir') . '/vault.conf';
accepts(qq(Include "$conf"\n), 'vault.conf on a minimal configuration');
accepts(qq(Include "$conf"\nVaultLongPoll On\nVaultSharedMemory 128M\n), 'what comes after it wins');

# Each line that is commented out is right when it is not, but for those that need a file, a folder, a program or a module.
open my $file, '<', $conf or die "$conf: $!\n";
my $text = join '', readline $file;
(my $all = $text) =~ s/^( *)#(Vault(?!Feed|CacheRoot |CacheSocache|PageStore|Bundle|Cluster\w)\w+ .*)$/$1$2/mg;
isnt($all, $text, 'some directives are commented out');
my $copy = vars('t_logs') . '/vault-all.conf';
open my $out, '>', $copy or die "$copy: $!\n";
print $out $all;
close $out;
accepts(qq(Include "$copy"\n), 'and right when they are not');

# A server runs with it, with the sizes that it names. The tests' own Alias for the client comes first.
announce(qr{AH00671: The Alias directive in \S+/vault\.conf});
use_server(VaultTest::Server->start('reference', config => qq(Include "$conf"\n)));
my $status = status();
is($status->{PagesMax}, ($text =~ /^VaultMaxPages (\d+)/m)[0], 'a server has as many pages as it says');
is($status->{InterestsMax}, ($text =~ /^VaultMaxInterests (\d+)/m)[0], '... and interests');
is(get('/vault/poll?page=x&seq=0')->{status}, 410, 'polls are taken');
is(post('/vault/notify', 'interest=x', vhost => undef)->{status}, 200, 'what the site configures beside it stays');
use_server();

finish();
