# SPDX-License-Identifier: Apache-2.0
# One client floods a location: it has a share of the queue, another client takes places of it, and is let in after few requests of the
# first one, also when those are slow.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

sub comes
{
    my ($path, $from, %headers) = @_;
    my $connection = connect_to(from => "127.0.0.$from");
    $connection->request(GET => $path, \%headers);
    return $connection;
}

# A queue of 4, so a share of 2.
my $place = '/qos/share/';
my $before = gate($place);
my $first = held($place, 'q22');
wait_gate($place, Running => 1);
my $add = "${place}add?name=q22";
my @flood;
for my $n (1, 2) {
    push @flood, comes($add, 2);
    wait_gate($place, Queued => $n);
}
for my $rank (0, 0) {
    my $answer = comes($add, 2, 'X-Rank' => $rank)->response;
    is($answer->{status}, 503, 'past its share a client is refused, although the queue has room');
    like($answer->{headers}{'retry-after'}, qr/^\d+$/, '  with Retry-After');
}
push @flood, comes($add, 2, 'X-Rank' => 9);
is($flood[1]->response->{status}, 503, 'a higher rank displaces one of its own');
wait_gate($place, Queued => 2);
my @others = map { my $c = comes($add, $_->[0]); wait_gate($place, Queued => $_->[1]); $c } [3, 3], [3, 4];
push @others, comes($add, 4);
is($others[1]->response->{status}, 503, 'a full queue: of the lowest rank, the client that has the most loses its latest');
my $rejected = comes($add, 5)->response;
is($rejected->{status}, 503, 'when all have the same, the newcomer is refused');
my $after = wait_gate($place, Running => 1, Queued => 4);
is($after->{Displaced} - $before->{Displaced}, 2, 'two were displaced');
is($after->{Refused} - $before->{Refused}, 3, 'three were refused');
open_barrier('q22');
is($first->response->{status}, 200, 'the first is answered');
is($flood[2]->response->{body}, 1, '  then the highest rank');
is_deeply([sort map { $_->response->{body} } $flood[0], $others[0], $others[2]], [2, 3, 4], '  then the others');
wait_gate($place, Running => 0, Queued => 0);

# Two at once: twenty of one client wait, and then one of another.
$place = '/qos/turns/';
my @slow = map { my $c = connect_to(from => '127.0.0.2'); held($place, "q22-slow-$_", on => $c); wait_gate($place, Running => $_); $c } 1, 2;
@flood = map { my $c = comes("${place}add?name=q22-turns", 2); wait_gate($place, Queued => $_); $c } 1 .. 20;
my $late = comes("${place}add?name=q22-turns", 3);
wait_gate($place, Queued => 21);
open_barrier('q22-slow-1');
is($slow[0]->response->{status}, 200, 'one of the client that has all places ends');
is($late->response->{body}, 1, '  the next is the other client, though twenty came before it');
is($_->response->{status}, 200, '  and then the others') for @flood;
open_barrier('q22-slow-2');
is($slow[1]->response->{status}, 200, '  all are answered');
wait_gate($place, Running => 0, Queued => 0);

# Four at once, of one client three: the fourth place is another's, also when many wait.
$place = '/qos/four/';
@slow = map { my $c = connect_to(from => '127.0.0.2'); held($place, 'q22-four', on => $c); $c } 1 .. 20;
wait_gate($place, Running => 3, Queued => 17);
is(comes("${place}echo?text=other", 3)->response->{body}, 'other', 'slow requests of one client leave a place for another one') for 1 .. 3;
wait_gate($place, Running => 3, Queued => 17);
open_barrier('q22-four');
is($_->response->{status}, 200, '  all are answered') for @slow;
wait_gate($place, Running => 0, Queued => 0);

announce(qr/VLT00301: \/qos\/share\/add: its client has reached its share of \S+ \/qos\/share\/ \(VaultQosLimit 1 1, VaultQosQueuePerClient 2\): it is refused/);
tolerate(qr/VLT00300: \/qos\/share\/add waited for /, qr/VLT00255: \S+ \/qos\/share\//);
finish();
