# SPDX-License-Identifier: Apache-2.0
# Locations with VaultQosLimit: what the status page says of them, and requests that stop inside.
#
#     my $first = held('/qos/two/', 'barrier');     # sent, not waited for; stops at the barrier of that name once it is let in
#     wait_gate('/qos/two/', Running => 1, Queued => 0);
#     open_barrier('barrier');
#     is($first->response->{status}, 200, 'why');
package VaultTest::Gate;
use strict;
use warnings;
use Exporter 'import';
use VaultTest;

our @EXPORT = qw(gate held wait_gate);

# {Limit => 2, PerClient => 2, Running => 0, Queued => 0, Admitted => 7, Refused => 0, TimedOut => 0, Gone => 0, Displaced => 0}
sub gate
{
    my ($path) = @_;
    my ($gate) = grep { $_->{Location} =~ / \Q$path\E$/ } @{status_of_children()->{Qos}};
    return $gate || die "the status page knows no VaultQosLimit for $path\n";
}

# wait_gate(PATH, Running => 2, …): until all of it holds at once
sub wait_gate
{
    my ($path, %facts) = @_;
    my $what = join ', ', map { "$_ $facts{$_}" } sort keys %facts;
    return wait_until(sub { my $g = gate($path); !(grep { $g->{$_} != $facts{$_} } keys %facts) && $g }, "$path has $what");
}

# A request that stops at a barrier when it is let in: held(PATH, BARRIER, on => CONNECTION, headers => {…}, query => 'a=b')
sub held
{
    my ($path, $barrier, %with) = @_;
    my $connection = $with{on} || connect_to(%with);
    my $query = $with{query} ? "&$with{query}" : '';
    $connection->request(GET => "${path}pid?before=$barrier$query", $with{headers});
    return $connection;
}

1;
