# SPDX-License-Identifier: Apache-2.0
# The child with the connection is killed: another one takes over. A whole server is killed: it may have written something and not have
# notified it, so the pages of the other server check for changes.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $nats = VaultTest::Nats->start('deaths');
my $two = "StartServers 2\nMinSpareThreads 16\nMaxSpareThreads 16\nMaxRequestWorkers 16\n";
my %servers = map { $_ => cluster_server("deaths-$_", [$nats], size => $two) } qw(a b);

wait_said($_, 'VLT00493', 1) for values %servers;

# The child of the server that notifies.
my ($page, $poll) = waiting_page($servers{b}, 'sender');
my $gateway = gateway_of($servers{a});
kill 'KILL', $gateway;
on($servers{b}, sub { text_of('/test/add?name=sender') });
notify_on($servers{a}, 'sender');
is_told($servers{b}, $page, $poll, "2\n", 'a notify while no child has the connection reaches the other server');
wait_until(sub { gateway_of($servers{a}) != $gateway }, 'another child has the connection');
pass('another child has the connection');

# The whole server: no process of it is left, and nothing was notified.
($page, $poll) = waiting_page($servers{b}, 'server');
on($servers{b}, sub { text_of('/test/add?name=server') });
ok($poll->is_silent, 'a row that is not notified');
kill 'KILL', processes_of($servers{a});
is_told($servers{b}, $page, $poll, "2\n", 'the pages of the other server check for changes when a server dies');
is(scalar(said($servers{b}, 'VLT00498')), 1, '... and the log says why');
$servers{a}->ignore;
use_server($servers{b});
finish();
