# SPDX-License-Identifier: Apache-2.0
# A throttle: a hook before all handlers suspends the request, and after the resume lets the next handler have it, whichever that is.
use strict;
use warnings;
use VaultTest;
use VaultTest::Guest;
use VaultTest::Site;

sub throttled
{
    my ($name, $method, $path, %with) = @_;
    my $connection = $with{on} || connect_to();
    $connection->request($method, $path, {'X-Throttle' => "s06-$name", %{$with{headers} || {}}}, $with{body});
    wait_waiting(1);
    is(status()->{WaitingInThreads}, have_parking() ? 0 : 1, "$name: suspended" . (have_parking() ? ' without a thread' : ''));
    open_barrier("s06-$name");
    my $answer = $connection->response;
    wait_until(sub { text_of("/test/get?name=s06-$name-completed") eq '1' }, "$name: completed once");
    return $answer;
}

my $connection = connect_to();
site_file('/s06.txt', join '', map { "line $_\n" } 1 .. 20_000);
my $file = throttled('file', GET => '/s06.txt', on => $connection);
is($file->{status}, 200, '  a plain file');
is($file->{body}, join('', map { "line $_\n" } 1 .. 20_000), '  comes whole');
my $range = throttled('range', GET => '/s06.txt', on => $connection, headers => {Range => 'bytes=5-10'});
is("$range->{status} $range->{body}", "206 1\nline", '  a part of it as well');
is(throttled('head', HEAD => '/s06.txt', on => $connection)->{headers}{'content-length'}, length $file->{body}, '  and its head');
is(throttled('missing', GET => '/s06-missing.txt', on => $connection)->{status}, 404, '  a file that is not there');
is(throttled('echo', GET => '/test/echo?text=echo', on => $connection)->{body}, 'echo', '  a handler');
my $post = throttled('post', POST => '/suspend/x?body=1&runs=1', on => $connection, body => 'posted');
like($post->{body}, qr/ body=posted$/, '  a handler that reads the body');

SKIP: {
    skip 'mod_proxy_http is not there', 4 unless have_module('proxy_http');
    is(throttled('proxied', GET => '/suspend-proxied/echo?text=proxied', on => $connection)->{body}, 'proxied', '  a backend');
    like(throttled('proxied-post', POST => '/suspend-proxied/said?body=1', on => $connection, body => 'x' x 100_000)->{body},
        qr/^Content-Length: 100000$/m, '  a backend that gets a body');
}

# The page's poll, which is suspended a second time by the dispatcher.
my $page = live_page(['/test/rows?name=s06&interest=s06']);
for my $n (1 .. 2) {
    my $poll = $page->start_poll(undef, 'X-Throttle' => "s06-poll$n");
    wait_waiting(1);
    text_of('/test/add?name=s06&notify=s06') if $n == 1;
    open_barrier("s06-poll$n");
    if ($n == 2) {
        wait_until(sub { text_of('/test/get?name=s06-poll2-suspended') eq '2' }, 'the poll waits, after it was throttled');
        wait_waiting(1);
        text_of('/test/add?name=s06&notify=s06');
    }
    is(VaultTest::Page::text($page->finish_poll($poll)), "$n\n", "a poll that was throttled, $n");
    wait_until(sub { text_of("/test/get?name=s06-poll$n-completed") eq '1' }, '  it is completed once');
}

my $late = connect_to();
$late->request(GET => '/test/echo?text=late', {'X-Throttle' => 's06-late', 'X-Throttle-Time' => 200});
is($late->response->{status}, 503, 'time is up before its turn has come');
open_barrier('s06-late');
wait_waiting(0);

finish();
