# SPDX-License-Identifier: Apache-2.0
# Queries and bodies as no browser sends them: refused or passed over, and the connection stays in step.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p09&interest=p09']);
my ($id, $n) = ($page->id, 0);

# The page has this many rows to tell, each time one more.
sub row { text_of('/test/add?name=p09&notify=p09'); return ++$n . "\n" }

my $many = join '&', map { "x$_=$_" } 1 .. 200;
is(get("/vault/poll?page=$id&seq=0&$many")->{status}, 400, '200 parameters: 400');
is(post('/vault/poll', "page=$id&seq=0&$many")->{status}, 413, '200 fields in a form: 413');

my $connection = connect_to();
$connection->request(POST => '/vault/poll', {'Content-Type' => 'application/x-www-form-urlencoded'}, 'page=' . 'x' x 1_000_000);
is($connection->response->{status}, 413, 'a form of a megabyte: 413');

my $wanted = row();
my $answer = $page->finish_poll(do {
    my $c = connect_to();
    $c->request(POST => $page->path, {'Content-Type' => 'application/json'}, '{"page":"' . 'y' x 1_000_000 . '"}');
    $c;
});
is($answer->{status}, 200, 'a body of a megabyte that is no form is read and passed over');
is(VaultTest::Page::text($answer), $wanted, 'the query counts');

for my $type ('text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded-not', '', 'garbled') {
    is(post('/vault/poll', "page=$id&seq=" . $page->seq, headers => {'Content-Type' => $type})->{status}, 415,
        "a form said to be \"$type\" is none: page and seq are missing");
}
is(post('/vault/poll', "page=$id&seq=%zz")->{status}, 400, 'a broken escape in a form: 400');
is(post('/vault/poll', "page=$id%00&seq=0")->{status}, 400, 'a NUL in a form: 400');

$wanted = row();
is(VaultTest::Page::text($page->finish_poll(do {
    my $c = connect_to();
    $c->request(GET => "/vault/poll?page=wrong&&seq=0&=&page=$id&seq=" . $page->seq . '&', {});
    $c;
})), $wanted, 'a name that comes twice counts as it was said last');

$wanted = row();
my $c = connect_to();
$c->request(GET => $page->path, {'X-Long' => 'z' x 8000});
is(VaultTest::Page::text($page->finish_poll($c)), $wanted, 'a long header is none of our business');
$c->request(GET => '/vault/poll?page=' . 'a' x 20_000);
is($c->response->{status}, 414, 'a request line of 20,000 bytes is refused by the core');

$c = connect_to();
$wanted = row();
$c->request(POST => $page->path, {'Content-Type' => 'text/plain'}, 'some bytes');
is(VaultTest::Page::text($page->finish_poll($c)), $wanted, 'a poll with a body');
$c->request(GET => '/test/echo?text=next');
is($c->response->{body}, 'next', 'and the next request on its connection begins behind the body');

# A body in chunks.
$wanted = row();
$c->send_raw('POST ' . $page->path . " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
is(VaultTest::Page::text($page->finish_poll($c)), $wanted, 'a body in chunks is read as well');

finish();
