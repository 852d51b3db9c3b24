# SPDX-License-Identifier: Apache-2.0
# vault_request_complete(): the server finishes the request, its handler does not run again. Of resume and complete the first holds.
use strict;
use warnings;
use VaultTest;
use VaultTest::Guest;

my $connection = connect_to();
for my $n (1, 2) {
    my $guest = VaultTest::Guest->start("s03-$n", on => $connection, say => 'half', calls => 'complete');
    wait_waiting(1);
    open_barrier("s03-$n");
    is($guest->response->{status}, 200, 'a request is completed');
    is($guest->response->{body}, 'half', '  with what was written before');
    is($guest->calls, 'ok', '  by a thread of the module');
    $guest->wait_hooks('1 0 1', '  its handler has not run again');
}
my $early = VaultTest::Guest->start('s03-early', on => $connection, early => 'complete');
is($early->response->{body}, '', 'completed before the handler has returned: it ends after that');
$early->wait_hooks('1 0 1', '  and does not run again');

for my $row (['complete,resume', '1 0 1'], ['complete,complete', '1 0 1'], ['resume,complete', '1 1 1']) {
    my ($calls, $hooks) = @$row;
    my $guest = VaultTest::Guest->start("s03-$calls", on => $connection, early => $calls);
    my $said = $guest->response->{body};
    $guest->wait_hooks($hooks, "$calls: the first one holds");
    like($said, $calls =~ /^resume/ ? qr/ resumed=1 timeout=0 suspends=ok calls=ok,eexist / : qr/^$/, '  and is what happens');
}

# A handler that ends its output completes the request, whatever it returns.
for my $row ([-3, '1 0 1', 'SUSPENDED'], [0, '0 0 1', 'OK']) {
    my ($answers, $hooks, $name) = @$row;
    my $guest = VaultTest::Guest->start("s03-end$answers", on => $connection, end => 'all', answers => $answers);
    is($guest->response->{body}, 'all', "it has ended its output, and returns $name");
    $guest->wait_hooks($hooks, '  it is completed without its handler');
    is(VaultTest::Guest->start("s03-after$answers", on => $connection, early => 'resume')->facts->{runs}, 2,
        '  and the connection is there for the next request');
}
announce(qr/VLT00202: a handler suspended the request and did not return SUSPENDED: /);
wait_waiting(0);

finish();
