# SPDX-License-Identifier: Apache-2.0
# Twenty-four connections ask as quickly as they can, in three children, where two may be in: never are there more, no request is
# forgotten in the queue, and the counts add up.
use strict;
use warnings;
use List::Util qw(max min);
use VaultTest;
use VaultTest::Gate;

use constant {CONNECTIONS => 24, REQUESTS => 40, ROUNDS => 3};

for my $round (1 .. ROUNDS) {
    my $before = gate('/qos/many/');
    my @connections = map { connect_to() } 1 .. CONNECTIONS;
    for my $n (0 .. $#connections) {
        my $rank = $n % 3;
        my $request = "GET /qos/many/inside?name=q15 HTTP/1.1\r\nHost: localhost\r\nX-Rank: $rank\r\n\r\n";
        $connections[$n]->send_raw($request x REQUESTS);
    }
    my (%status, @inside);
    for my $connection (@connections) {
        for (1 .. REQUESTS) {
            my $answer = $connection->response;
            $status{$answer->{status}}++;
            push @inside, 0 + $answer->{body};
        }
    }
    is_deeply(\%status, {200 => CONNECTIONS * REQUESTS}, "round $round: all are answered");
    cmp_ok(max(@inside), '<=', 2, '  never more than two were in');
    is(min(@inside), 1, '  and each was counted out');
    my $after = wait_gate('/qos/many/', Running => 0, Queued => 0);
    is($after->{Admitted} - $before->{Admitted}, CONNECTIONS * REQUESTS, '  as many were let in');
    is($after->{$_}, $before->{$_}, "  none counts as $_") for qw(Refused TimedOut Gone);
}

finish();
