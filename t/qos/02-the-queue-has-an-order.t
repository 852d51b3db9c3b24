# SPDX-License-Identifier: Apache-2.0
# Who is let in next: the highest VaultQosPriority, and of one priority who came first, whichever child it came to.
use strict;
use warnings;
use MIME::Base64 ();
use VaultTest;
use VaultTest::Gate;

sub auth { return {Authorization => 'Basic ' . MIME::Base64::encode_base64("$_[0]:secret", '')} }

# What a request says, its rank, and why.
my @rows = (
    [{}, '', 0, 'nothing: the lowest'],
    [{'X-Rank' => 2}, '', 2, 'a rank from a header'],
    [{'X-Rank' => 'high'}, '', 0, 'a header that is no rank counts for nothing'],
    [{'X-Rank' => '10'}, '', 0, 'nor does a number that is too large'],
    [{'X-Rank' => 2}, '', 2, 'the same rank, later'],
    [{'X-Rank' => 'high', 'X-Group' => 'admins'}, '', 8, '  but the next rule does'],
    [{'X-Rank' => '6', 'X-Group' => 'admins'}, '', 6, 'the first rule that gives a rank holds'],
    [{'X-Group' => 'editors'}, '', 8, 'one of a group'],
    [{'X-Group' => 'readers'}, '', 0, 'one of another group'],
    [{Cookie => 'session=1'}, '', 7, 'a session cookie'],
    [{'X-Near' => 1}, '', 3, 'an address'],
    [auth('anna'), 'members', 9, 'a user by name: a narrower section has rules of its own'],
    [auth('bert'), 'members', 4, 'any user'],
    [{'X-Rank' => 9}, '', 9, 'the highest rank, later'],
);
for my $children (1, 3) {
    my @children = children($children);
    my $name = "q02-$children";
    my $first = held('/qos/ranked/', $name);
    wait_gate('/qos/ranked/', Running => 1);
    my @requests;
    for my $n (0 .. $#rows) {
        my ($headers, $query) = @{$rows[$n]};
        my $connection = connect_in($children[$n % $children]);
        $connection->request(GET => "/qos/ranked/add?name=$name&$query", $headers);
        push @requests, $connection;
        wait_gate('/qos/ranked/', Running => 1, Queued => $n + 1);
    }
    my @expected = sort { $rows[$b][2] <=> $rows[$a][2] || $a <=> $b } 0 .. $#rows;
    open_barrier($name);
    is($first->response->{status}, 200, "from $children children");
    for my $place (0 .. $#expected) {
        my $n = $expected[$place];
        is($requests[$n]->response->{body}, $place + 1, "rank $rows[$n][2]: $rows[$n][3]");
    }
    wait_gate('/qos/ranked/', Running => 0, Queued => 0);
}

my $answer = get('/qos/ranked/pid', headers => {'X-Rank' => 3});
is($answer->{headers}{vary}, undef, 'what decides the order does not make the answer vary');

finish();
