# SPDX-License-Identifier: Apache-2.0
# An engine is killed and started again, and one is stopped by SIGSTOP for a while. What was notified meanwhile reaches the pages of the other
# server when it is back: late, not lost. With each VaultClusterStrategy.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $nats = VaultTest::Nats->start('away');
my %pairs = pairs_of('away', [$nats]);
my @all = map { @$_ } values %pairs;
announce(qr/VLT00494/);

# A page of the second server for each strategy: [page, poll].
sub pages { my ($rows) = @_; return map { $_ => [waiting_page($pairs{$_}[1], $rows)] } strategies() }

sub are_told
{
    my ($why, %pages) = @_;
    is_told($pairs{$_}[1], @{$pages{$_}}, "2\n", "$_: $why") for strategies();
    return;
}

# Killed, and a new one started at the same address.
my %killed = pages('killed');
$nats->stop('KILL');
wait_said($_, 'VLT00494', 1, 'a server says that its engine is away') for @all;
for my $strategy (strategies()) {
    my ($a, $b) = @{$pairs{$strategy}};
    on($b, sub { text_of('/test/add?name=killed') });
    is(notify_on($a, 'killed'), 200, "$strategy: a notify while there is no engine");
    ok($killed{$strategy}[1]->is_silent, '... cannot reach the other server');
    my ($own, $own_poll) = on($a, sub { my $p = live_page(['/test/rows?name=own&interest=own']); return ($p, $p->start_poll) });
    on($a, sub { wait_waiting(1); text_of('/test/add?name=own&notify=own') });
    is_told($a, $own, $own_poll, "1\n", '... and pages of the same server are told at once');
}
$nats->again;
are_told('told when the engine is there again', %killed);

# A page that comes meanwhile, and one notify afterwards.
my %after = pages('after');
on($pairs{$_}[1], sub { text_of('/test/add?name=after') }) for strategies();
wait_said($_, 'VLT00493', 2, 'a server is connected again') for @all;
notify_on($pairs{$_}[0], 'after') for strategies();
are_told('afterwards everything is as before', %after);

# It does not answer, and keeps its connections.
my %stopped = pages('stopped');
kill 'STOP', $nats->pid;
on($pairs{$_}[1], sub { text_of('/test/add?name=stopped') }) for strategies();
is(notify_on($pairs{$_}[0], 'stopped'), 200, "$_: a notify while the engine does not answer") for strategies();
kill 'CONT', $nats->pid;
are_told('told when it does again', %stopped);
finish();
