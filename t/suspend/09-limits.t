# SPDX-License-Identifier: Apache-2.0
# Past VaultMaxWaiting, and where requests wait in threads past VaultLongPollThreads, a request cannot be suspended: its handler is told,
# and Retry-After is set for the 503 that it answers.
use strict;
use warnings;
use VaultTest;
use VaultTest::Guest;

my $include = qq(Include "@{[vars('top_dir')]}/t/conf/poll.conf"\n);
my @rows = (['event', "VaultMaxWaiting 2\n", 'VaultMaxWaiting'], ['worker', "VaultLongPollThreads 2\n", 'VaultLongPollThreads']);
for my $row (grep { VaultTest::Server::has_mpm($_->[0]) && ($_->[0] ne 'event' || have_parking()) } @rows) {
    my ($mpm, $limit, $name) = @$row;
    use_server(VaultTest::Server->start("limit-$mpm", mpm => $mpm, config => $include . $limit));
    my @guests = map { VaultTest::Guest->start("s09-$_", calls => 'resume', runs => 3) } 1, 2;
    wait_waiting(2);
    is(status()->{WaitingInThreads}, $mpm eq 'worker' ? 2 : 0, "$mpm: two wait");
    my $before = status();
    my $refused = VaultTest::Guest->start('s09-refused')->response;
    is($refused->{status}, 503, "  one more than $name is told so");
    like($refused->{headers}{'retry-after'}, qr/^\d+$/, '  and when to come again');
    is(status()->{Refused} - $before->{Refused}, 1, '  and counted');
    wait_waiting(2);
    open_barrier("s09-$_") for 1, 2;
    wait_until(sub { $_->hooks eq '2 1 0' }, 'resumed and suspended again, in the same place') for @guests;
    $_->connection->reset for @guests;
    wait_waiting(0);
    is(status()->{WaitingInThreads}, 0, '  no thread is held any more');
    is(VaultTest::Guest->start('s09-next', early => 'resume')->facts->{runs}, 2, '  and the next one may wait');
}
use_server();
announce(qr/VLT00008: only 2 polls can wait/) if have_parking();
announce(qr/VLT00200: the request cannot be suspended: too many wait: /);
finish();
