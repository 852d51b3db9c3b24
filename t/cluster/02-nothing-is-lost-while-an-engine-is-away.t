# SPDX-License-Identifier: Apache-2.0
# An engine is killed and started again, and one is stopped by SIGSTOP for a while. What was notified meanwhile reaches the pages of the other
# server when it is back: late, not lost.
use strict;
use warnings;
use VaultTest;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $nats = VaultTest::Nats->start('away');
my %servers = map { $_ => cluster_server("away-$_", [$nats]) } qw(a b);
announce(qr/VLT00494/);

sub on { my ($name, $code) = @_; use_server($servers{$name}); return $code->() }
sub notify_on { my ($name, $interest) = @_; return on($name, sub { post('/vault/notify', "interest=$interest")->{status} }) }
sub said { my ($name, $tag) = @_; return on($name, sub { scalar grep { /$tag/ } $servers{$name}->lines }) }

# A page that waits, and that the engine knows of: when the engine has its subscription, the page checks once more.
sub waiting_page
{
    my ($name, $rows) = @_;
    return on($name, sub {
        my $before = status();
        my $page = live_page(["/test/rows?name=$rows&interest=$rows"]);
        my $first = $page->start_poll;
        wait_counter('EngineInterests', $before, 1);
        text_of("/test/add?name=$rows&notify=$rows");
        is(VaultTest::Page::text($page->finish_poll($first)), "1\n", "$rows: the first row");
        my $poll = $page->start_poll;
        wait_waiting(1);
        return ($page, $poll);
    });
}

sub is_told
{
    my ($page, $poll, $why) = @_;
    is(VaultTest::Page::text(on('b', sub { $page->finish_poll($poll) })), "2\n", $why);
    return;
}

my %ups = map { $_ => 1 } qw(a b);
wait_until(sub { said($_, 'VLT00493') >= $ups{$_} }, "server $_ is connected") for qw(a b);

# Killed, and a new one started at the same address.
my ($page, $poll) = waiting_page('b', 'killed');
$nats->stop('KILL');
wait_until(sub { said($_, 'VLT00494') >= 1 }, "server $_ says that its engine is away") for qw(a b);
on('b', sub { text_of('/test/add?name=killed') });
is(notify_on('a', 'killed'), 200, 'a notify while there is no engine');
ok($poll->is_silent, 'it cannot reach the other server');
my ($own, $own_poll) = on('a', sub { my $p = live_page(['/test/rows?name=own&interest=own']); return ($p, $p->start_poll) });
on('a', sub { wait_waiting(1); text_of('/test/add?name=own&notify=own') });
is(VaultTest::Page::text(on('a', sub { $own->finish_poll($own_poll) })), "1\n", 'pages of the same server are told at once');
$nats->again;
is_told($page, $poll, '... and does when the engine is there again');

# A page that comes meanwhile, and one notify afterwards.
($page, $poll) = waiting_page('b', 'after');
on('b', sub { text_of('/test/add?name=after') });
wait_until(sub { said($_, 'VLT00493') >= 2 }, "server $_ is connected again") for qw(a b);
notify_on('a', 'after');
is_told($page, $poll, 'afterwards everything is as before');

# It does not answer, and keeps its connections.
($page, $poll) = waiting_page('b', 'stopped');
kill 'STOP', $nats->pid;
on('b', sub { text_of('/test/add?name=stopped') });
is(notify_on('a', 'stopped'), 200, 'a notify while the engine does not answer');
kill 'CONT', $nats->pid;
is_told($page, $poll, 'the page is told when it does again');
finish();
