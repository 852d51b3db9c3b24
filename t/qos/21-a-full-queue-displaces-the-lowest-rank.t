# SPDX-License-Identifier: Apache-2.0
# A full queue makes room for a request of a higher rank: the latest one of the lowest rank is answered 503 at once, whichever child it
# waits in, also when that child does not run at the moment, or dies.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

use constant PLACE => '/qos/full/';

sub comes
{
    my ($rank, $name, $child) = @_;
    my $connection = defined $child ? connect_in($child) : connect_to();
    $connection->request(GET => PLACE . "add?name=$name", {'X-Rank' => $rank});
    return $connection;
}

sub is_refused
{
    my ($connection, $why) = @_;
    my $answer = $connection->response;
    is($answer->{status}, 503, $why);
    like($answer->{headers}{'retry-after'}, qr/^\d+$/, '  with Retry-After');
    is($answer->{body}, 'busy', '  and the page of the location');
    return;
}

for my $round (1 .. 3) {
    my ($one, $two, $three) = children(3);
    my $name = "q21-$round";
    my $before = gate(PLACE);
    my $first = held(PLACE, $name);
    wait_gate(PLACE, Running => 1);
    my (@low, @high);
    for my $child ($one, $two, $three) {
        push @low, comes(1, $name, $child);
        wait_gate(PLACE, Queued => scalar @low);
    }
    is_refused(comes(0, $name, $one), "round $round: a lower rank is refused");
    is_refused(comes(1, $name, $two), '  so is the same rank of the same client');
    push @high, comes(2, $name, $one);
    is_refused($low[2], '  a higher rank displaces the latest, in another child');
    push @high, comes(2, $name, $two);
    is_refused($low[1], '  then the one before, in the same child');
    push @high, comes(9, $name, $three);
    is_refused($low[0], '  then the last one');
    is_refused(comes(2, $name, $three), '  when all have that rank the newcomer is refused');
    my $after = wait_gate(PLACE, Running => 1, Queued => 3);
    is($after->{Displaced} - $before->{Displaced}, 3, '  three were displaced');
    is($after->{Refused} - $before->{Refused}, 3, '  three were refused');
    open_barrier($name);
    is($first->response->{status}, 200, '  the first is answered');
    is($high[$_->[0]]->response->{body}, $_->[1], "  number $_->[1] is let in") for [2, 1], [0, 2], [1, 3];
    wait_gate(PLACE, Running => 0, Queued => 0);
    is(gate(PLACE)->{$_}, $before->{$_}, "  none counts as $_") for qw(TimedOut Gone);
}

# The child of the displaced request is stopped, and then dies.
my ($runs, $stopped) = children(2);
my $first = held(PLACE, 'q21-stop', on => connect_in($runs));
wait_gate(PLACE, Running => 1);
my @low = map { my $c = comes(1, 'q21-stop', $stopped); wait_gate(PLACE, Queued => $_); $c } 1 .. 3;
my $before = gate(PLACE)->{Displaced};
my ($high, $later, $status) = map { connect_in($runs) } 1 .. 3;    # before, since a stopped child may be the one that accepts connections
freeze($stopped);
$high->request(GET => PLACE . 'add?name=q21-stop', {'X-Rank' => 5});
wait_until(sub { gate_by($status)->{Displaced} == $before + 1 }, 'one takes a place in a child that is stopped');
$later->request(GET => PLACE . 'add?name=q21-stop', {'X-Rank' => 5});
wait_until(sub { my $g = gate_by($status); $g->{Displaced} == $before + 2 && $g->{Queued} == 3 }, '  and another one');
kill KILL => $stopped;
ok($_->is_closed, '  it dies') for @low;
wait_gate(PLACE, Running => 1, Queued => 2);
pass('  what waited in it is gone, and those that displaced others have their places');
open_barrier('q21-stop');
is($first->response->{status}, 200, '  the first');
is($high->response->{body}, 1, '  the second');
is($later->response->{body}, 2, '  and the third are answered');
wait_gate(PLACE, Running => 0, Queued => 0);
wait_replaced($stopped);

# As gate(), asked on that connection.
sub gate_by
{
    my ($connection) = @_;
    $connection->request(GET => '/vault/status?auto');
    my $auto = $connection->response->{body};
    my ($number) = $auto =~ m{^Qos(\d+)Location: \S+ /qos/full/$}m;
    my %auto = $auto =~ /^(\w+): (\d+)$/mg;
    return {map { $_ => $auto{"Qos$number$_"} } qw(Displaced Queued)};
}

announce(qr/VLT00300: \/qos\/full\/add waited for \S+ \/qos\/full\/, and a request of a higher VaultQosPriority/);
announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
tolerate(qr/VLT00255: \S+ \/qos\/full\/ has VaultQosLimit 1 requests, and VaultQosQueue 3 wait/);
finish();
