# SPDX-License-Identifier: Apache-2.0
# The module loads, its handlers answer, and the counters are those of mod_vault/shm/counters.h.
use strict;
use warnings;
use VaultTest;

my $status = get('/vault/status?auto');
is($status->{status}, 200, 'the status page answers');
like($status->{headers}{'content-type'}, qr{^text/plain}, 'the machine-readable one is plain text');
my $counters = status();
cmp_ok($counters->{Waiting}, '==', 0, 'no poll waits yet');
ok(defined $counters->{$_}, "$_ is counted") for qw(Polls Answers Notifies WakeUps Runs);

my $pid = text_of('/test/pid');
like($pid, qr/^\d+$/, 'the test module answers');
is(text_of('/test/notify?interest=nobody-holds-this'), 'nobody', 'the optional functions of vault.h are there');

is(get('/vault/poll?page=unknown&seq=0')->{status}, 410, 'an unknown page has expired');

finish();
