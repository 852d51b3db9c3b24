# SPDX-License-Identifier: Apache-2.0
# A client of a stream over HTTP/2 does not let the server send: it holds one thread, counted as any that waits, and is dropped when it
# takes nothing for as long as a poll waits; others are served meanwhile. What it did not get comes when it asks again.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

plan(skip_all => 'mod_http2 or Protocol::HTTP2 is not there') unless have_http2();

# Enough for the beginning of a stream, not for an event. The last of the rows fill many parcels.
use constant {SMALL => 1000, ROWS => 100_000, THREADS => 3};

my $server = VaultTest::Server->start('stream-http2', config => <<"END");
Protocols h2c http/1.1
VaultLongPollThreads @{[THREADS]}
<Location "/short/poll">
    SetHandler vault-poll
    VaultLongPollTimeout 1
    VaultMaxOutput 64M
</Location>
END
use_server($server);

sub page   { return live_page(["/test/rows?name=$_[0]&interest=$_[0]"]) }
sub stream { my ($page, %with) = @_; return VaultTest::Events->open([$page], http2 => 1, %with) }
sub rows   { return scalar(my @rows = split /\n/, VaultTest::Page::text($_[0])) }

# It stands in its thread, counted, and has not been given all of its event. The heart-beat of another one may be under way.
sub wait_stuck
{
    my ($name, $n) = @_;
    my $before = status();
    text_of("/test/set?name=$name&value=" . ROWS . "&notify=$name");
    wait_counter('Answers', $before, $n);
    wait_until(sub { status()->{WaitingInThreads} == $n }, "$n streams stand in threads");
    return;
}

# ---------------------------------------------------------------- as long as they may
my @pages = map { page('ev09') } 1 .. THREADS;
my @slow = map { stream($_, path => '/large/poll', window => SMALL) } @pages;
wait_waiting(scalar @slow);
wait_stuck('ev09', THREADS);
pass('clients that do not read hold the threads that polls may hold');
my $late = page('ev09late');
my $connection = connect_to(http2 => 1);
my $refused = $late->poll($connection);
is("$refused->{status} " . ($refused->{headers}{'retry-after'} > 0), '503 1', '  and no more: another poll is told to come later');
$slow[0]{connection}->request(GET => '/test/echo?text=beside');
is($slow[0]{connection}->newest_response->{body}, 'beside', '  another request in such a connection is answered');
my @others = map { connect_to(http2 => 1)->request(GET => '/test/echo?text=other') } 1 .. 6;
is($_->response->{body}, 'other', '  and those of other connections') for @others;
my $runs = status()->{Runs};
text_of('/test/add?name=ev09&notify=ev09');

# ---------------------------------------------------------------- one reads at last, the others go
$slow[0]{connection}->open_window;
is(rows($slow[0]->event), ROWS, 'who reads at last gets all of it');
is(VaultTest::Page::text($slow[0]->event), (ROWS + 1) . "\n", '  and then what happened meanwhile');
is(status()->{Runs}, $runs + 1, '  for which the pages of the others did not run');
my $before = status();
$slow[1]{connection}->cancel;
$slow[2]->reset;
wait_counter('ClientsGone', $before, 2);
wait_until(sub { status()->{WaitingInThreads} == 1 }, 'their threads are free');
pass('a stream that is cancelled, or loses its connection, while it cannot be written to frees its thread');
my $again = stream($pages[1], path => '/large/poll', last => 0);
is(rows($again->event), ROWS + 1, '  and when it is asked for again, nothing is lost');
$_->reset for $again, $slow[0];
wait_waiting(0);

# ---------------------------------------------------------------- too long
my $page = page('ev09b');
my $never = stream($page, path => '/short/poll', window => SMALL);
wait_waiting(1);
$before = status();
text_of('/test/set?name=ev09b&value=' . ROWS . '&notify=ev09b');
wait_counter('ClientsGone', $before, 1);
wait_until(sub { !status()->{WaitingInThreads} }, 'the thread is free');
pass('a client that takes nothing for as long as a poll waits is dropped');
$again = stream($page, path => '/large/poll', last => 0);
is(rows($again->event), ROWS, '  and nothing is lost');
$again->reset;
$never->{connection}->open_window;
is(eval { $never->event }, undef, '  what it has of an event, when it opens its window after all, is no event');
wait_waiting(0);

# A small event fits into the buffers, heart-beats as well, for a while.
$never = stream($page, path => '/short/poll', window => SMALL, last => 1);
wait_waiting(1);
$before = status();
text_of('/test/add?name=ev09b&notify=ev09b');
is(VaultTest::Page::text($never->event), (ROWS + 1) . "\n", 'a small event comes through a small window');
$never->beat for 1 .. 2;
pass('  and so do heart-beats');
$never->reset;
wait_waiting(0);

# ---------------------------------------------------------------- one that reads all the time, but slowly
my $patient = page('ev09p');
my $reader = stream($patient, path => '/short/poll', window => SMALL);
wait_waiting(1);
text_of('/test/set?name=ev09p&value=' . ROWS . '&notify=ev09p');
my $begin = Time::HiRes::time();
while (Time::HiRes::time() < $begin + 3) {
    $reader->{connection}->let_come(10_000);
    $reader->read_on;
    select undef, undef, undef, 0.05;    # it is slow
}
$reader->{connection}->open_window;
is(rows($reader->event), ROWS, 'who reads slowly, for longer than a poll waits, gets all of it');
text_of('/test/add?name=ev09p&notify=ev09p');
is(VaultTest::Page::text($reader->event), (ROWS + 1) . "\n", '  and the stream goes on');

# ---------------------------------------------------------------- one that reads as quickly as it can
for my $n (2 .. 6) {    # a page has no more than eight answers on their way
    text_of('/test/add?name=ev09p&notify=ev09p');
    my $text = VaultTest::Page::text($reader->event);
    is($text, (ROWS + $n) . "\n", "event $n") if $text ne (ROWS + $n) . "\n";
}
pass('quick events come one by one');
$reader->reset;
wait_waiting(0);

finish();
