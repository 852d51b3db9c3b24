# SPDX-License-Identifier: Apache-2.0
# The child with the connection is killed: another one takes over. A whole server is killed: it may have written something and not have
# notified it, so the pages of the other server check for changes. So they do when a server comes back, or another in its place, that was silent
# for so long that the others had forgotten it. With each VaultClusterStrategy.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $nats = VaultTest::Nats->start('deaths');
my $two = "StartServers 2\nMinSpareThreads 16\nMaxSpareThreads 16\nMaxRequestWorkers 16\n";
my %pairs = pairs_of('deaths', [$nats], size => $two);
my (%a, %b, %page, %poll, %checks);
($a{$_}, $b{$_}) = @{$pairs{$_}} for strategies();

# A page of the second server, and a row that it does not know of.
sub begin
{
    my ($name, $rows) = @_;
    ($page{$name}, $poll{$name}) = waiting_page($b{$name}, $rows);
    on($b{$name}, sub { text_of("/test/add?name=$rows") });
    ok($poll{$name}->is_silent, "$name: a row that is not notified");
    return;
}

sub is_told_of { my ($name, $why) = @_; return is_told($b{$name}, $page{$name}, $poll{$name}, "2\n", $why) }

# The child of the server that notifies.
for my $name (strategies()) {
    $checks{$name} = checks_of($b{$name});
    begin($name, 'sender');
    my $gateway = gateway_of($a{$name});
    kill 'KILL', $gateway;
    notify_on($a{$name}, 'sender');
    is_told_of($name, '... a notify while no child has the connection reaches the other server');
    wait_until(sub { gateway_of($a{$name}) != $gateway }, 'another child has the connection');
    pass('... another child has the connection');
}
for my $name (grep { $_ ne 'subscriptions' } strategies()) {
    wait_checks($b{$name}, $checks{$name} + 1, 'the other server hears the new connection');
}

# It is frozen, until the other server has forgotten it. The other child of its server takes a notify. Then the whole server is killed, and
# started again.
VaultTest::Main::freeze(map { gateway_of($_) } values %a);
wait_said($b{$_}, 'VLT00498', 1, "$_: a server that is silent is forgotten") for strategies();
for my $name (strategies()) {
    begin($name, 'forgotten');
    is(notify_on($a{$name}, 'forgotten'), 200, '... a notify that it cannot pass on');
    ok($poll{$name}->is_silent, '... which the other server does not know of');
    $a{$name}->crash;
    $checks{$name} = checks_of($b{$name});
    $a{$name}->again;
}
for my $name (strategies()) {
    is_told_of($name, "$name: the pages check for changes when a server is there in its place");
    wait_checks($b{$name}, $checks{$name} + ($name eq 'subscriptions' ? 1 : 2));
}

# The whole server: no process of it is left, and nothing was notified.
for my $name (strategies()) {
    begin($name, 'server');
    $a{$name}->crash;
}
for my $name (strategies()) {
    is_told_of($name, "$name: the pages of the other server check for changes when a server dies");
    is(scalar(said($b{$name}, 'VLT00498')), 2, '... and the log says why');
    $a{$name}->ignore;
}
use_server($b{filters});
finish();
