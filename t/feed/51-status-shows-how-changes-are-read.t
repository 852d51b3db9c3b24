# SPDX-License-Identifier: Apache-2.0
# The status has of each database feed who its tailer is, up to where it has read, how old the ring is, and what pages asked the database for all the
# same: the same in each child. It says so when there is no tailer, when the tailer is killed, and when the database is away, for which it does not wait.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Vaultctl;
use VaultTest::Wall;

my $path = wall_page('reports', 1, 'append="list"');
my $TWO = "StartServers 2\nServerLimit 2\nThreadLimit 8\nThreadsPerChild 8\nMinSpareThreads 16\nMaxSpareThreads 16\nMaxRequestWorkers 16\n";
my @WHYS = qw(SqlFirstView SqlUnwatched SqlNotInRing SqlOtherRing SqlOverwritten SqlTooLarge SqlLinks SqlTooMany SqlQuery);

# The feed, as a child has it.
sub report
{
    my ($name, $child) = @_;
    my $text = $child ? connect_in($child)->request(GET => '/vault/status?json')->response->{body} : text_of('/vault/status?json');
    my ($feed) = grep { $_->{Name} eq $name } @{JSON::PP::decode_json($text)->{Feeds}};
    return $feed;
}

sub state_is
{
    my ($state, $why) = @_;
    return ok(wait_until(sub { report('reports')->{State} eq $state }, "the state \"$state\""), $why);
}

# What has grown since, of the reads.
sub reads
{
    my ($before) = @_;
    my $now = report('reports');
    return join ' ', map { my $n = $now->{$_} - $before->{$_}; $n ? "$_+$n" : () } qw(RingReads SqlReads), @WHYS;
}

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    wall_tables($db, 'reports');
    $db->make('idle', 'CREATE TABLE t(id {integer} PRIMARY KEY);');
    my $others = $db->feed('idle', 'idle') . $db->feed('blind', 'reports', 'poll=0')
        . $db->make('chat')->feed('chat', 'chat', 'timeout=20', vars('top_dir') . '/modules/vault_feed_messages.so');
    my $began = time;
    use_server(wall_server($db, 'reports', 'poll=50 ring=64 timeout=2', size => $TWO, more => $others));
    my @children = children(2);

    # The tailer, told alike by both.
    state_is('the tailer reads the changes', "$driver: a feed with a tailer");
    my ($one, $two) = map { report('reports', $_) } @children;
    my @ages = map { delete $_->{RingOldestSeconds} // 0 } $one, $two;
    is_deeply($one, $two, '... which both children report');
    cmp_ok($ages[0], '<=', $ages[1], '... one after the other');
    ok((grep { $_ == $one->{TailerPid} } @children), '... and which is one of them');
    is($one->{TailerReads}, 1, '... and reads');
    is($one->{RingBytes}, 65536, '... into a ring of that size');
    like($one->{Position}, qr/^\d[\d:;.,]*$/, '... up to a position');
    my ($unwatched, $blind);
    wait_until(sub { ($unwatched = report('idle'))->{State} eq 'no table is watched' }, 'a feed without a watched table says so');
    is($unwatched->{Position}, undef, '... and has no position');
    ok((grep { $_ == $unwatched->{TailerPid} } @children), '... but a tailer, which would find one');
    $blind = report('blind');
    is_deeply([@$blind{qw(State TailerPid TailerReads Position)}], ['there is no tailer: poll=0', 0, 0, undef], 'one with poll=0');

    # The messages feed has a tailer, too, and nothing that pages read from its ring.
    my $chat;
    wait_until(sub { ($chat = report('chat'))->{State} eq 'the tailer reads the changes' }, 'a messages feed with a tailer');
    is_deeply([sort keys %$chat], [sort qw(Name Kind Error State TailerPid TailerReads Position RingBytes RingOldestSeconds)], '... which reports its log');
    ok((grep { $_ == $chat->{TailerPid} } @children), '... and the child that reads it');

    # What pages read: a first view from the database, what comes from the ring.
    my $before = report('reports');
    my $page = open_page($path);
    is(reads($before), 'SqlReads+1 SqlFirstView+1', "$driver: a first view asks the database");
    my $poll = $page->start_poll;
    wait_waiting(1);
    $before = report('reports');
    $db->does('reports', q{INSERT INTO posts VALUES(1,1,'hello')});
    my $told = VaultTest::Page::text($page->finish_poll($poll));
    like($told, qr/\+1:hello;/, '... a page that waits is told');
    is(reads($before), 'RingReads+1', '... from the ring');
    my $after = report('reports');
    isnt($after->{Position}, $before->{Position}, '... the position has moved');
    ok(defined $after->{RingOldestSeconds}, '... and the ring has something');
    cmp_ok($after->{RingOldestSeconds}, '<=', time - $began + 1, '... of the time since the server was started');

    # In words, and for Prometheus.
    my $said = vaultctl('status');
    is($said->{code}, 0, 'vaultctl status') or diag($said->{err});
    my ($block) = $said->{out} =~ /^Feed reports \(database\)\n((?:\S.*\n)*)/m;
    like($block // '', qr/^State +the tailer reads the changes\nTailerPid +$one->{TailerPid}\n(?s:.*)^SqlFirstView +\d+\n/m, '... has it in words') or diag($said->{out});
    my $metrics = get('/vault/status?metrics')->{body};
    like($metrics, qr/^vault_feed_database_tailer_reads\{feed="blind"\} 0\nvault_feed_database_tailer_reads\{feed="idle"\} 0\nvault_feed_database_tailer_reads\{feed="reports"\} 1$/m,
        'OpenMetrics has one family of all feeds');
    is(() = $metrics =~ /^# TYPE vault_feed_database_ring_reads counter$/mg, 1, '... declared once');

    # The tailer is killed: the other child is, or a new one.
    my $killed = report('reports')->{TailerPid};
    announce(qr/VLT00004:/);
    kill KILL => $killed;
    my $next = wait_until(sub { my $r = report('reports'); $r && $r->{TailerPid} && $r->{TailerPid} != $killed && $r->{TailerReads} && $r }, 'another tailer');
    ok((grep { $_ == $next->{TailerPid} } children()), "$driver: after the tailer was killed another child is");
    cmp_ok($next->{SqlReads}, '>=', $after->{SqlReads}, '... and what was counted stays');

    # The database is away.
    if ($db->is_server) {
        announce(qr/VLT00020: feed: the database "reports" cannot be/);
        tolerate(qr/VLT00020: feed: the database "(?:idle|chat)" cannot be/);
        $db->stop;
        state_is('the tailer cannot read the database', "$driver: the database is stopped");
        is(report('reports')->{TailerReads}, 0, '... which a monitoring system is told');
        $db->start;
        state_is('the tailer reads the changes', '... and is there again');
        wait_until(sub { open_page($path)->{id} }, 'pages are there as well');
    }
    use_server(undef);
}
finish();
