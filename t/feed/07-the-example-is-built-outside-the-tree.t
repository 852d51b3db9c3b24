# SPDX-License-Identifier: Apache-2.0
# The feed of docs/writing-feeds.md, built as a stranger builds it: from a copy of the installed folder, against the installed
# header. A page follows its file; what is wrong with a feed is said at start; restarts unload it and do no harm.
use strict;
use warnings;
use File::Copy qw(copy);
use File::Find ();
use File::Path qw(remove_tree);
use JSON::PP ();
use VaultTest;
use VaultTest::Config;
use VaultTest::Site;

my $top = vars('t_logs') . '/example';
remove_tree($top);
mkdir $top or die "$top: $!\n";
my %installed;
File::Find::find(sub { $installed{$_} = $File::Find::name if -f }, vars('top_dir') . '/installed');
$installed{Makefile} = $installed{'lines.c'} =~ s{[^/]+$}{Makefile}r;    # there are more examples than this
plan(skip_all => 'pkg-config is not there') if system('pkg-config --version >/dev/null 2>&1');

sub spew
{
    my ($path, $text, $mode) = @_;
    open my $out, $mode || '>', $path or die "$path: $!\n";
    print $out $text;
    close $out or die "$path: $!\n";
    return $path;
}

# ---------------------------------------------------------------- building

# What was staged knows where it will be; here it is used where it is.
my $root = vars('top_dir') . '/installed';
my $pc = read_file($installed{'mod_vault.pc'});
$pc =~ s/^prefix=/prefix=$root/m or die "no prefix in mod_vault.pc\n";
spew("$top/mod_vault.pc", $pc);
$ENV{PKG_CONFIG_PATH} = $top;

# Build a copy of the example, changed; the path of the shared object and what the tools said.
sub build
{
    my ($name, $change, $command) = @_;
    my $dir = "$top/$name";
    mkdir $dir or die "$dir: $!\n";
    copy($installed{Makefile}, "$dir/Makefile") or die "$dir/Makefile: $!\n";
    my $source = read_file($installed{'lines.c'});
    $change->() for $change ? $source : ();
    spew("$dir/lines.c", $source);
    delete local @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};    # of the make that runs the tests
    my $said = qx(cd '$dir' && { $command; } 2>&1);
    my ($so) = grep { -f } "$dir/vault_feed_lines.so", "$dir/.libs/vault_feed_lines.so";
    return ($so, $said);
}

