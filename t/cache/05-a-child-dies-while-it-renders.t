# SPDX-License-Identifier: Apache-2.0
# Requests that wait for the one that renders continue when its child is killed: each renders without waiting again.
use strict;
use warnings;
use VaultTest;

use_server(VaultTest::Server->start('dies', size => "ThreadLimit 8\nThreadsPerChild 8\nStartServers 2\nMaxRequestWorkers 16\n", config => <<'END'));
<Location "/kept/">
    SetHandler vault-test
    VaultCache On
</Location>
END
my $PATH = '/kept/wait?before=c05&header=Vault-Shared:yes&header=Vault-Interest:c05';

SKIP: {
    skip 'no request can wait without a thread', 1 unless have_parking();

    # Others wait for it when it is known to be shared.
    open_barrier('c05');
    get($PATH) for 1 .. 2;
    text_of('/test/close?name=c05');
    text_of('/test/notify?interest=c05');
    my ($victim, $safe) = children(2);
    my $doomed = connect_in($victim);
    $doomed->request(GET => $PATH);
    wait_arrived('c05', 1);
    my $second = connect_in($safe);
    $second->request(GET => $PATH);
    my $third = connect_in($safe);
    $third->request(GET => $PATH);
    wait_waiting(2);
    is(arrived('c05'), 1, 'one renders, the others wait');

    my $before = status();
    kill KILL => $victim;
    ok($doomed->is_closed, 'the request that renders is lost with its child');
    wait_counter('NotifyAlls', $before, 1);
    wait_arrived('c05', 3);
    wait_waiting(0);
    open_barrier('c05');
    is($_->response->{status}, 200, 'each renders for itself, and is answered') for $second, $third;
    wait_waiting(0);
    my $kept = status()->{Cached};
    get($PATH);
    is(status()->{Cached} - $kept, 1, '... and what they have rendered is kept');
}
announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
use_server();
finish();
