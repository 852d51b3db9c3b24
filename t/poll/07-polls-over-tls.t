# SPDX-License-Identifier: Apache-2.0
# Over TLS a poll waits as without it: keep-alive, hang-ups, pipelined requests, time-outs, an answer larger than a
# record.
use strict;
use warnings;
use VaultTest;

if (!have_tls()) {
    plan(skip_all => 'mod_ssl, openssl or IO::Socket::SSL is not there');
}
my %tls = (vhost => 'vault_tls', tls => 1);
my $page = live_page(['/test/rows?name=w07&interest=w07'], %tls);
my $connection = connect_to(%tls);
for my $n (1 .. 5) {
    my $poll = $page->start_poll($connection);
    wait_waiting(1);
    is(status()->{WaitingInThreads}, have_parking() ? 0 : 1, 'without a thread, where polls can be parked') if $n == 1;
    text_of('/test/add?name=w07&notify=w07');
    is(VaultTest::Page::text($page->finish_poll($poll)), "$n\n", "poll $n on one TLS connection");
}

$page->start_poll($connection);
wait_waiting(1);
$connection->request(GET => '/test/echo?text=later');
is($page->read_poll($connection)->{status}, 204, 'a request while the poll waits ends it');
is($connection->response->{body}, 'later', '  and is answered');

my $host = "Host: localhost\r\n";
$connection->send_raw('GET ' . $page->path . " HTTP/1.1\r\n$host\r\nGET /test/echo?text=same HTTP/1.1\r\n$host\r\n");
is($page->read_poll($connection)->{status}, 204, 'one in the same record as well: it lies decrypted where no socket shows it');
is($connection->response->{body}, 'same', '  and is answered');

my $before = status();
$page->start_poll($connection);
wait_waiting(1);
$connection->close;
wait_waiting(0);
wait_counter('ClientsGone', $before, 1);
pass('a TLS client that hangs up is forgotten');

$page->{with}{poll_path} = '/quick/poll';
is($page->poll->{status}, 204, 'time is up');

text_of('/test/set?name=w07&value=100005&notify=w07');
my @rows = split /\n/, VaultTest::Page::text($page->poll);
is(scalar @rows, 100_000, 'an answer of many records arrives whole');

$page->{with}{poll_path} = '/vault/poll';
$connection = connect_to(%tls);
$page->start_poll($connection, Connection => 'close');
wait_waiting(1);
text_of('/test/add?name=w07&notify=w07');
is(VaultTest::Page::text($page->finish_poll($connection)), "100006\n", 'Connection: close');
ok($connection->is_closed, '  is carried out');

finish();
