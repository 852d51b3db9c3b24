# SPDX-License-Identifier: Apache-2.0
# A client sends further requests before its poll is answered. The poll is answered at once, without news, so that the
# others have their turn: when they came in the same segment, when they come while the poll waits, and when the poll
# itself comes behind others.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=w06&interest=w06']);
my $host = "Host: localhost\r\n";

my $c = connect_to();
$c->send_raw('GET ' . $page->path . " HTTP/1.1\r\n$host\r\nGET /test/echo?text=second HTTP/1.1\r\n$host\r\n");
is($page->read_poll($c)->{status}, 204, 'a request in the same segment: the poll ends without news');
is($c->response->{body}, 'second', '  and the request is answered');

$page->start_poll($c);
wait_waiting(1);
$c->request(GET => '/test/echo?text=later');
is($page->read_poll($c)->{status}, 204, 'a request while the poll waits: the same');
is($c->response->{body}, 'later', '  and in order');

$c->send_raw("GET /test/echo?text=first HTTP/1.1\r\n$host\r\nGET " . $page->path . " HTTP/1.1\r\n$host\r\n");
is($c->response->{body}, 'first', 'a poll behind a plain request: that is answered first');
wait_waiting(1);
ok($c->is_silent, '  then the poll waits');
text_of('/test/add?name=w06&notify=w06');
is(VaultTest::Page::text($page->finish_poll($c)), "1\n", '  and is answered');

# Half a request: enough to end the poll; the rest may come when it likes. Where the poll waits in a thread
# it does so too, but httpd itself keeps the answer back until that request is whole.
if (have_parking()) {
    $page->start_poll($c);
    wait_waiting(1);
    $c->send_raw('GET /test/echo?text=ha');
    is($page->read_poll($c)->{status}, 204, 'the first bytes of a request end the poll');
    $c->send_raw("lf HTTP/1.1\r\n$host\r\n");
    is($c->response->{body}, 'half', '  and the request is whole when the rest has come');
}

# Ten polls in one segment: all but the last end at once.
$c->send_raw(join '', ('GET ' . $page->path . " HTTP/1.1\r\n$host\r\n") x 10);
is($page->read_poll($c)->{status}, 204, "poll $_ of ten in one segment") for 1 .. 9;
wait_waiting(1);
text_of('/test/add?name=w06&notify=w06');
is(VaultTest::Page::text($page->finish_poll($c)), "2\n", 'the last one waits and is answered');

# News and a pipelined request: the news are not held back.
text_of('/test/add?name=w06&notify=w06');
$c->send_raw('GET ' . $page->path . " HTTP/1.1\r\n$host\r\nGET /test/echo?text=behind HTTP/1.1\r\n$host\r\n");
is(VaultTest::Page::text($page->finish_poll($c)), "3\n", 'news come all the same');
is($c->response->{body}, 'behind', '  and so does what is behind');

# What is no request at all.
$page->start_poll($c);
wait_waiting(1);
$c->send_raw("\x16\x03\x01\x00garbage\r\n\r\n");
is($page->read_poll($c)->{status}, 204, 'garbage ends the poll');
like($c->read_to_end, qr{^HTTP/1\.1 400 }, '  and is answered as garbage is');

finish();
