# SPDX-License-Identifier: Apache-2.0
# Each feed has its figures in every form of the status. What a feed says is checked before it is shown; a feed that does not answer keeps neither the status
# nor anything else from being shown, takes one thread however often it is asked, and is not stopped before it has answered.
use strict;
use warnings;
use Fcntl ();
use JSON::PP ();
use POSIX ();
use VaultTest;
use VaultTest::Server;
use VaultTest::Site;

# The feed with that name, as JSON has it.
sub feed
{
    my ($name, $connection) = @_;
    my $text = $connection ? $connection->request(GET => '/vault/status?json')->response->{body} : text_of('/vault/status?json');
    return (grep { $_->{Name} eq $name } @{JSON::PP::decode_json($text)->{Feeds}})[0];
}

sub spew
{
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return;
}

# Reports of the feed with this journal do not end, until they are released.
sub hold
{
    my ($of) = @_;
    unlink "$of.hold";
    return POSIX::mkfifo("$of.hold", 0666) || die "$of.hold: $!\n";
}

sub release
{
    my ($of) = @_;
    open my $fifo, '>', "$of.hold" or die "$of.hold: $!\n";
    unlink "$of.hold" or die "$of.hold: $!\n";
    return close $fifo;
}

my $journal = vars('t_logs') . '/feed-journal';
my $wanted = {Name => 'tests', Kind => 'test', Error => undef, Fact => 'as it should be', Gauge => -5, Counter => 7, Raw => "a\x{fffd}?Feed1Forged: 1?<b>?c"};
my $reported = feed('tests');
is_deeply($reported, $wanted, 'JSON has what the feed reports');
my @names = map { $_->{Name} } @{status_of_children()->{Feeds}};
is_deeply(\@names, [sort @names], '... the feeds by their names') or diag("@names");

my $auto = get('/vault/status?auto')->{body};
my ($n) = $auto =~ /^Feed(\d+)Name: tests$/m;
utf8::decode($auto);
like($auto, qr/^Feed${n}Kind: test\nFeed${n}Fact: as it should be\nFeed${n}Gauge: -5\nFeed${n}Counter: 7\nFeed${n}Raw: a\x{fffd}\?Feed1Forged: 1\?<b>\?c$/m, '?auto has it');
unlike($auto, qr/^Feed1Forged/m, '... and no line that is forged');
unlike($auto, qr/^Feed${n}Error/m, '... nor an error');

my $html = get('/vault/status')->{body};
like($html, qr{<h2>Feed tests \(test\)</h2>\n<table>\n<tr><th>Fact</th><td>as it should be</td><td>what is &quot;so&quot;</td></tr>\n<tr><th>Gauge</th><td>-5</td><td>what rises &amp; falls</td></tr>\n},
    'HTML has it');
like($html, qr{<td>a\S+\?Feed1Forged: 1\?&lt;b&gt;\?c</td>}, '... and its text is text');

