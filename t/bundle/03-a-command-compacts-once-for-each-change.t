# SPDX-License-Identifier: Apache-2.0
# VaultBundleFilter: one request of two children runs the command, the others wait for it without a thread; a command that fails, hangs or dies
# with its child leaves the joined files, and says so once.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

my $dir = vars('t_logs') . '/tool';
mkdir $dir or -d $dir or die "$dir: $!\n";
unlink glob "$dir/*";

# The command adds a line to the file "runs", waits as long as there is a file "hold", and then joins lines.
sub put
{
    my ($name, $text) = @_;
    open my $file, '>', "$dir/$name" or die "$dir/$name: $!\n";
    print $file $text // '';
    close $file or die "$dir/$name: $!\n";
    return "$dir/$name";
}
sub drop { unlink "$dir/$_[0]" or die "$dir/$_[0]: $!\n"; return }
sub runs { open my $file, '<', "$dir/runs" or return; chomp(my @pids = readline $file); return @pids }
sub count_runs { my @pids = runs(); return scalar @pids }
chmod 0755, put('tool', <<"END");
#!/bin/sh
echo \$\$ >>'$dir/runs'
while [ -e '$dir/hold' ]; do sleep 0.02; done
if [ -e '$dir/says' ]; then cat '$dir/says' >&2; fi
if [ -e '$dir/fails' ]; then exit 3; fi
exec tr -d '\\n'
END

site_file("/tool/$_.css", "$_ {\ncolor: red }\n") for qw(a b);
site_file('/tool/page.shtml', '<!--#vault bundle="/tool/site.css" -->');
my $config = <<"END";
VaultBundle /tool/site.css tool/a.css tool/b.css
VaultBundleFilter css "$dir/tool 'a word' \$HOME"
VaultBundleTimeout 60
<Directory "@{[vars('documentroot')]}">
    Require all granted
    Options +Includes
    AddOutputFilter INCLUDES .shtml
</Directory>
<VirtualHost *>
    ServerName localhost
    DocumentRoot "@{[vars('documentroot')]}"
</VirtualHost>
<VirtualHost *>
    ServerName hasty.example
    DocumentRoot "@{[vars('documentroot')]}"
    VaultBundle /tool/hasty.css tool/a.css
    VaultBundleTimeout 1
</VirtualHost>
END
my $server = VaultTest::Server->start('bundle-tool', config => $config,
    size => "StartServers 2\nServerLimit 4\nThreadLimit 16\nThreadsPerChild 16\nMinSpareThreads 1\nMaxSpareThreads 100\nMaxRequestWorkers 32\n");
use_server($server);

# asks(N): as many requests, in turn in each child
sub asks
{
    my ($n, $path) = @_;
    my @children = children(2);
    return map {
        my $connection = connect_in($children[$_ % @children]);
        $connection->request(GET => $path);
        $connection
    } 0 .. $n - 1;
}

# ---------------------------------------------------------------- once, while six ask for it
is(scalar(my @children = children(2)), 2, 'two children');
my $url = text_of('/tool/page.shtml');
is(count_runs(), 0, 'a page that links to a bundle does not run the command');
put('hold');
my @asked = asks(6, $url);
wait_until(sub { count_runs() }, 'the command runs');
wait_waiting(5);
is(status()->{WaitingInThreads}, have_parking() ? 0 : 5, 'the other requests wait without a thread');
drop('hold');
my $begin = time;
my @answers = map { $_->response } @asked;
cmp_ok(time - $begin, '<', 40, 'they are told when it is made: otherwise they would wait for 58 s');
is(scalar(grep { $_->{status} == 200 && $_->{body} eq 'a {color: red }b {color: red }' } @answers), 6, 'all have what it makes');
is(scalar(grep { $_->{headers}{'cache-control'} eq 'max-age=31536000, immutable' } @answers), 6, '  for a year');
is(count_runs(), 1, '  by one run');
is(text_of($url), 'a {color: red }b {color: red }', 'a later request has it as well');
is(count_runs(), 1, '  without a run');

# ---------------------------------------------------------------- a change
site_file('/tool/b.css', "c {\n}\n");
isnt(text_of('/tool/page.shtml'), $url, 'a change makes another URL');
is(get($url)->{headers}{'cache-control'}, 'max-age=60', '  the old one is good for a minute');
is(text_of('/tool/page.shtml') =~ s/.*//r . text_of('/tool/site.css'), 'a {color: red }c {}', '  and the command has run');
is(count_runs(), 2, '  once');

# ---------------------------------------------------------------- it says something, and it fails
announce(qr{VLT00413: VaultBundle /tool/site.css: "\Q$dir\E/tool 'a word' \$HOME" says: a warning});
put('says', "a warning\n");
site_file('/tool/b.css', "d {\n}\n");
is(text_of('/tool/site.css'), 'a {color: red }d {}', 'a command that warns has succeeded');
announce(qr{VLT00412: VaultBundle /tool/site.css: "[^"]*" has failed: it ended with the exit code 3; the files are sent as they are; it says: line 3});
put('says', "line 3: no brace\n");
put('fails');
site_file('/tool/b.css', "e {\n}\n");
$url = text_of('/tool/page.shtml');
my $failed = get($url);
is("$failed->{status} $failed->{body}", "200 a {\ncolor: red }\n\ne {\n}\n", 'one that fails leaves the joined files');
is($failed->{headers}{'cache-control'}, 'max-age=60', '  for a minute');
is(get($url)->{body}, $failed->{body}, '  for all');
is(count_runs(), 4, '  by one run');
is(scalar(grep { /VLT00412/ } error_log_lines()), 1, '  and one line in the log');
drop('fails');
drop('says');
site_file('/tool/b.css', "f {\n}\n");
is(text_of('/tool/site.css'), 'a {color: red }f {}', 'it runs again when a file changes');

# ---------------------------------------------------------------- it hangs
announce(qr{VLT00412: VaultBundle /tool/hasty.css: "[^"]*" has failed: it was killed after VaultBundleTimeout 1; the files are sent as they are$});
put('hold');
is(text_of('/tool/hasty.css', headers => {Host => 'hasty.example'}), "a {\ncolor: red }\n", 'one that hangs leaves the joined files');
my $tool = (runs())[-1];
ok(!kill(0, $tool), '  and is killed');
is(text_of('/tool/site.css', headers => {Host => 'hasty.example'}), 'a {color: red }f {}', 'a virtual host has the bundles of the main server');
is(count_runs(), 6, '  as they were made there');
is(get('/tool/hasty.css')->{status}, 404, 'the main server does not have those of a virtual host');

# ---------------------------------------------------------------- its child dies
site_file('/tool/b.css', "g {\n}\n");
my ($first, $second) = asks(2, '/tool/site.css');
wait_until(sub { count_runs() == 7 }, 'the command runs');
wait_waiting(1);
my ($leader) = map { open my $file, '<', "/proc/$_/status" or die "/proc/$_: $!\n"; map { /^PPid:\s+(\d+)/ ? $1 : () } readline $file } (runs())[-1];
announce(qr{VLT00004});
tolerate(qr{exit signal Killed|VLT00376});
my $before = (runs())[-1];
kill KILL => $leader;
wait_until(sub { count_runs() == 8 }, 'the child that waited runs it');
drop('hold');
my @left = grep { defined } map { eval { $_->response->{body} } } $first, $second;
is("@left", 'a {color: red }g {}', '  and has what it makes');
wait_until(sub { !kill 0, $before }, 'the command of the child that was killed ends');

finish();
