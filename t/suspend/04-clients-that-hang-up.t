# SPDX-License-Identifier: Apache-2.0
# A client that goes away while its request is suspended: the handler does not run again, the module is told, and a thread that looks for the
# request finds none.
use strict;
use warnings;
use VaultTest;
use VaultTest::Guest;

for my $way (qw(close reset half_close)) {
    for my $more ({}, {method => 'POST', content => 'a body that no handler has read'}) {
        my $name = "s04-$way" . ($more->{method} || '');
        my $before = status();
        my $guest = VaultTest::Guest->start($name, calls => 'resume', %$more);
        wait_waiting(1);
        $guest->connection->$way;
        wait_waiting(0);
        wait_counter(ClientsGone => $before, 1);
        $guest->wait_hooks('1 0 1', ($more->{method} || 'GET') . ", $way: completed without its handler");
        open_barrier($name);
        is($guest->calls, 'other', '  and no thread finds it any more');
    }
}

# It goes while it is resumed: whichever comes first, it is completed once.
for my $n (1 .. 20) {
    my $guest = VaultTest::Guest->start("s04-race-$n", calls => 'resume');
    wait_waiting(1);
    $n % 2 ? $guest->connection->reset : open_barrier("s04-race-$n");
    $n % 2 ? open_barrier("s04-race-$n") : $guest->connection->reset;
    wait_until(sub { $guest->hooks =~ /^1 [01] 1$/ }, "$n: completed once");
}
wait_waiting(0);
pass('a hang-up and a resume at the same time');

finish();