my $make = 'make -s CC="${CC:-cc}" CFLAGS="-O1 -g -Wall -Wextra -Werror"';
my ($so, $said) = build('make', undef, $make);
ok($so, 'the example is built by make') or diag($said);
is($said, '', '... without a warning, as strict as the compiler can be told');
SKIP: {
    skip 'there is no apxs', 1 unless $ENV{APXS} && -x $ENV{APXS};
    my ($by_apxs, $words) = build('apxs', undef, qq("$ENV{APXS}" -c -o vault_feed_lines.la \$(pkg-config --cflags mod_vault) lines.c));
    ok($by_apxs, 'and by apxs') or diag($words);
    accepts(qq(VaultFeed lines "$by_apxs" file=x\n), '... which httpd takes as well');
}
SKIP: {
    skip 'there is no C++ compiler', 1 if system('c++ --version >/dev/null 2>&1');
    spew("$top/feed.cc", qq(#include <mod_vault/vault.h>\nconst vault_feed_t vault_feed = {};\n));
    is(qx(c++ -fvisibility=hidden -fPIC -shared -o "$top/cc.so" \$(pkg-config --cflags mod_vault) "$top/feed.cc" 2>&1), '', 'the header is C++ as well');
    refuses(qq(VaultFeed lines "$top/cc.so"\n), 'it was built for ABI 0', '... and a feed in it is found');
}

# ---------------------------------------------------------------- what is wrong is said at start
my $feed = qq(VaultFeed lines "$so");
accepts("$feed file=x\n", 'a file that is not there yet');
refuses("$feed\n", 'VaultFeed lines: the parameter "file" is missing: the path of a text file that grows', 'no file');
refuses("$feed file=\n", qr/^VaultFeed lines: file=: a path of 1 to 194 bytes is accepted$/, 'an empty file');
refuses("$feed file=/" . 'x' x 194 . "\n", qr/^VaultFeed lines: file=\S+: a path of 1 to 194 bytes is accepted$/, 'a path too long for an interest');
refuses("$feed file=x pause=0\n", qr/^VaultFeed lines: pause=0: a whole number from 1 to 3600 is accepted$/, 'no pause');
refuses("$feed file=x pause=1s\n", qr/^VaultFeed lines: pause=1s: a whole number/, 'a pause with a unit');
refuses("$feed file=x folder=y\n", qr/^VaultFeed lines: folder=y: there is no such parameter; these are accepted: file, pause$/, 'a parameter that there is not');

for my $row (
    ['abi', sub { s/\.abi = VAULT_FEED_ABI/.abi = VAULT_FEED_ABI + 1/ or die }, qr/: it was built for ABI \d+, this server has ABI \d+; build it against/,
        'another version of the interface'],
    ['hidden', sub { s/^const vault_feed_t vault_feed = /const vault_feed_t my_feed = /m or die }, qr/: it is no feed: it exports no "vault_feed"$/, 'no descriptor'],
    ['undefined', sub { s/apr_pool_clear\(pool\);/void nowhere(void); nowhere();/ or die }, qr/: it cannot be loaded: .*undefined symbol: nowhere$/, 'a function that is nowhere'],
    ['figure', sub { s/"Size", /"size", / or die }, qr/: its figure "size" is not named as a figure may be: an upper-case letter, then up to 39 letters and digits; not/,
        'a figure with another name'],
    ['half', sub { s/\.open = open_lines,// or die }, qr/: its descriptor is not complete$/, 'no open'],
) {
    my ($name, $change, $sentence, $why) = @$row;
    my ($wrong, $words) = build($name, $change, 'make -s');
    ok($wrong, "$why: it can be built") or diag($words);
    refuses(qq(VaultFeed lines "$wrong" file=x\n), $sentence, '... and is refused') if $wrong;
}

# ---------------------------------------------------------------- a page follows the file
my $file = spew("$top/app.log", "one\ntwo\nthree\n");
my $site = <<"END";
SSIErrorMsg "[ssi error]"
AddType text/html .shtml
<Directory "@{[vars('documentroot')]}/feed">
    Options +Includes
    AddOutputFilter INCLUDES .shtml
    VaultLongPoll On
</Directory>
END
my $config = qq($site$feed "file=$file"\n);
# One that was built before feeds reported, and one that says that what is a gauge elsewhere only grows.
my %others = (
    older => sub { s/\.size = sizeof\(vault_feed_t\)/.size = __builtin_offsetof(vault_feed_t, figures)/ or die },
    other => sub { s/VAULT_FIGURE_GAUGE/VAULT_FIGURE_COUNTER/ or die },
);
for my $name (sort keys %others) {
    my ($object, $words) = build($name, $others{$name}, 'make -s');
    ok($object, "another feed: $name") or diag($words);
    $config .= qq(VaultFeed $name "$object" file=$top/nothing.log\n);
}
my $server = use_server(VaultTest::Server->start('example', config => $config, without_cgid => 1));

# What it reports. Its watcher looks when it begins.
my $feeds = wait_until(
    sub {
        my %all = map { $_->{Name} => $_ } @{status_of_children()->{Feeds}};
        defined $all{lines}{Size} ? \%all : undef;
    },
    'the example reports'
);
is_deeply($feeds->{lines}, {Name => 'lines', Kind => 'lines', Error => undef, File => $file, Size => 14}, 'the status shows what the example reports');
is_deeply($feeds->{older}, {Name => 'older', Kind => 'lines', Error => undef}, '... and a feed that was built before there were figures');
is_deeply($feeds->{other}, {Name => 'other', Kind => 'lines', Error => undef, File => "$top/nothing.log", Size => undef}, '... and one whose figure has no value');
my $size = sub { return join '', grep { /vault_feed_lines_size/ && !/HELP/ } split /(?<=\n)/, get('/vault/status?metrics')->{body} };
is($size->(), qq(# TYPE vault_feed_lines_size gauge\nvault_feed_lines_size{feed="lines"} 14\n), 'a monitoring system is told of the value that there is');
spew("$top/nothing.log", "x\n");
wait_until(sub { (grep { $_->{Name} eq 'other' } @{status_of_children()->{Feeds}})[0]{Size} }, 'the other figure has a value, too');
is($size->(), qq(# TYPE vault_feed_lines_size gauge\nvault_feed_lines_size{feed="lines"} 14\n), '... and not of two kinds of one metric');
site_file('/feed/line.html', '{{#rows}}{{line}}|{{/rows}}');
my $method = site_file('/feed/lines-new.shtml', '<!--#feed name="lines" method="get_new_lines" limit="2" template="line.html" -->');
live_shtml('/feed/lines.shtml', $method, "<p><!--#include virtual=\"$method\" --></p>\n");
my $page = open_page('/feed/lines.shtml');
like($page->html, qr{<p>two\|three\|</p>}, 'a view shows the last lines, as many as it asked for');

# The lines that this page gets from this poll on, up to the last one named.
sub lines_up_to
{
    my ($last, $poll) = @_;
    my $said = '';
    while (1) {
        my $answer = $page->finish_poll($poll || $page->start_poll);
        die "$answer->{status} $answer->{body}\n" unless $answer->{status} =~ /^20[04]$/;
        $said .= VaultTest::Page::text($answer);
        return $said if $said =~ /\Q$last\E\|$/;
        $poll = undef;
    }
}

# The same of a page that waits while the code runs.
sub lines_until
{
    my ($last, $code) = @_;
    my $poll = $page->start_poll;
    wait_waiting(1);
    $code->();
    return lines_up_to($last, $poll);
}

is(lines_until('four', sub { spew($file, "four\n", '>>') }), 'four|', 'a line that is added appears');
is(lines_until('five', sub {
    my $before = status();
    spew($file, 'fi', '>>');
    wait_counter(Notifies => $before, 1);
    spew($file, "ve\n", '>>');
}), 'five|', 'a line comes when it is whole');
is(lines_until('six', sub { spew("$file.new", "six\n"); rename "$file.new", $file or die }), 'six|', 'a file that replaces the old one is new from its beginning');
is(lines_until('7', sub { spew($file, "7\n") }), '7|', 'so is one that was cut');
is(lines_until("caf\x{3f}\x{3f} \x{3f}", sub { spew($file, "caf\xc3\xa9 \xff\n", '>>') }), 'caf?? ?|', 'bytes that are no UTF-8 do no harm');
my $many = join '', map { sprintf "line %05d %s\n", $_, 'x' x 80 } 1 .. 3000;
is(lines_until('end', sub { spew($file, "${many}end\n", '>>') }), $many =~ s/\n/|/gr . 'end|', 'more than a call reads comes in parts, each line once');
is(lines_until('z', sub { spew($file, 'y' x 150_000 . "\nz\n", '>>') }) =~ tr/y//, 150_000, 'nor is an endless line lost');

# A view without the file says so and is not kept; the page that is open waits and goes on.
announce(qr{VLT00011}, qr{VLT00040: .*the file \S+ cannot be read: No such file});
my $poll = $page->start_poll;
wait_waiting(1);
rename $file, "$file.away" or die;
like(text_of('/feed/lines.shtml'), qr/\[ssi error\]/, 'a file that is gone: a view says so');
spew("$file.away", "back\n", '>>');
rename "$file.away", $file or die;
is(lines_up_to('back', $poll), 'back|', '... and when it is back, a page that was open has missed nothing');

announce(qr{VLT00040: .*one argument is accepted: limit, a whole number from 1 to 1000});
for my $wrong ('limit="0"', 'limit="x"', 'limit="1001"', 'table="x"', 'limit="1" table="x"') {
    site_file('/feed/lines-wrong.shtml', qq(<!--#feed name="lines" method="get_new_lines" $wrong -->));
    is(text_of('/feed/lines-wrong.shtml'), '[ssi error]', "$wrong is refused");
}

# Callers in Lua and C say numbers as numbers.
my $called = calls_feed('lines', 'get_new_lines', {limit => 1});
is(scalar @{$called->{rows}}, 1, 'a limit that is a number');
is(calls_feed('lines', 'get_new_lines', {limit => $_})->{status}, 22, 'a limit that is none is refused') for 0, 1001, -1, 1.5, undef, [1], {x => 1}, JSON::PP::true();

# ---------------------------------------------------------------- signals, and restarts with the feed and without

# Threads of a child that would take a signal which is meant for httpd.
sub takes_sigterm
{
    my ($pid) = @_;
    return grep { read_file("$_/status") =~ /^SigBlk:\s*[0-9a-f]*?([0-9a-f]{4})$/m && !(hex($1) & 1 << 14) } glob "/proc/$pid/task/*";
}
wait_until(sub { my ($pid) = children(); join(' ', takes_sigterm($pid)) eq "/proc/$pid/task/$pid" }, 'a signal to a child is for httpd: no other thread takes it');
pass('no thread of the feed takes signals');

for my $round (1 .. 3) {
    $server->reconfigure($config);
    is(lines_until("round $round", sub { spew($file, "round $round\n", '>>') }), "round $round|", "restart $round: the page goes on");
}
for my $round (1 .. 3) {
    $server->reconfigure($site);
    is(text_of('/feed/lines-new.shtml'), '[ssi error]', "without the feed, $round");
    spew($file, "between $round\n", '>>');
    $server->reconfigure($config);
    spew($file, "with it, $round\n", '>>');
    is(lines_up_to("with it, $round"), "between $round|with it, $round|", "... and with it again: the page has missed nothing");
}
announce(qr/VLT00040: .*there is no feed "lines"/);
accepts("$feed file=x\n", 'a configuration check opens and closes it');
use_server();
finish();
