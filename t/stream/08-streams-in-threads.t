# SPDX-License-Identifier: Apache-2.0
# Where streams cannot be parked, each holds a thread: no more of them than VaultLongPollThreads, and who comes then is told to come
# later. Under worker, prefork and HTTP/2.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

sub streams_in_threads
{
    my ($mpm) = @_;
    use_server(VaultTest::Server->start("stream-$mpm", mpm => $mpm, config => <<'END'));
VaultLongPollThreads 2
SendBufferSize 65536
<Location "/beat/poll">
    SetHandler vault-poll
    VaultLongPollTimeout 1
    VaultStreamTimeout 3
    VaultMaxOutput 64M
</Location>
END
    my $page = live_page(['/test/rows?name=ev08&interest=ev08']);
    my $stream = VaultTest::Events->open([$page], path => '/beat/poll');
    is($stream->beat, 1, "$mpm: a heart-beat");
    wait_waiting(1);
    is(status()->{WaitingInThreads}, 1, "$mpm: a stream holds a thread");
    text_of('/test/add?name=ev08&notify=ev08');
    is(VaultTest::Page::text($stream->event), "1\n", "$mpm: an event");
    is($stream->event, undef, "$mpm: the end");
    wait_until(sub { !status()->{WaitingInThreads} }, 'the thread is free');
    $stream->{connection}->request(GET => '/test/echo?text=next');
    is($stream->{connection}->response->{body}, 'next', "$mpm: the connection goes on");

    my $slow = VaultTest::Events->open([$page], path => '/beat/poll', last => 1, receive_buffer => 4096);
    wait_waiting(1);
    my $before = status();
    text_of('/test/set?name=ev08&value=100000&notify=ev08');
    wait_counter('ClientsGone', $before, 1);
    wait_until(sub { !status()->{WaitingInThreads} }, 'the thread is free');
    pass("$mpm: one that does not read is dropped");

    my @pages = map { live_page(["/test/rows?name=ev08-$_&interest=ev08-$_"]) } 1 .. 3;
    my @streams = map { VaultTest::Events->open([$_]) } @pages[0, 1];
    wait_waiting(2);
    my $refused = get($pages[2]->path, headers => {Accept => 'text/event-stream'});
    is("$refused->{status} " . ($refused->{headers}{'retry-after'} > 0), '503 1', "$mpm: a third is told to come later");
    $streams[0]->reset;
    wait_waiting(1);
    my $third = VaultTest::Events->open([$pages[2]]);
    wait_waiting(2);
    $_->reset for $streams[1], $third;
    wait_waiting(0);
    return;
}

sub streams_over_http2
{
    my $page = live_page(['/test/rows?name=ev08h2&interest=ev08h2'], vhost => 'vault_h2');
    my $stream = VaultTest::Events->open([$page], vhost => 'vault_h2', http2 => 1);
    is($stream->{beginning}, "retry: 1000\n: live\n\n", 'HTTP/2: a stream begins');
    for my $n (1 .. 3) {
        wait_waiting(1);
        text_of('/test/add?name=ev08h2&notify=ev08h2');
        my $event = $stream->event;
        is("$event->{id} " . VaultTest::Page::text($event), "$n $n\n", "  event $n comes at once");
    }
    wait_waiting(1);
    is(status()->{WaitingInThreads}, 1, '  it holds a thread');
    $stream->reset;
    text_of('/test/add?name=ev08h2&notify=ev08h2');
    wait_waiting(0);
    is(status()->{WaitingInThreads}, 0, '  until its client goes');
    $page->{seq} = 3;
    is(VaultTest::Page::text($page->poll), "4\n", '  which has lost nothing');
    return;
}

for my $mpm (qw(worker prefork)) {
    VaultTest::Server::has_mpm($mpm) ? streams_in_threads($mpm) : diag("httpd has no MPM $mpm");
}
use_server();
have_http2() ? streams_over_http2() : diag('no HTTP/2');
finish();
