# SPDX-License-Identifier: Apache-2.0
# VaultQosTimeout may be longer than httpd's Timeout: the request waits several times in a row, and keeps its place.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

my $config = qq(<Location "/limited/">\nSetHandler vault-test\nVaultQosLimit 1\nVaultQosTimeout 600\n</Location>\nTimeout 2\n);
use_server(VaultTest::Server->start('qos-timeout', config => $config));
my $first = held('/limited/', 'q14');
wait_gate('/limited/', Running => 1);
my $before = status();
my @queued = map { my $c = connect_to(); $c->request(GET => "/limited/add?name=q14"); wait_gate('/limited/', Queued => $_); $c } 1 .. 3;
my $after = wait_counter('WakeUps', $before, 9);
is(gate('/limited/')->{Queued}, 3, 'each has been woken three times, and queues on');
is(gate('/limited/')->{TimedOut}, 0, '  none of them has timed out');
open_barrier('q14');
is($first->response->{status}, 200, 'the first');
is($queued[$_]->response->{body}, $_ + 1, '  and the others, in the order in which they came') for 0 .. 2;
wait_gate('/limited/', Running => 0, Queued => 0);
use_server();

finish();
