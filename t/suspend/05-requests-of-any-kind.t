# SPDX-License-Identifier: Apache-2.0
# Requests of any kind may be suspended: with a body that has not been read, pipelined, HEAD, HTTP/1.0, with filters, with large answers;
# and over HTTP/2 several in one connection.
use strict;
use warnings;
use IO::Uncompress::Gunzip qw(gunzip);
use VaultTest;
use VaultTest::Guest;

# Let it go on once it waits.
sub go_on
{
    my ($guest) = @_;
    wait_waiting(1);
    open_barrier($guest->{name});
    return $guest;
}

sub guest
{
    my ($name, %with) = @_;
    return VaultTest::Guest->start("s05-$name", calls => 'resume', %with);
}

# ---------------------------------------------------------------- bodies
my $connection = connect_to();
my $small = go_on(guest('small', on => $connection, method => 'POST', content => 'small', body => 1));
like($small->response->{body}, qr/^runs=2 .* body=small$/, 'a body that came with the request is read afterwards');

my $large = 'x' x 300_000;
my $late = guest('late', on => $connection, method => 'POST', headers => {'Content-Length' => length $large}, body => 1);
wait_waiting(1);
$connection->send_body(substr $large, 0, 1000);
wait_waiting(1);
open_barrier('s05-late');
$connection->send_body(substr($large, 1000), 1);
is(($late->response->{body} =~ /^runs=2 .* body=(x+)$/)[0], $large, 'one that comes while it waits ends no wait');

my $chunked = guest('chunked', on => $connection, method => 'POST', headers => {'Transfer-Encoding' => 'chunked'}, body => 1);
wait_waiting(1);
$connection->send_chunk('first');
go_on($chunked);
$connection->send_chunk('second', 1);
like($chunked->response->{body}, qr/^runs=2 .* body=firstsecond$/, 'one whose length is not said');

my $asks = guest('asks', on => $connection, method => 'POST', headers => {Expect => '100-continue', 'Content-Length' => 4}, body => 1);
wait_waiting(1);
ok($connection->is_silent, 'a client that asks before it sends is not told to while its request is suspended');
go_on($asks);
is($connection->response->{status}, 100, '  but when the body is read');
$connection->send_body('body', 1);
like($asks->response->{body}, qr/^runs=2 .* body=body$/, '  and then it is');

# ---------------------------------------------------------------- pipelines, or streams
sub pipelines
{
    my $host = "Host: localhost\r\n";
    my $before = guest('before', on => $connection);
    wait_waiting(1);
    $connection->request(GET => '/test/echo?text=later');
    ok($connection->is_silent, 'a pipelined request');
    go_on($before);
    is($before->facts->{runs}, 2, '  is no reason to end the wait');
    is($connection->response->{body}, 'later', '  and is answered after it');

    $connection->send_raw(join '', map { "GET $_ HTTP/1.1\r\n$host\r\n" } '/suspend/x?name=s05-same&calls=resume', '/test/echo?text=same',
        '/suspend/x?name=s05-same2&calls=resume', '/test/echo?text=last');
    wait_waiting(1);
    open_barrier('s05-same');
    like($connection->response->{body}, qr/^runs=2 .* resumed=1 /, 'in the same segment: the first');
    is($connection->response->{body}, 'same', '  the second');
    wait_waiting(1);
    open_barrier('s05-same2');
    like($connection->response->{body}, qr/^runs=2 .* resumed=1 /, '  the third');
    is($connection->response->{body}, 'last', '  and the last');
    return;
}

sub streams
{
    my @guests = map { guest("stream$_", on => $connection) } 1 .. 3;
    wait_waiting(3);
    $connection->request(GET => '/test/echo?text=meanwhile');
    is($connection->newest_response->{body}, 'meanwhile', 'a request on another stream is answered meanwhile');
    ok($connection->is_silent, '  and ends no wait');
    open_barrier('s05-stream2');
    wait_waiting(2);
    open_barrier("s05-stream$_") for 1, 3;
    is($_->facts->{runs}, 2, "  $_->{name} goes on by itself") for @guests;
    return;
}
over() eq 'h2' ? streams() : pipelines();

# ---------------------------------------------------------------- other kinds
my $head = go_on(guest('head', on => $connection, method => 'HEAD'));
is($head->response->{status}, 200, 'HEAD');
$connection->request(GET => '/test/echo?text=on');
is($connection->response->{body}, 'on', '  and the connection stays');

my $bytes = go_on(guest('bytes', on => $connection, bytes => 4_000_000));
is(length $bytes->response->{body}, 4_000_000 + length(($bytes->response->{body} =~ /^(runs=.*wrote=)/)[0]), 'a large answer afterwards');

sub ends_of_connections
{
    my $close = go_on(guest('close', headers => {Connection => 'close'}));
    is($close->facts->{runs}, 2, 'Connection: close');
    ok($close->connection->is_closed, '  is carried out');

    my $old = connect_to(http10 => 1);
    like(go_on(guest('old', on => $old))->response->{body}, qr/^runs=2 /, 'HTTP/1.0');
    ok($old->is_closed, '  ends as it does');
    return;
}
ends_of_connections() unless over() eq 'h2';

my $filtered = go_on(guest('filtered', path => '/suspend-filtered/x', bytes => 5000, headers => {'Accept-Encoding' => 'gzip'}))->response;
is($filtered->{headers}{'content-encoding'}, 'gzip', 'with a filter');
gunzip(\$filtered->{body}, \my $text);
like($text, qr/^runs=2 /, '  which filters once, however often the handlers run');

SKIP: {
    skip 'mod_rewrite is not there', 2 unless have_module('rewrite');
    my $redirected = guest('redirected', path => '/suspend-rewritten/x');
    wait_waiting(1);
    is(status()->{WaitingInThreads}, 1, 'after an internal redirect it waits in a thread');
    is(go_on($redirected)->facts->{runs}, 2, '  and goes on');
}
wait_waiting(0);
finish();
