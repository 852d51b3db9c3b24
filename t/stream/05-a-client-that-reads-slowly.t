# SPDX-License-Identifier: Apache-2.0
# A client does not read its events: they wait for its socket, no thread does; its page does not run on; when it reads, all come. One that
# never reads is dropped, and what it missed comes again.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

use constant ROWS => 100_000;

my $server = VaultTest::Server->start('stream-slow', config => <<'END');
SendBufferSize 65536
<Location "/short/poll">
    SetHandler vault-poll
    VaultLongPollTimeout 1
    VaultMaxOutput 64M
</Location>
END
use_server($server);

# More of them than there are threads.
text_of('/test/set?name=ev05&value=0');
my @pages = map { live_page(['/test/rows?name=ev05&interest=ev05']) } 1 .. 10;
my @slow = map { VaultTest::Events->open([$_], path => '/large/poll', receive_buffer => 4096) } @pages;
wait_waiting(scalar @slow);
my $before = status();
text_of('/test/set?name=ev05&value=' . ROWS . '&notify=ev05');
wait_counter('Answers', $before, scalar @slow);
wait_waiting(scalar @slow);
is(status()->{WaitingInThreads}, 0, 'ten clients that do not read hold no thread');
text_of('/test/add?name=ev05&notify=ev05');
my $quick = live_page(['/test/rows?name=ev05quick&interest=ev05quick']);
my $poll = $quick->start_poll;
wait_waiting(@slow + 1);
my $runs = status()->{Runs};
text_of('/test/add?name=ev05quick&notify=ev05quick');
is(VaultTest::Page::text($quick->finish_poll($poll)), "1\n", 'another page is answered meanwhile');
is(status()->{Runs}, $runs + 1, 'their own pages do not run on: what happens waits until they have read');

my @rows = split /\n/, VaultTest::Page::text($slow[0]->event);
is("$rows[0] $rows[-1] " . @rows, '1 ' . ROWS . ' ' . ROWS, 'who reads at last gets all of it');
is(VaultTest::Page::text($slow[0]->event), (ROWS + 1) . "\n", '  and then what happened meanwhile');
$_->reset for @slow;
wait_waiting(0);

# One that reads all the time, but slowly, for longer than a poll waits: its page is still its own.
my $patient = live_page(['/test/rows?name=ev05p&interest=ev05p']);
my $reader = VaultTest::Events->open([$patient], path => '/short/poll', receive_buffer => 4096);
wait_waiting(1);
text_of('/test/set?name=ev05p&value=1&notify=ev05p');
is(VaultTest::Page::text($reader->event), "1\n", 'an event');
wait_waiting(1);
text_of('/test/set?name=ev05p&value=' . ROWS . '&notify=ev05p');
my $until = time + 3;
while (time < $until) {
    $reader->read_on;
    select undef, undef, undef, 0.15; # it is slow
}
is(get('/vault/poll?page=' . $patient->id . '&seq=1&ack=1')->{status}, 204, 'acknowledged while the next one is being sent');
@rows = split /\n/, VaultTest::Page::text($reader->event);
is($rows[-1], ROWS, '  which comes, whole');
text_of('/test/add?name=ev05p&notify=ev05p');
is($reader->event->{status}, undef, '  and the stream goes on');
$reader->reset;
wait_waiting(0);

my $page = live_page(['/test/rows?name=ev05b&interest=ev05b']);
my $never = VaultTest::Events->open([$page], path => '/short/poll', receive_buffer => 4096);
wait_waiting(1);
$before = status();
text_of('/test/set?name=ev05b&value=' . ROWS . '&notify=ev05b');
wait_counter('ClientsGone', $before, 1);
wait_waiting(0);
pass('a client that takes nothing for a while is dropped');
is(eval { $never->event; 1 }, undef, '  and what it has of an event is no event');
my $again = VaultTest::Events->open([$page], path => '/large/poll', last => 0);
@rows = split /\n/, VaultTest::Page::text($again->event);
is(scalar @rows, ROWS, '  which comes again, whole');

finish();
