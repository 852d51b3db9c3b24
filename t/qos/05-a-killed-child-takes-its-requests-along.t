# SPDX-License-Identifier: Apache-2.0
# A child is killed that handles requests and has others in the queue: its places go to those of other children, its queued ones
# are forgotten, and nothing is lost on the way, killed or not.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

for my $round (1 .. 3) {
    my ($victim, $second, $third) = children(3);
    my $name = "q05-$round";
    my @dead = map { held('/qos/kill/', "$name-never", on => connect_in($victim)) } 1, 2;
    wait_gate('/qos/kill/', Running => 2);
    push @dead, held('/qos/kill/', "$name-never", on => connect_in($victim));
    wait_gate('/qos/kill/', Queued => 1);
    my @alive;
    for my $child ($second, $third) {
        push @alive, held('/qos/kill/', $name, on => connect_in($child));
        wait_gate('/qos/kill/', Queued => 1 + @alive);
    }
    push @dead, held('/qos/kill/', "$name-never", on => connect_in($victim));
    wait_gate('/qos/kill/', Running => 2, Queued => 4);

    kill KILL => $victim;
    ok($_->is_closed, "round $round: a request of the dead child loses its connection") for @dead;
    wait_gate('/qos/kill/', Running => 2, Queued => 0);
    wait_arrived($name, 2);
    pass('those of the others are let in in their place');
    my $late = held('/qos/kill/', $name);
    wait_gate('/qos/kill/', Running => 2, Queued => 1);
    open_barrier($name);
    is($_->response->{status}, 200, '  and answered') for @alive, $late;
    wait_gate('/qos/kill/', Running => 0, Queued => 0);
    wait_replaced($victim);
}

# A child that only queues.
my ($runs, $queues) = children(2);
my @in = map { held('/qos/kill/', 'q05-in', on => connect_in($runs)) } 1, 2;
wait_gate('/qos/kill/', Running => 2);
my $dead = held('/qos/kill/', 'q05-in', on => connect_in($queues));
wait_gate('/qos/kill/', Queued => 1);
my $next = held('/qos/kill/', 'q05-in', on => connect_in($runs));
wait_gate('/qos/kill/', Queued => 2);
kill KILL => $queues;
ok($dead->is_closed, 'a child that has requests in the queue only');
wait_gate('/qos/kill/', Running => 2, Queued => 1);
open_barrier('q05-in');
is($_->response->{status}, 200, '  the others go on') for @in, $next;
wait_gate('/qos/kill/', Running => 0, Queued => 0);
wait_replaced($queues);

announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
finish();
