# SPDX-License-Identifier: Apache-2.0
# Who is not let in within VaultQosTimeout, or finds VaultQosQueue requests waiting, is answered 503 with Retry-After.
use strict;
use warnings;
use Time::HiRes ();
use VaultTest;
use VaultTest::Gate;

my $before = gate('/qos/hasty/');
my $first = held('/qos/hasty/', 'q03');
wait_gate('/qos/hasty/', Running => 1);
my $begin = Time::HiRes::time();
my $late = get('/qos/hasty/echo?text=late');
is($late->{status}, 503, 'time is up');
like($late->{headers}{'retry-after'}, qr/^\d+$/, '  with Retry-After');
cmp_ok(Time::HiRes::time() - $begin, '>', 0.9, '  not before');
my @late = map { my $c = connect_to(); $c->request(GET => '/qos/hasty/echo?text=late'); $c } 1 .. 5;
is($_->response->{status}, 503, 'several') for @late;
ok($_->is_closed, '  and httpd closes the connection, as after any 503') for @late;
wait_gate('/qos/hasty/', Running => 1, Queued => 0, TimedOut => $before->{TimedOut} + 6);
open_barrier('q03');
is($first->response->{status}, 200, 'the one that was in is answered');
is(text_of('/qos/hasty/echo?text=next'), 'next', 'and the next is let in at once');
is(gate('/qos/hasty/')->{Refused}, $before->{Refused}, 'none of these has been refused');

$before = gate('/qos/short/');
$first = held('/qos/short/', 'q03-short');
wait_gate('/qos/short/', Running => 1);
my @waiting = map { my $c = connect_to(); $c->request(GET => '/qos/short/echo?text=waits'); $c } 1, 2;
wait_gate('/qos/short/', Queued => 2);
for my $n (1 .. 3) {
    my $refused = get('/qos/short/echo?text=refused');
    is($refused->{status}, 503, 'a full queue');
    like($refused->{headers}{'retry-after'}, qr/^\d+$/, '  with Retry-After');
    is($refused->{body}, 'busy', '  an ErrorDocument in the same location is not held up');
}
is(gate('/qos/short/')->{Refused} - $before->{Refused}, 3, '  and is counted');
$waiting[1]->reset;
wait_gate('/qos/short/', Queued => 1, Gone => $before->{Gone} + 1);
my $next = connect_to();
$next->request(GET => '/qos/short/echo?text=next');
wait_gate('/qos/short/', Queued => 2);
open_barrier('q03-short');
is($first->response->{status}, 200, 'those that were in');
is($waiting[0]->response->{body}, 'waits', '  or waited');
is($next->response->{body}, 'next', '  are answered, also one that got the place of a client that left');

$first = held('/qos/none/', 'q03-none');
wait_gate('/qos/none/', Running => 1);
my $refused = get('/qos/none/pid');
is($refused->{status}, 503, 'VaultQosQueue 0: no request waits');
like($refused->{body}, qr/503 Service Unavailable/, '  httpd says so');
open_barrier('q03-none');
is($first->response->{status}, 200, '  the one that was in is answered');

announce(
    qr/VLT00258: \/qos\/hasty\/echo was not let in to \S+ \/qos\/hasty\/ within VaultQosTimeout 1: it is refused/,
    qr/VLT00255: \S+ \/qos\/short\/ has VaultQosLimit 1 requests, and VaultQosQueue 2 wait for it: \/qos\/short\/echo is refused/,
);
announce(qr/vault:warn\].*VLT0025[58]:/);    # the first of a second
tolerate(qr/VLT00255: \S+ \/qos\/none\//);    # once a second at most
finish();
