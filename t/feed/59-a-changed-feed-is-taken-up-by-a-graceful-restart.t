# SPDX-License-Identifier: Apache-2.0
# A graceful restart loads the present code of a feed, and says in one line what has changed. Code that cannot be unloaded is said, too.
use strict;
use warnings;
use File::Find ();
use VaultTest;

plan(skip_all => 'pkg-config is not there') if system('pkg-config --version >/dev/null 2>&1');
my $dir = vars('t_logs') . '/versions';
mkdir $dir or -d $dir or die "$dir: $!\n";
my (%installed, $root);
$root = vars('top_dir') . '/installed';
File::Find::find(sub { $installed{$_} = $File::Find::name if -f }, $root);

sub spew
{
    my ($path, $text) = @_;
    open my $out, '>', $path or die "$path: $!\n";
    print $out $text;
    close $out or die "$path: $!\n";
    return $path;
}
spew("$dir/mod_vault.pc", read_file($installed{'mod_vault.pc'}) =~ s/^prefix=/prefix=$root/mr);

# install(NAME, CHANGE, LINKER'S OPTIONS): build the example with the change, and put it where NAME is, by renaming as install(1) does
sub install
{
    my ($name, $change, $options) = @_;
    my $source = read_file($installed{'lines.c'});
    $change->() for $source;
    spew("$dir/$name.c", $source);
    my $flags = qx(PKG_CONFIG_PATH='$dir' pkg-config --cflags mod_vault);
    chomp $flags;
    my $said = qx(\${CC:-cc} -O0 -fPIC -shared -Wl,--build-id $options $flags -o '$dir/$name.new' '$dir/$name.c' 2>&1);
    is($said, '', "$name is built");
    rename "$dir/$name.new", "$dir/$name.so" or die "$dir/$name.so: $!\n";
    return;
}
sub first  { return }
sub second { s/"line",(\s+line_of)/"text",$1/g or die; return }

my $log = spew("$dir/app.log", "hello\n");
my $config = '';
for my $name (qw(goes stays)) {
    install($name, \&first, $name eq 'stays' ? '-Wl,-z,nodelete' : '');
    $config .= qq(VaultFeed $name "$dir/$name.so" "file=$log"\n);
}
$config .= qq(<Location "/vault/feed">\n    SetHandler vault-feed\n    VaultFeedExpose goes get_new_lines\n    VaultFeedExpose stays get_new_lines\n</Location>\n);
my $server = use_server(VaultTest::Server->start('versions', config => $config));
sub row { return text_of("/vault/feed/$_[0]/get_new_lines") =~ /"(line|text)": ?"hello"/ ? $1 : 'nothing' }
sub said { return grep { /VLT0041[789]/ } error_log_lines() }

is(row($_), 'line', "the first version of the feed that $_") for qw(goes stays);
graceful_restart();
is(scalar(my @none = said()), 0, 'a restart with the same code says nothing');

install('goes', \&second, '');
is(row('goes'), 'line', 'a new file has no effect before a restart');
graceful_restart();
is(row('goes'), 'text', 'a graceful restart takes it up');
my @lines = said();
is(scalar @lines, 1, 'with one line');
like($lines[0], qr{VLT00417: feed goes: \Q$dir\E/goes\.so has changed: build [0-9a-f]{12} before, build [0-9a-f]{12} now$}, '  that says what has changed');
install('goes', \&second, '');
graceful_restart();
is(scalar(@lines = said()), 1, 'the same code in a new file has not changed');

announce(qr{VLT00418: feed stays: \S+/stays\.so has changed \(build [0-9a-f]{12}\), but the code that was loaded before \(build [0-9a-f]{12}\) cannot be unloaded});
install('stays', \&second, '-Wl,-z,nodelete');
graceful_restart();
is(row('stays'), 'line', 'code that cannot be unloaded stays');

spew("$dir/other.so", read_file("$dir/goes.so"));
$server->reconfigure($config =~ s{goes\.so}{other.so}r =~ s/^.*stays.*\n//mgr);
like((said())[-1], qr{VLT00419: feed goes: \Q$dir\E/other\.so \(build [0-9a-f]{12}\) is used in place of \Q$dir\E/goes\.so \(build [0-9a-f]{12}\)$},
    'another path');

finish();
