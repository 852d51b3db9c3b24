# SPDX-License-Identifier: Apache-2.0
# A request has been handled when its handler has returned: a client that takes its time to read the answer holds no place.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;
use VaultTest::Guest;

# With so small buffers on the way most of an answer stays with httpd until the client reads.
my $config = qq(SendBufferSize 4096\n<Location "/limited/">\nSetHandler vault-test\nVaultQosLimit 1\nVaultQosQueue 0\n</Location>\n)
    . qq(<Location "/suspended/">\nSetHandler vault-suspend-test\nVaultQosLimit 1\nVaultQosQueue 0\n</Location>\n);
use_server(VaultTest::Server->start('qos-reader', config => $config));
my @slow;
for my $n (1 .. 3) {
    my $slow = connect_to(receive_buffer => 2048);
    $slow->request(GET => '/limited/big?bytes=60000');
    wait_gate('/limited/', Running => 0, Admitted => 2 * $n - 1);
    is(text_of('/limited/echo?text=next'), 'next', "the next is let in, $n");
    push @slow, $slow;
}
is(length $_->response->{body}, 60000, 'all of them get all of it') for @slow;
wait_gate('/limited/', Running => 0);

# Nor one whose module has it completed: its handler, which does not run again, had written before.
my $guest = VaultTest::Guest->start('q16', path => '/suspended/x', on => connect_to(receive_buffer => 2048), before => 60000, calls => 'complete');
wait_gate('/suspended/', Running => 1);
open_barrier('q16');
$guest->wait_hooks('1 0 1', 'a request with an answer that no client reads is completed');
is(text_of('/suspended/echo?name=q16b&runs=1') =~ /^runs=1 /, 1, '  and the next is let in');
is(length $guest->response->{body}, 60000, '  its client gets all of it');
use_server();

finish();
