# SPDX-License-Identifier: Apache-2.0
# An engine is killed and started again, and one is stopped by SIGSTOP for a while. What was notified meanwhile reaches the pages of the other
# server when it is back: late, not lost.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $nats = VaultTest::Nats->start('away');
my %servers = map { $_ => cluster_server("away-$_", [$nats]) } qw(a b);
announce(qr/VLT00494/);

wait_said($_, 'VLT00493', 1) for values %servers;

# Killed, and a new one started at the same address.
my ($page, $poll) = waiting_page($servers{b}, 'killed');
$nats->stop('KILL');
wait_said($_, 'VLT00494', 1, 'a server says that its engine is away') for values %servers;
on($servers{b}, sub { text_of('/test/add?name=killed') });
is(notify_on($servers{a}, 'killed'), 200, 'a notify while there is no engine');
ok($poll->is_silent, 'it cannot reach the other server');
my ($own, $own_poll) = on($servers{a}, sub { my $p = live_page(['/test/rows?name=own&interest=own']); return ($p, $p->start_poll) });
on($servers{a}, sub { wait_waiting(1); text_of('/test/add?name=own&notify=own') });
is_told($servers{a}, $own, $own_poll, "1\n", 'pages of the same server are told at once');
$nats->again;
is_told($servers{b}, $page, $poll, "2\n", '... and does when the engine is there again');

# A page that comes meanwhile, and one notify afterwards.
($page, $poll) = waiting_page($servers{b}, 'after');
on($servers{b}, sub { text_of('/test/add?name=after') });
wait_said($_, 'VLT00493', 2, 'a server is connected again') for values %servers;
notify_on($servers{a}, 'after');
is_told($servers{b}, $page, $poll, "2\n", 'afterwards everything is as before');

# It does not answer, and keeps its connections.
($page, $poll) = waiting_page($servers{b}, 'stopped');
kill 'STOP', $nats->pid;
on($servers{b}, sub { text_of('/test/add?name=stopped') });
is(notify_on($servers{a}, 'stopped'), 200, 'a notify while the engine does not answer');
kill 'CONT', $nats->pid;
is_told($servers{b}, $page, $poll, "2\n", 'the page is told when it does again');
finish();
