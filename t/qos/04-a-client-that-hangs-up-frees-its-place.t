# SPDX-License-Identifier: Apache-2.0
# A client that goes away while its request queues is forgotten; one that goes in the moment in which it is let in leaves the place to
# the next.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

my $before = gate('/qos/gone/');
my $first = held('/qos/gone/', 'q04');
wait_gate('/qos/gone/', Running => 1);
my @waiting = map { my $c = connect_to(); $c->request(GET => '/qos/gone/add?name=q04'); wait_gate('/qos/gone/', Queued => $_); $c } 1 .. 5;
$waiting[0]->reset;
wait_gate('/qos/gone/', Queued => 4);
$waiting[2]->close;
wait_gate('/qos/gone/', Queued => 3, Gone => $before->{Gone} + 2);
open_barrier('q04');
is($first->response->{status}, 200, 'the first');
is($waiting[$_->[0]]->response->{body}, $_->[1], 'those that stayed come in their order') for [1, 1], [3, 2], [4, 3];
is(text_of('/qos/gone/get?name=q04'), 3, 'nothing was done for those that left');

# Hanging up and being let in race: a hundred times over, no place is lost.
for my $n (1 .. 100) {
    my $barrier = "q04-race-" . $n % 2;
    text_of("/test/close?name=$barrier");
    my $in = held('/qos/gone/', $barrier);
    wait_gate('/qos/gone/', Running => 1);
    my @leavers = map { my $c = connect_to(); $c->request(GET => '/qos/gone/pid'); $c } 1 .. 3;
    wait_gate('/qos/gone/', Queued => 3);
    my $stays = connect_to();
    $stays->request(GET => '/qos/gone/pid');
    wait_gate('/qos/gone/', Queued => 4);
    my $opener = connect_to();
    $opener->request(GET => "/test/open?name=$barrier");
    $n % 3 ? $_->reset : $_->close for @leavers;
    $opener->response;
    my $status = $stays->response->{status};
    is($status, 200, "race $n: the one that stayed is let in") if $status != 200;
    $in->response;
    wait_gate('/qos/gone/', Running => 0, Queued => 0);
}

finish();
