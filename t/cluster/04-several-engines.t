# SPDX-License-Identifier: Apache-2.0
# Two engines share the interests. Without one of them, the interests of the other one work as before. With each VaultClusterStrategy. A routed
# cluster of NATS is refused, except with broadcast.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my @nats = map { VaultTest::Nats->start("several-$_") } 1, 2;
my %pairs = pairs_of('several', \@nats, turns_engines => 1);
my @names = map { "share$_" } 1 .. 10;

my (%pages, %polls);
for my $strategy (strategies()) {
    my ($a, $b) = @{$pairs{$strategy}};
    on($b, sub {
        for my $name (@names) {
            $pages{$strategy}{$name} = live_page(["/test/rows?name=$name&interest=$name"]);
            $polls{$strategy}{$name} = $pages{$strategy}{$name}->start_poll;
        }
        wait_waiting(10);
    });
}

# A row, of which the other server is notified.
sub notify_all_names
{
    my ($strategy) = @_;
    my ($a, $b) = @{$pairs{$strategy}};
    on($b, sub { text_of("/test/add?name=$_") }) for @names;
    notify_on($a, $_) for @names;
    return;
}

sub all_told
{
    my ($strategy, $row, $why) = @_;
    is_told($pairs{$strategy}[1], $pages{$strategy}{$_}, $polls{$strategy}{$_}, $row, "$strategy, $_: $why") for @names;
    return;
}

for my $strategy (strategies()) {
    my $b = $pairs{$strategy}[1];
    notify_all_names($strategy);
    all_told($strategy, "1\n", 'told by one of two engines');
    $polls{$strategy}{$_} = on($b, sub { $pages{$strategy}{$_}->start_poll }) for @names;
    on($b, sub { wait_waiting(10) });
}

announce(qr/VLT00494/);
$nats[0]->stop('KILL');
for my $strategy (strategies()) {
    wait_said($_, 'VLT00494', 1) for @{$pairs{$strategy}};
    notify_all_names($strategy);
    wait_until(sub { grep { !$polls{$strategy}{$_}->is_silent } @names }, 'pages are told by the engine that is left');
}
$nats[0]->again;
all_told($_, "2\n", 'told, at the latest when both are there again') for strategies();

# A server of a routed cluster.
my @ports = map { VaultTest::Server::free_port() } 1, 2;
my $routed = VaultTest::Nats->start('routed-1', config => "cluster { name: c, host: 127.0.0.1, port: $ports[0], routes: [nats://127.0.0.1:$ports[1]] }\n");
my $other = VaultTest::Nats->start('routed-2', config => "cluster { name: c, host: 127.0.0.1, port: $ports[1], routes: [nats://127.0.0.1:$ports[0]] }\n");
announce(qr/VLT00494/);
my %alone = map { $_ => cluster_server("several-routed-$_", [$routed], config => "VaultClusterStrategy $_\n") } grep { $_ ne 'broadcast' } strategies();
for my $strategy (sort keys %alone) {
    wait_said($alone{$strategy}, 'VLT00494.*routed NATS cluster', 1, 'a routed cluster is refused');
    pass("$strategy: a routed cluster is refused");
    is(on($alone{$strategy}, sub { get('/vault/status?auto')->{status} }), 200, '... and the server works alone');
}
finish();