my $metrics = get('/vault/status?metrics')->{body};
like($metrics, qr/^# TYPE vault_feed_test_gauge gauge\n# HELP vault_feed_test_gauge what rises & falls\nvault_feed_test_gauge\{feed="tests"\} -5$/m, 'OpenMetrics has a gauge');
like($metrics, qr/^# TYPE vault_feed_test_counter counter\n# HELP .*\nvault_feed_test_counter_total\{feed="tests"\} 7$/m, '... and a counter');
unlike($metrics, qr/vault_feed_test_(?:fact|raw)/, '... but no facts');
like($metrics, qr/^vault_feed_up\{feed="tests"\} 1$/m, '... and that the feed reports');

# What is no value of its figure is not shown.
my $report = "$journal.report";
my %none = (%$wanted, map { $_ => undef } qw(Fact Gauge Counter Raw));
for my $row (
    ['{"Fact": ["x"], "Gauge": 1}', {%none, Gauge => 1, Error => 'its value of Fact is not valid for this figure'}, 'a list'],
    ['{"Gauge": "7", "Fact": 3}', {%none, Fact => 3, Error => 'its value of Gauge is not valid for this figure'}, 'a text of a gauge'],
    ['{"Gauge": 1.5}', {%none, Error => 'its value of Gauge is not valid for this figure'}, 'half a number'],
    ['{"Counter": -1}', {%none, Error => 'its value of Counter is not valid for this figure'}, 'a counter below 0'],
    ['{"Other": 1, "Counter": null}', \%none, 'a figure that is not declared, and none of one that is'],
    ['{"Gauge": -9223372036854775808, "Counter": 9223372036854775807}', {%none, Gauge => '-9223372036854775808', Counter => '9223372036854775807'}, 'the smallest and the largest number'],
    ['[1]', {%none, Error => 'it has no figures now'}, 'no object'],
    ['no JSON', {%none, Error => 'it has no figures now'}, 'nothing'],
    [JSON::PP::encode_json({Fact => 'x' x 100_000}), {%none, Fact => 'x' x 4096}, 'a long text is cut'],
) {
    my ($text, $shown, $why) = @$row;
    spew($report, $text);
    is_deeply(feed('tests'), $shown, $why);
    my ($up) = get('/vault/status?metrics')->{body} =~ /^vault_feed_up\{feed="tests"\} (\d)$/m;
    is($up, $shown->{Error} ? 0 : 1, '... which a monitoring system is told');
}
unlink $report;
is_deeply(feed('tests'), $wanted, 'and all is well again');

# A report that does not end.
my ($child) = children();
my $connection = connect_in($child);
my $threads = sub { my @all = glob "/proc/$child/task/*"; return scalar @all };
my $before = $threads->();
hold($journal);
my $held = feed('tests', $connection);
like($held->{Error}, qr/^it does not report: it was asked \d+ s ago$/, 'a feed that does not report');
is_deeply($held, {%none, Error => $held->{Error}}, '... has no values');
is($threads->(), $before + 1, '... and holds a thread');
$held = feed('tests', $connection);
like($held->{Error}, qr/^it does not report: /, 'asked again it is the same');
is($threads->(), $before + 1, '... in the same thread');
like($connection->request(GET => '/vault/status?metrics')->response->{body}, qr/^vault_pages \d+\n(?s:.*)^vault_feed_up\{feed="tests"\} 0\n(?s:.*)# EOF\n\z/m, 'OpenMetrics says so, and all else');
like($connection->request(GET => '/vault/status?auto')->response->{body}, qr/^Pages: \d+\n(?s:.*)^Feed${n}Error: it does not report: /m, '... and so does ?auto');
SKIP: {
    skip 'the database feed was not built', 2 unless has_database();
    for my $name (qw(database hasty)) {
        my $other = feed($name, $connection);
        is($other->{Error}, undef, "... the feed $name reports") or diag($other->{Error});
    }
}
my $called = calls_feed('tests', 'echo', {a => 1}, on => $connection);
is_deeply($called->{rows}, [{a => 1}], '... and methods of the feed are called');
release($journal);
wait_until(sub { !feed('tests', $connection)->{Error} }, 'it reports again when it can');
is_deeply(feed('tests', $connection), $wanted, '... what is so then');

# A child that ends waits for a report before it stops the feed. A feed that could not start is not asked.
my $dir = vars('t_logs') . '/reports';
my $object = vars('top_dir') . '/modules/vault_feed_test.so';
my $server = use_server(VaultTest::Server->start('reports', config => <<"END"));
VaultFeed slow "$object" word=hello "journal=$dir/slow" stops=1
VaultFeed broken "$object" word=hello "broken=no luck" "journal=$dir/broken"
END
announce(qr/VLT00021: feed broken cannot start: no luck/);
hold("$dir/broken");
is_deeply(feed('broken'), {%none, Name => 'broken', Error => 'it does not work in the child that answers: no luck'}, 'a feed that could not start says why');
is_deeply(feed('broken'), feed('broken'), '... however often');
ok(!sysopen(my $fifo, "$dir/broken.hold", Fcntl::O_WRONLY() | Fcntl::O_NONBLOCK()), '... and is not asked');
unlink "$dir/broken.hold";
my ($old) = children();
unlink "$dir/slow";
hold("$dir/slow");
like(feed('slow')->{Error}, qr/^it does not report/, 'a report is held');
kill USR1 => $server->pid;
wait_until(sub { my ($new) = children(); $new && $new != $old }, 'a graceful restart');
ok(kill(0 => $old), 'the old child waits for the report');
release("$dir/slow");
wait_until(sub { !kill 0 => $old }, '... and ends');
open my $file, '<', "$dir/slow" or die "$dir/slow: $!\n";
is(join('', grep { / $old$/ } readline $file), "reported $old\nstopped $old\n", '... and stopped the feed after it had reported');
is_deeply(feed('slow'), {%$wanted, Name => 'slow'}, 'the new child has another thread to ask with');
use_server(undef);

finish();
