# SPDX-License-Identifier: Apache-2.0
# VaultQosLimit 2, three children, six requests: two are handled at a time, wherever they came, and the others wait without a thread.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

my @children = children(3);
is(scalar @children, 3, 'three children');
my $before = gate('/qos/two/');
my (@requests, %of);
for my $n (0 .. 5) {
    push @requests, held('/qos/two/', "q01-$n", on => connect_in($children[$n % 3]));
    my $running = $n < 2 ? $n + 1 : 2;
    wait_gate('/qos/two/', Running => $running, Queued => $n + 1 - $running);    # so that they come in this order
}
is(status()->{WaitingInThreads}, have_parking() ? 0 : 4, 'those that queue have no thread');
for my $n (0 .. 5) {
    wait_arrived("q01-$n", 1);
    is(arrived('q01-' . ($n + 2)), 0, 'the next but one has not begun') if $n < 4;
    my $left = 5 - $n;
    open_barrier("q01-$n");
    my $answer = $requests[$n]->response;
    is($answer->{status}, 200, "request $n is answered");
    is($answer->{body}, $children[$n % 3], '  by the child it came to');
    wait_gate('/qos/two/', Running => $left < 2 ? $left : 2, Queued => $left < 2 ? 0 : $left - 2);
}
my $after = gate('/qos/two/');
is($after->{Limit}, 2, 'the status page knows the limit');
is($after->{Admitted} - $before->{Admitted}, 6, '  and counts all of them');
is($after->{$_} - $before->{$_}, 0, "  none of them as $_") for qw(Refused TimedOut Gone);

# A section inside of it shares the limit, unless it says otherwise.
my @held = map { held('/qos/two/', 'q01-a') } 1, 2;
wait_gate('/qos/two/', Running => 2);
my $inner = connect_to();
$inner->request(GET => '/qos/two/inner/echo?text=inner');
wait_gate('/qos/two/', Running => 2, Queued => 1);
is(text_of('/qos/two/free/echo?text=free'), 'free', 'VaultQosLimit Off: no request waits there');
is(text_of('/qos/echo?text=outside'), 'outside', 'nor outside');
open_barrier('q01-a');
is($_->response->{status}, 200, 'those that were in are answered') for @held;
is($inner->response->{body}, 'inner', 'and so is the one that waited');
wait_gate('/qos/two/', Running => 0, Queued => 0);

finish();
