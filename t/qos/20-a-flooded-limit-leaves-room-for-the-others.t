# SPDX-License-Identifier: Apache-2.0
# A flood at one VaultQosLimit takes what room there is in the shared memory, but not what belongs to the others, and gives it back.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;
use VaultTest::Vaultctl;

needs_vaultctl();
needs_parking();
use_server(VaultTest::Server->start('flood', size => "ThreadLimit 32\nThreadsPerChild 32\nMaxRequestWorkers 32\n", config => <<'END'));
VaultSharedMemory 2M
VaultMaxPages 50
VaultMaxInterests 100
<Location "/flood/">
    SetHandler vault-test
    VaultQosLimit 1
    VaultQosTimeout 120
    VaultQosQueue 65536
</Location>
<Location "/calm/">
    SetHandler vault-test
    VaultQosLimit 1
    VaultQosTimeout 120
</Location>
END
my $room = status()->{QosPassesMax};
is($room, 512, 'a pass in each 4 KB');

for my $place ('/flood/', '/calm/') {
    is(status()->{QosPasses}, 0, "before the flood at $place no pass is in use");
    my $name = 'q20-' . $place =~ tr{/}{}dr;
    my $first = held($place, $name);
    wait_gate($place, Running => 1);
    my @flood;
    my $before = gate($place)->{Refused};
    until (gate($place)->{Refused} > $before || @flood > $room) {
        my @more = map { my $c = connect_to(); $c->request(GET => "${place}echo?text=flood"); $c } 1 .. 20;
        push @flood, @more;
        wait_until(sub { my $g = gate($place); $g->{Queued} + $g->{Refused} - $before >= @flood }, 'they have come');
    }
    my $gate = gate($place);
    cmp_ok($gate->{Queued}, '>', $room / 2, "$place: more than half of all passes");
    cmp_ok($gate->{Queued}, '<', $room, '  but not all');
    my $other = $place eq '/flood/' ? '/calm/' : '/flood/';
    my $inside = held($other, "$name-other");
    wait_gate($other, Running => 1);
    my $waits = connect_to();
    $waits->request(GET => "${other}echo?text=waits");
    wait_gate($other, Queued => 1);
    open_barrier("$name-other");
    is($inside->response->{status}, 200, '  another limit lets in');
    is($waits->response->{body}, 'waits', '  and lets wait');
    my $said = vaultctl('check');
    is($said->{code}, 1, '  vaultctl check');
    like($said->{out}, qr/^warning: a VaultQosLimit had no room in the shared memory for a request \d+ s ago, .*VLT00256/m, '  says that passes are short');
    unlike($said->{out}, qr/^wrong:/m, '  and that nothing is wrong');
    $_->close for @flood;
    open_barrier($name);
    is($first->response->{status}, 200, '  the first is answered');
    wait_gate($place, Running => 0, Queued => 0);
}
is(status()->{QosPasses}, 0, 'all passes have gone back');
cmp_ok(status()->{QosShortages}, '>=', 2, 'the shortages were counted');

announce(qr/VLT00256: the shared memory has room for 512 requests that run or wait at all VaultQosLimit: \/flood\/echo is refused/);
tolerate(qr/VLT00256: .*\/calm\/echo is refused/);    # once a second at most
finish();
