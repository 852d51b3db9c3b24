# SPDX-License-Identifier: Apache-2.0
# A poll by POST: parameters in the form, the wait and the answer as with GET.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p13&interest=p13']);
my $form = sub { 'page=' . $page->id . '&seq=' . $page->seq };
my $type = {'Content-Type' => 'application/x-www-form-urlencoded'};
my $connection = connect_to();

for my $n (1 .. 3) {
    $connection->request(POST => '/vault/poll', $type, $form->());
    wait_waiting(1);
    text_of('/test/add?name=p13&notify=p13');
    is(VaultTest::Page::text($page->finish_poll($connection)), "$n\n", "poll $n by POST waits and is answered");
}

# The body comes late: the poll does not begin before it is there.
my $body = $form->();
$connection->send_raw("POST /vault/poll HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        . 'Content-Length: ' . length($body) . "\r\nExpect: 100-continue\r\n\r\n");
like($connection->read_until("\r\n\r\n"), qr{^HTTP/1\.1 100 }, 'the server asks for the body');
my $polls = status()->{Polls};
$connection->send_raw(substr $body, 0, 10);
is(status()->{Polls}, $polls, 'half a body is no poll yet');
$connection->send_raw(substr $body, 10);
wait_waiting(1);
text_of('/test/add?name=p13&notify=p13');
is(VaultTest::Page::text($page->finish_poll($connection)), "4\n", 'a body in two parts');

# Both have them: the form replaces what the query says.
$connection->request(POST => '/vault/poll?seq=0&page=unknown', $type, $form->());
wait_waiting(1);
text_of('/test/add?name=p13&notify=p13');
is(VaultTest::Page::text($page->finish_poll($connection)), "5\n", 'the form counts before the query');

finish();
