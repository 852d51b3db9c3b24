# SPDX-License-Identifier: Apache-2.0
# Clients that send a byte of a body and no more: they hold at most half of a child's threads, and none for long, without mod_reqtimeout;
# with it, for as long as it says. A body that nothing needs holds no thread for longer, and clients that send at once are served.
use strict;
use warnings;
use VaultTest;

my $THREADS = 8;
my $FORM = "Content-Type: application/x-www-form-urlencoded\r\n";

sub slow
{
    my ($method, $path, %there) = @_;
    my $client = connect_to(%there);
    $client->send_raw("$method $path HTTP/1.1\r\nHost: localhost\r\n${FORM}Content-Length: 100\r\n\r\np");
    return $client;
}

# ---------------------------------------------------------------- by itself
use_server(VaultTest::Server->start('slow-bodies', config => <<"END"));
<IfModule mod_reqtimeout.c>
    RequestReadTimeout header=0 body=0
</IfModule>
VaultFeed tests "@{[vars('top_dir')]}/modules/vault_feed_test.so" word=hello
<Location "/vault/page">
    SetHandler vault-page
</Location>
<Location "/vault/feed">
    SetHandler vault-feed
    VaultFeedExpose tests echo
</Location>
END
for my $row (['POST', '/vault/poll'], ['POST', '/vault/page'], ['POST', '/vault/feed/tests/echo']) {
    my ($method, $path) = @$row;
    my @clients = map { slow($method, $path) } 1 .. 3 * $THREADS;
    my @refused;
    wait_until(sub { @refused = grep { !$_->is_silent } @clients; @refused >= 2.5 * $THREADS }, "$method $path: all but half of the threads are free");
    is(scalar @refused, 2.5 * $THREADS, "... of $THREADS");
    is(text_of('/test/echo?text=served'), 'served', '... and others are served');
    my $page = live_page(['/test/rows?name=h06&interest=h06']);
    my $poll = connect_to();
    $poll->request(POST => '/vault/poll', {'Content-Type' => 'application/x-www-form-urlencoded'}, 'page=' . $page->id . '&seq=0');
    wait_waiting(1);
    text_of('/test/add?name=h06&notify=h06');
    is($poll->response->{status}, 200, '... so are polls whose form is there');
    text_of('/test/set?name=h06&value=0');
    my $answer = $refused[0]->response;
    is($answer->{status}, 503, '... the others are told to come again');
    like($answer->{headers}{'retry-after'}, qr/^\d+$/, '... and when');
    if ($path eq '/vault/poll') {
        my @waiting = grep { my $c = $_; !grep { $_ == $c } @refused } @clients;
        is($_->response->{status}, 408, '... and those that hold a thread have had 10 seconds') for @waiting;
    }
    $_->close for @clients;
    wait_until(sub { status()->{Waiting} == 0 }, 'all are gone');
}
announce(qr/VLT00321: 4 threads of this child wait for bodies that come slowly: another one is refused/);

# What no handler wants: httpd would wait for it before the next request of the connection.
my @clients = map { slow('GET', '/vault/poll?page=' . '0' x 40 . '&seq=0') } 1 .. 3 * $THREADS;
my @answered;
wait_until(sub { @answered = grep { !$_->is_silent } @clients; @answered >= 2.5 * $THREADS }, 'a body of a GET');
is($answered[0]->response->{status}, 410, '... is not waited for by more');
is(text_of('/test/echo?text=served'), 'served', '... and others are served');
$_->close for @clients;

# A client that is slow, but not too slow, is served; its thread is free again for others.
my $page = live_page(['/test/rows?name=h06a&interest=h06a']);
text_of('/test/add?name=h06a');
for my $turn (1 .. 2 * $THREADS) {
    my $form = 'page=' . $page->id . '&seq=' . $page->seq;
    my $client = connect_to();
    $client->send_raw("POST /vault/poll HTTP/1.1\r\nHost: localhost\r\n${FORM}Content-Length: " . length($form) . "\r\n\r\n" . substr $form, 0, 7);
    text_of('/test/echo?text=meanwhile');
    $client->send_raw(substr $form, 7);
    is($client->response->{status}, 200, "a body in two parts, $turn");
    $client->close;
}

# ---------------------------------------------------------------- with mod_reqtimeout
use_server(VaultTest::Server->start('slow-bodies-reqtimeout', config => "RequestReadTimeout header=1 body=1\n")) if have_module('reqtimeout');
SKIP: {
    skip 'mod_reqtimeout is not there', 5 unless have_module('reqtimeout');
    my @held = map { slow('POST', '/vault/poll') } 1 .. $THREADS / 2;
    my $begin = time;
    is($_->response->{status}, 408, 'a second, and the thread is free') for @held;
    cmp_ok(time - $begin, '<', 8, '... before our own limit');
}

finish();
