# SPDX-License-Identifier: Apache-2.0
# Time is up: the handler runs again and is told; of two time-outs the smaller one holds.
use strict;
use warnings;
use Time::HiRes ();
use VaultTest;
use VaultTest::Guest;

my $connection = connect_to();
for my $row (
    ['timeout', {timeout => 300}, 'ok', 'its time is up'],
    ['shorter', {timeout => 600_000, shorter => 300}, 'ok,ok', 'suspended twice, a shorter time at last'],
    ['longer', {timeout => 300, shorter => 600_000}, 'ok,ok', 'suspended twice, a longer time at last'],
) {
    my ($name, $query, $suspends, $why) = @$row;
    my $begin = Time::HiRes::time();
    my $guest = VaultTest::Guest->start("s02-$name", on => $connection, %$query);
    is_deeply($guest->facts, {runs => 2, suspended => 0, resumed => 0, timeout => 1, suspends => $suspends, calls => '', wrote => ''}, $why);
    my $took = Time::HiRes::time() - $begin;
    cmp_ok($took, '>=', 0.3, '  not before');
    $guest->wait_hooks('1 1 1', '  the hooks have run');
}

my $again = VaultTest::Guest->start('s02-again', on => $connection, timeout => 50, runs => 5);
is($again->facts->{runs}, 5, 'suspended again at each time-out');
my $both = VaultTest::Guest->start('s02-both', on => $connection, timeout => 1, early => 'resume');
like(join(' ', @{$both->facts}{qw(resumed timeout)}), qr/^1 0$/, 'resumed before its time was up: it is resumed, however late it goes on');
wait_waiting(0);

finish();
