# SPDX-License-Identifier: Apache-2.0
# Two engines share the interests. Without one of them, the interests of the other one work as before. A routed cluster of NATS is refused.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my @nats = map { VaultTest::Nats->start("several-$_") } 1, 2;
my %servers = (a => cluster_server('several-a', [@nats]), b => cluster_server('several-b', [reverse @nats]));

wait_said($_, 'VLT00493', 2) for values %servers;

my (%pages, %polls);
for my $name (map { "share$_" } 1 .. 10) {
    on($servers{b}, sub {
        $pages{$name} = live_page(["/test/rows?name=$name&interest=$name"]);
        $polls{$name} = $pages{$name}->start_poll;
    });
}
on($servers{b}, sub { wait_waiting(10) });

sub notify_all_names
{
    my ($row) = @_;
    on($servers{b}, sub { text_of("/test/add?name=$_") }) for keys %pages;
    notify_on($servers{a}, $_) for keys %pages;
    return;
}

notify_all_names();
for my $name (sort keys %pages) {
    is_told($servers{b}, $pages{$name}, $polls{$name}, "1\n", "$name: told by one of two engines");
    $polls{$name} = on($servers{b}, sub { $pages{$name}->start_poll });
}
on($servers{b}, sub { wait_waiting(10) });

announce(qr/VLT00494/);
$nats[0]->stop('KILL');
wait_said($_, 'VLT00494', 1) for values %servers;
notify_all_names();
my %told;
wait_until(sub {
    $told{$_} ||= !$polls{$_}->is_silent for keys %polls;
    return keys(%told) && grep { $_ } values %told;
}, 'pages are told by the engine that is left');
$nats[0]->again;
for my $name (sort keys %pages) {
    is_told($servers{b}, $pages{$name}, $polls{$name}, "2\n", "$name: told, at the latest when both are there again");
}

# A server of a routed cluster.
my @ports = map { VaultTest::Server::free_port() } 1, 2;
my $routed = VaultTest::Nats->start('routed-1', config => "cluster { name: c, host: 127.0.0.1, port: $ports[0], routes: [nats://127.0.0.1:$ports[1]] }\n");
my $other = VaultTest::Nats->start('routed-2', config => "cluster { name: c, host: 127.0.0.1, port: $ports[1], routes: [nats://127.0.0.1:$ports[0]] }\n");
$servers{c} = cluster_server('several-c', [$routed]);
announce(qr/VLT00494/);
wait_until(sub { grep { /VLT00494.*routed NATS cluster/ } $servers{c}->lines }, 'a routed cluster is refused');
pass('a routed cluster is refused');
is(on($servers{c}, sub { get('/vault/status?auto')->{status} }), 200, '... and the server works alone');
finish();
