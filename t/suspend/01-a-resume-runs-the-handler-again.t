# SPDX-License-Identifier: Apache-2.0
# A request that is resumed: its handler runs again with the same request, once, on the same connection; before the handler has
# returned a resume takes effect after that; more resumes do nothing.
use strict;
use warnings;
use VaultTest;
use VaultTest::Guest;

my $connection = connect_to();
for my $n (1 .. 3) {
    my $guest = VaultTest::Guest->start("s01-$n", on => $connection, calls => 'resume');
    wait_waiting(1);
    open_barrier("s01-$n");
    is_deeply($guest->facts, {runs => 2, suspended => 0, resumed => 1, timeout => 0, suspends => 'ok', calls => '', wrote => ''},
        "a request that is resumed, $n on its connection");
    is($guest->calls, 'ok', '  by a thread of the module');
    $guest->wait_hooks('1 1 1', '  each hook has run once');
}

my $early = VaultTest::Guest->start('s01-early', on => $connection, early => 'resume,resume,resume');
is_deeply($early->facts, {runs => 2, suspended => 0, resumed => 1, timeout => 0, suspends => 'ok', calls => 'ok,ok,ok', wrote => ''},
    'a resume before the handler has returned takes effect after that, and more of them do nothing');
is(VaultTest::Guest::variable('s01-early-state'), '1 0', '  until then it is suspended, and not resumed');
$early->wait_hooks('1 1 1', '  each hook has run once');

my $often = VaultTest::Guest->start('s01-often', on => $connection, runs => 50, early => 'resume');
my $facts = $often->facts;
is("$facts->{runs} $facts->{suspends}", '50 ' . join(',', ('ok') x 49), 'a request may be suspended again and again');
is(VaultTest::Guest::variable('s01-often-state'), '1 0', '  it is not resumed any more when it is suspended again');
$often->wait_hooks('49 49 1', '  and is completed once');

my $late = VaultTest::Guest->start('s01-late', calls => 'resume,resume,resume');
wait_waiting(1);
open_barrier('s01-late');
is($late->facts->{runs}, 2, 'resumed several times while it goes on');
like($late->calls, qr/^ok(?:,(?:ok|notfound|other))*$/, '  the others do nothing');

my $never = VaultTest::Guest->start('s01-never', on => $connection, runs => 1);
is_deeply($never->facts, {runs => 1, suspended => 0, resumed => 0, timeout => 0, suspends => '', calls => '', wrote => ''},
    'a request that is never suspended');
is($never->hooks, '0 0 0', '  no hook runs for it');
wait_waiting(0);

finish();
