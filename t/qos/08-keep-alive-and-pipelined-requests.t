# SPDX-License-Identifier: Apache-2.0
# Requests that wait on a connection with others before and after them: each is answered, in its order, and so over TLS.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

sub get_raw { return "GET $_[0] HTTP/1.1\r\nHost: localhost\r\n\r\n" }

for my $tls (0, have_tls() ? 1 : ()) {
    my %how = $tls ? (tls => 1, vhost => 'vault_tls') : ();
    my $path = '/qos/alive/';
    my $name = "q08-$tls";
    my $c = connect_to(%how);
    for my $n (1 .. 3) {
        my $first = held($path, "$name-$n", %how);
        wait_gate($path, Running => 1);
        $c->send_raw(get_raw("${path}echo?text=one") . get_raw("/qos/echo?text=two") . get_raw("${path}echo?text=three"));
        wait_gate($path, Running => 1, Queued => 1);
        ok($tls || $c->is_silent, "round $n" . ($tls ? ' over TLS' : ''));    # TLS says more than answers
        open_barrier("$name-$n");
        is($first->response->{status}, 200, '  the one that was in');
        is($c->response->{body}, $_, "  then $_") for qw(one two three);
    }
    my $first = held($path, "$name-close", %how);
    wait_gate($path, Running => 1);
    $c->request(GET => "${path}echo?text=last", {Connection => 'close'});
    wait_gate($path, Queued => 1);
    my $old = connect_to(%how, http10 => 1);
    $old->request(GET => "${path}echo?text=old");
    wait_gate($path, Queued => 2);
    open_barrier("$name-close");
    $first->response;
    is($c->response->{body}, 'last', 'Connection: close');
    ok($c->is_closed, '  is carried out');
    is($old->response->{body}, 'old', 'HTTP/1.0');
    wait_gate($path, Running => 0, Queued => 0);
}

finish();
