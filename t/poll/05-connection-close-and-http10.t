# SPDX-License-Identifier: Apache-2.0
# Clients that want their connection closed: with Connection: close, and by HTTP/1.0, with and without keep-alive.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=w05&interest=w05'], poll_path => '/vault/poll');
my $n = 0;
my @rows = (
    ['Connection: close',               {},            {Connection => 'close'},      1],
    ['HTTP/1.0',                        {http10 => 1}, {},                           1],
    ['HTTP/1.0 with keep-alive',        {http10 => 1}, {Connection => 'keep-alive'}, 0],
    ['HTTP/1.0 without a Host',         {http10 => 1}, {Host => undef},              1],
);
for my $row (@rows) {
    my ($what, $with, $headers, $closes) = @$row;
    my $connection = connect_to(%$with);
    my $poll = $page->start_poll($connection, %$headers);
    wait_waiting(1);
    text_of('/test/add?name=w05&notify=w05');
    is(VaultTest::Page::text($page->finish_poll($poll)), ++$n . "\n", "$what: the poll waits and is answered");
    if ($closes) {
        ok($connection->is_closed, '  and the connection is closed');
    }
    else {
        $connection->request(GET => '/test/echo?text=more', $headers);
        is($connection->response->{body}, 'more', '  and the connection stays');
    }
}

$page->{with}{poll_path} = '/quick/poll';
my $connection = connect_to();
is($page->poll($connection, Connection => 'close')->{status}, 204, 'Connection: close, and time is up');
ok($connection->is_closed, '  the connection is closed as well');

finish();
