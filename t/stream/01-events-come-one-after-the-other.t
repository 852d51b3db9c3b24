# SPDX-License-Identifier: Apache-2.0
# The poll URL, asked by an event source: one answer that goes on and on, each change an event, and no thread that waits.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

my $page = live_page(['/test/rows?name=ev01&interest=ev01']);
my $before = status();
my $stream = VaultTest::Events->open([$page]);
is($stream->{headers}{'content-type'}, 'text/event-stream', 'a stream of events');
is($stream->{headers}{'cache-control'}, 'no-store', 'that no cache keeps');
is($stream->{headers}{'x-accel-buffering'}, 'no', 'nor a proxy keeps back');
like($stream->{beginning}, qr/\Aretry: \d+\n: live\n\n\z/, 'a comment comes at once: no proxy or filter holds it back');

for my $n (1 .. 6) {
    wait_waiting(1);
    is(status()->{WaitingInThreads}, have_parking() ? 0 : 1, 'it waits without a thread, where streams and polls can be parked') if $n == 1;
    ok($stream->is_silent, "it says nothing before change $n");
    text_of('/test/add?name=ev01&notify=ev01');
    my $event = $stream->event;
    is(VaultTest::Page::text($event), "$n\n", '  which is an event of its own');
    is("$event->{page} $event->{seq} $event->{id}", $page->id . " $n $n", '  with page, number and id');
}
my $after = status();
is($after->{Answers} - $before->{Answers}, 6, 'each is counted as an answer');
is($after->{Polls} - $before->{Polls}, 1, 'of one poll');

$page->{seq} = 6;
is(get($page->path . '&ack=1')->{status}, 204, 'an acknowledgement beside it');
wait_waiting(1);
text_of('/test/add?name=ev01&notify=ev01');
is(VaultTest::Page::text($stream->event), "7\n", '  does not end it');

is(get($page->path . '&ack=1', headers => {Accept => 'text/event-stream'})->{status}, 204, 'to acknowledge is no stream, whatever the client accepts');
is(get('/vault/poll?page=unknown&seq=0', headers => {Accept => 'text/event-stream'})->{status}, 410,
    'a stream of an unknown page: 410, where an event source stops');
is(get($page->path, headers => {Accept => 'text/event-stream', 'Last-Event-ID' => $_})->{status}, 400, "Last-Event-ID \"$_\": 400")
    for 'x', '1,2', '-1', '1,', ',';

my $newer = VaultTest::Events->open([$page], last => 7);
my $event = $stream->event;
is("$event->{status} $event->{superseded}", '204 1', 'a newer stream takes the page over');
is($stream->event, undef, '  and the older one ends');
$stream->{connection}->request(GET => '/test/echo?text=next');
is($stream->{connection}->response->{body}, 'next', '  its connection can be used again');
wait_waiting(1);
$newer->reset;
wait_waiting(0);

my $plain = get('/off/poll?page=' . $page->id . '&seq=999', headers => {Accept => 'text/event-stream'});
is($plain->{status}, 410, 'VaultStreamTimeout 0: a poll like any other');
text_of('/test/add?name=ev01&notify=ev01');
$page->{seq} = 7;
$plain = get('/off/poll?page=' . $page->id . '&seq=7', headers => {Accept => 'text/event-stream'});
is("$plain->{status} $plain->{headers}{'content-type'}", '200 application/json', '  answered in JSON');

finish();
