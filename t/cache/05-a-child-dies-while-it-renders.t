# SPDX-License-Identifier: Apache-2.0
# Requests that wait for one that renders go on when its child is killed: they do not wait for one another then.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

SKIP: {
    skip 'no request can wait without a thread', 1 unless have_parking();

    # SSI is known to be shared, as far as httpd knows before it renders: others wait for it.
    live_shtml('/cache/dies.shtml', '/test/echo?text=', '<!--#include virtual="/test/wait?before=c05" --><p>done</p>');
    my ($victim, $safe) = children(2);
    my $doomed = connect_in($victim);
    $doomed->request(GET => '/cache/dies.shtml');
    wait_arrived('c05', 1);
    my $second = connect_in($safe);
    $second->request(GET => '/cache/dies.shtml');
    my $third = connect_in($safe);
    $third->request(GET => '/cache/dies.shtml');
    wait_waiting(2);
    is(arrived('c05'), 1, 'one renders, the others wait');

    my $before = status();
    kill KILL => $victim;
    ok($doomed->is_closed, 'the one that renders is lost with its child');
    wait_counter('NotifyAlls', $before, 1);
    wait_arrived('c05', 3);
    wait_waiting(0);
    open_barrier('c05');
    like($_->response->{body}, qr{<p>done</p>}, 'each renders for itself, and is answered') for $second, $third;
    wait_waiting(0);
    wait_replaced($victim);
}
announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
finish();
