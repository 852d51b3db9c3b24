# SPDX-License-Identifier: Apache-2.0
# Clients that send a byte of a body and no more: one holds at most a quarter of a child's threads, all of them half, and none for long,
# without mod_reqtimeout; with it, for as long as it says. A body that nothing needs holds no thread for longer, and clients that send at once are served.
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
for my $path (qw(/vault/poll /vault/page /vault/feed/tests/echo)) {
    my @own = map { slow('POST', $path, from => '127.0.0.2') } 1 .. 2 * $THREADS;
    my (@refused, @more);
    wait_until(sub { @refused = grep { !$_->is_silent } @own; @refused >= 1.75 * $THREADS }, "POST $path: all but a quarter of the threads are free of one client");
    is(scalar @refused, 1.75 * $THREADS, "... of $THREADS");
    my @others = map { slow('POST', $path, from => "127.0.0.$_") } 3 .. 2 + $THREADS;
    wait_until(sub { @more = grep { !$_->is_silent } @others; @more >= 0.75 * $THREADS }, '... and all but half of many');
    is(scalar @more, 0.75 * $THREADS, "... of $THREADS");
    is(text_of('/test/echo?text=served'), 'served', '... and others are served');
    my $page = live_page(['/test/rows?name=h06&interest=h06']);
    my $poll = connect_to();
    $poll->request(POST => '/vault/poll', {'Content-Type' => 'application/x-www-form-urlencoded'}, 'page=' . $page->id . '&seq=0');
    wait_waiting(1);
    text_of('/test/add?name=h06&notify=h06');
    is($poll->response->{status}, 200, '... so are polls whose form is there');
    text_of('/test/set?name=h06&value=0');
    my $answer = $refused[0]->response;
    is($answer->{status}, 503, '... the others are told to retry');
    like($answer->{headers}{'retry-after'}, qr/^\d+$/, '... and when');
    if ($path eq '/vault/poll') {
        my @waiting = grep { my $c = $_; !grep { $_ == $c } @refused, @more } @own, @others;
        is($_->response->{status}, 408, '... and those that hold a thread have had 10 seconds') for @waiting;
    }
    $_->close for @own, @others;
    wait_until(sub { status()->{Waiting} == 0 }, 'all are gone');
}
announce(qr/VLT00321: \d of at most 4 threads of this child wait for slow request bodies, and this client may not occupy more: a request is refused/);

# What no handler wants: httpd would wait for it before the next request of the connection.
my @clients = map { slow('GET', '/vault/poll?page=' . '0' x 40 . '&seq=0') } 1 .. 3 * $THREADS;
my @answered;
wait_until(sub { @answered = grep { !$_->is_silent } @clients; @answered >= 2.75 * $THREADS }, 'a body of a GET');
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

# ---------------------------------------------------------------- over HTTP/2
SKIP: {
    skip 'mod_http2 or Protocol::HTTP2 is not there', 3 unless have_http2();
    use_server(VaultTest::Server->start('slow-bodies-http2', config => "Protocols h2c http/1.1\n"));
    my $connection = connect_to(http2 => 1);
    my $page = live_page(['/test/rows?name=h06b&interest=h06b']);
    my $form = 'page=' . $page->id . '&seq=0';
    my %announced = ('Content-Type' => 'application/x-www-form-urlencoded', 'Content-Length' => length $form);
    text_of('/test/add?name=h06b');
    $connection->request(POST => '/vault/poll', \%announced);
    text_of('/test/echo?text=meanwhile');
    $connection->send_body(substr($form, 0, 7), 0);
    text_of('/test/echo?text=meanwhile');
    $connection->send_body(substr($form, 7), 1);
    is($connection->response->{status}, 200, 'a body in two frames');
    $connection->request(POST => '/vault/poll', \%announced) for 1 .. 6;
    wait_until(sub { 4 == grep { /VLT00321: / } error_log_lines() }, '... of six that do not come all but two are refused');
    is(text_of('/test/echo?text=served'), 'served', '... and others are served');
    $connection->close;
}

# ---------------------------------------------------------------- with prefork
{
    my $PROCESSES = 12;
    use_server(VaultTest::Server->start('slow-bodies-prefork', mpm => 'prefork'));
    my @own = map { slow('POST', '/vault/poll', from => '127.0.0.2') } 1 .. $PROCESSES / 4 + 2;
    my @refused;
    wait_until(sub { @refused = grep { !$_->is_silent } @own; @refused >= 2 }, 'all but a quarter of the processes are free of one client');
    is($_->response->{status}, 503, '... the others are told to retry') for @refused;
    text_of('/test/echo?text=meanwhile');
    is(scalar(grep { $_->is_silent } @own), $PROCESSES / 4, "... of $PROCESSES a quarter waits");
    $_->close for @own;
    announce(qr/VLT00321: 0 of at most 1 threads of this child wait/);
}

# ---------------------------------------------------------------- with mod_reqtimeout
use_server(VaultTest::Server->start('slow-bodies-reqtimeout', config => "RequestReadTimeout header=1 body=1\n")) if have_module('reqtimeout');
SKIP: {
    skip 'mod_reqtimeout is not there', 3 unless have_module('reqtimeout');
    my @held = map { slow('POST', '/vault/poll') } 1 .. $THREADS / 4;
    is($_->response->{status}, 408, 'a second, and the thread is free') for @held;
    is(scalar(grep { /Request body read timeout/ } error_log_lines()), $THREADS / 4, '... by mod_reqtimeout, not by our own limit');
}

finish();
