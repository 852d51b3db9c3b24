# SPDX-License-Identifier: Apache-2.0
# Where requests cannot wait without a thread, they queue in one, as many as VaultLongPollThreads; past that they are refused.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

my $config = qq(VaultLongPollThreads 2\n<Location "/limited/">\nSetHandler vault-test\nVaultQosLimit 1\nVaultQosTimeout 120\n</Location>\n);
for my $mpm (qw(prefork worker)) {
    next unless VaultTest::Server::has_mpm($mpm);
    # With room for one child only, the worker MPM may start no new child after a graceful restart before the old one has
    # ended. The old one cannot end here: its requests wait at a barrier that only the new child can open.
    my $size = $mpm eq 'worker' ? "MaxRequestWorkers 32\n" : '';
    use_server(VaultTest::Server->start("qos-$mpm", mpm => $mpm, size => $size, config => $config));
    my $first = held('/limited/', "q10-$mpm");
    wait_gate('/limited/', Running => 1);
    my @queued = map { my $c = connect_to(); $c->request(GET => "/limited/add?name=q10-$mpm"); wait_gate('/limited/', Queued => $_); $c } 1, 2;
    is(status()->{WaitingInThreads}, 2, "$mpm: two wait in threads");
    my $refused = get('/limited/pid');
    is($refused->{status}, 503, '  a third cannot');
    like($refused->{headers}{'retry-after'}, qr/^\d+$/, '  and is told when to come again');
    announce(qr/vault:warn\].*VLT00259: \/limited\/pid cannot wait for \S+ \/limited\//);
    open_barrier("q10-$mpm");
    is($first->response->{status}, 200, '  the first');
    is($queued[$_ - 1]->response->{body}, $_, '  and then the others, in their order') for 1, 2;
    wait_gate('/limited/', Running => 0, Queued => 0);

    text_of("/test/close?name=q10-$mpm");
    $first = held('/limited/', "q10-$mpm");
    wait_gate('/limited/', Running => 1);
    my $gone = held('/limited/', "q10-$mpm");
    wait_gate('/limited/', Queued => 1);
    $gone->reset;
    wait_gate('/limited/', Queued => 0);
    pass('  a client that hangs up frees its place and its thread');
    my $restarted = connect_to();
    $restarted->request(GET => "/limited/add?name=q10-$mpm");
    wait_gate('/limited/', Queued => 1);
    graceful_restart();
    wait_gate('/limited/', Running => 1, Queued => 1);
    open_barrier("q10-$mpm");
    is($first->response->{status}, 200, '  a graceful restart waits for who runs');
    is($restarted->response->{body}, 3, '  and for who queues');
    use_server();
}

finish();
