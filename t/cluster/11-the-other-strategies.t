# SPDX-License-Identifier: Apache-2.0
# VaultClusterStrategy: what 01 to 04 test of subscriptions, for the other strategies. Each has two servers and a namespace of its own, and all
# share an engine, so that their waits overlap.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Config;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my @strategies = qw(broadcast filters);
my $nats = VaultTest::Nats->start('strategies');
my $two = "StartServers 2\nMinSpareThreads 16\nMaxSpareThreads 16\nMaxRequestWorkers 16\n";

sub notify_alls { my ($server) = @_; return on($server, sub { status()->{NotifyAlls} }) }

# A server checks everything once for its connection, and once for each link of another server that it hears.
sub wait_checks
{
    my ($server, $checks) = @_;
    return wait_until(sub { notify_alls($server) >= $checks }, "$checks checks of all pages");
}

my (%a, %b, %page, %poll);
for my $name (@strategies) {
    my $config = "VaultClusterStrategy $name\nVaultClusterNamespace $name\n";
    ($a{$name}, $b{$name}) = map { cluster_server("$name-$_", [$nats], size => $two, config => $config) } qw(a b);
}
wait_checks($_, 2) for values %a, values %b;

for my $name (@strategies) {
    for my $interest ('plain', 'a.*', 'x' x 200) {
        my $rows = "rows-" . length $interest;
        my ($page, $poll) = waiting_page($b{$name}, $rows, $interest);
        on($b{$name}, sub { text_of("/test/add?name=$rows") });
        notify_on($a{$name}, 'another');
        ok($poll->is_silent, "$name: a notify of another interest wakes no page");
        notify_on($a{$name}, $interest);
        is_told($b{$name}, $page, $poll, "2\n", '... and one of its own does');
    }
}

my %extraneous = map { my $server = $b{$_}; $_ => on($server, sub { status()->{NotifiesExtraneous} }) } @strategies;
cmp_ok($extraneous{broadcast}, '>=', 3, 'broadcast: those of another interest came, and are counted');
is($extraneous{filters}, 0, 'filters: they did not come');

# The child with the connection dies, and takes what it knew of the other server along.
for my $name (@strategies) {
    ($page{$name}, $poll{$name}) = waiting_page($b{$name}, 'child');
    my $gateway = gateway_of($a{$name});
    kill 'KILL', $gateway;
    on($b{$name}, sub { text_of('/test/add?name=child') });
    notify_on($a{$name}, 'child');
    is_told($b{$name}, $page{$name}, $poll{$name}, "2\n", "$name: a notify while no child has the connection");
    wait_until(sub { gateway_of($a{$name}) != $gateway }, 'another child has the connection');
}

# The engine is killed, and another one started at the same address.
announce(qr/VLT00494/);
($page{$_}, $poll{$_}) = waiting_page($b{$_}, 'engine') for @strategies;
my %checks = map { $_ => {a => notify_alls($a{$_}), b => notify_alls($b{$_})} } @strategies;
$nats->stop('KILL');
for my $name (@strategies) {
    wait_said($_, 'VLT00494', 1) for $a{$name}, $b{$name};
    on($b{$name}, sub { text_of('/test/add?name=engine') });
    notify_on($a{$name}, 'engine');
    ok($poll{$name}->is_silent, "$name: while there is no engine nothing is told");
}
$nats->again;
for my $name (@strategies) {
    is_told($b{$name}, $page{$name}, $poll{$name}, "2\n", "$name: told when it is there again");
    wait_checks($a{$name}, $checks{$name}{a} + 2);
    wait_checks($b{$name}, $checks{$name}{b} + 2);
}

# A whole server dies, and has not notified what it wrote.
for my $name (@strategies) {
    ($page{$name}, $poll{$name}) = waiting_page($b{$name}, 'server');
    on($b{$name}, sub { text_of('/test/add?name=server') });
    ok($poll{$name}->is_silent, "$name: a row that is not notified");
    on($a{$name}, sub { children(2) });
    kill 'KILL', processes_of($a{$name});
}
for my $name (@strategies) {
    is_told($b{$name}, $page{$name}, $poll{$name}, "2\n", "$name: the pages of the other server check for changes when a server dies");
    $a{$name}->ignore;
}

# Two engines of a routed cluster, one for each server.
my @ports = map { VaultTest::Server::free_port() } 1, 2;
my @routed = map {
    VaultTest::Nats->start("routes-$_", config => "cluster { name: c, host: 127.0.0.1, port: $ports[$_], routes: [nats://127.0.0.1:$ports[1 - $_]] }\n")
} 0, 1;
my @servers = map { cluster_server("routes-$_", [$routed[$_]], config => "VaultClusterStrategy broadcast\n") } 0, 1;
wait_checks($_, 2) for @servers;
my ($page, $poll) = waiting_page($servers[1], 'routed');
on($servers[1], sub { text_of('/test/add?name=routed') });
ok($poll->is_silent, 'broadcast: a row that is not notified');
notify_on($servers[0], 'routed');
is_told($servers[1], $page, $poll, "2\n", '... and a notify that crosses two engines');
ok(!said($_, 'VLT00494'), '... and no engine was refused') for @servers;

refuses("VaultClusterStrategy gossip\n", qr/VaultClusterStrategy gossip: subscriptions, filters and broadcast are accepted/, 'another strategy');
use_server($servers[0]);
finish();
