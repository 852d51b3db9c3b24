# SPDX-License-Identifier: Apache-2.0
# What only some strategies of VaultClusterStrategy do; 01 to 04 test what all do. Which notifies come that no page waits for, and what the status
# shows of this; broadcast with a routed cluster of engines.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Config;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

# ---------------------------------------------------------------- what comes and is sent

my $nats = VaultTest::Nats->start('strategies');
my %pairs = pairs_of('strategies', [$nats]);
my $count = 300;

sub figures { my ($server) = @_; return on($server, sub { status() }) }
sub grown { my ($name, $before, $after) = @_; return $after->{$name} - $before->{$name} }

# The page of each second server holds one interest. The first server is notified of this one twice, and of each of many others once.
my (%page, %poll, %before);
for my $strategy (strategies()) {
    my ($a, $b) = @{$pairs{$strategy}};
    ($page{$strategy}, $poll{$strategy}) = waiting_page($b, 'held');
    $before{$strategy} = [figures($a), figures($b)];
    on($a, sub { text_of("/test/notify?interest=strange-$_") }) for 1 .. $count;
    ok($poll{$strategy}->is_silent, "$strategy: notifies of other interests wake no page");
    on($b, sub { text_of('/test/add?name=held') });
    notify_on($a, 'held');
    is_told($b, $page{$strategy}, $poll{$strategy}, "2\n", '... and one of its own does');
}

# The engine keeps the order of what one server publishes: what precedes the notify that has told the page has come.
my %rows = (
    subscriptions => ['each is published', $count + 1, 'and none of another interest comes', 0, 0],
    broadcast => ['each is published', $count + 1, 'and each comes', $count, $count],
    # 2 % of those of other interests are expected, for a full filter; this one is almost empty.
    filters => ['only few are published', undef, 'and as many come', 0, $count / 10],
);
for my $strategy (strategies()) {
    my ($sent, $published, $came, $least, $most) = @{$rows{$strategy}};
    my @after = map { figures($_) } @{$pairs{$strategy}};
    my $published_now = grown(NotifiesSent => $before{$strategy}[0], $after[0]);
    my $extraneous = grown(NotifiesExtraneous => $before{$strategy}[1], $after[1]);
    is(grown(NotifiesReceived => $before{$strategy}[1], $after[1]), $extraneous + 1, "$strategy: what came is counted, as extraneous but for one");
    is($published_now, $published // $extraneous + 1, "... $sent");
    ok($extraneous >= $least && $extraneous <= $most, "... $came") or diag("extraneous: $extraneous");
    is($after[0]{ClusterServers}, 2, '... of two servers');
    is($after[0]{Engines}, 1, '... at one engine');
    my $row;
    wait_until(
        sub {
            (undef, $row) = @{on($pairs{$strategy}[0], sub { JSON::PP::decode_json(text_of('/vault/status?cluster')) })->{Servers}};
            $row && $row->{NotifiesExtraneous} == $after[1]{NotifiesExtraneous} && $row->{NotifiesReceived} == $after[1]{NotifiesReceived};
        },
        'the first server hears these figures'
    );
    is("$row->{Strategy} $row->{Compatible}", "$strategy 1", '... which the first server shows of the second one');
}

# ---------------------------------------------------------------- a routed cluster

# Two engines, one for each server.
my @ports = map { VaultTest::Server::free_port() } 1, 2;
my @routed = map {
    VaultTest::Nats->start("routes-$_", config => "cluster { name: c, host: 127.0.0.1, port: $ports[$_], routes: [nats://127.0.0.1:$ports[1 - $_]] }\n")
} 0, 1;
my @servers = map { cluster_server("routes-$_", [$routed[$_]], config => "VaultClusterStrategy broadcast\n") } 0, 1;
wait_checks($_, 3) for @servers;
my ($page, $poll) = waiting_page($servers[1], 'routed');
on($servers[1], sub { text_of('/test/add?name=routed') });
ok($poll->is_silent, 'broadcast: a row that is not notified');
notify_on($servers[0], 'routed');
is_told($servers[1], $page, $poll, "2\n", '... and a notify that crosses two engines');
ok(!said($_, 'VLT00494'), '... and no engine was refused') for @servers;

refuses("VaultClusterStrategy gossip\n", qr/VaultClusterStrategy gossip: subscriptions, filters and broadcast are accepted/, 'another strategy');
use_server($servers[0]);
finish();
