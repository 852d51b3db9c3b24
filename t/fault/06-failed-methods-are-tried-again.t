# SPDX-License-Identifier: Apache-2.0
# A method that failed is tried again after a second, then after two: without a notify, and with nothing lost.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/value?name=f06&interest=f06', '/test/status?code=503']);
text_of('/test/set?name=f06&value=first');
is(VaultTest::Page::text($page->poll), 'first', 'what does not fail is answered at once');

my $before = status();
my $poll = $page->start_poll;
wait_waiting(1);
my $after = wait_counter('Runs', $before, 3);
is($after->{Runs} - $after->{Failures}, $before->{Runs} - $before->{Failures}, 'only the one that fails is tried again');
ok($poll->is_silent, 'the poll waits meanwhile');
wait_waiting(1);
wait_until(sub { status()->{WaitingInThreads} == (have_parking() ? 0 : 1) }, 'without a thread, where polls can be parked');

text_of('/test/set?name=f06&value=second&notify=f06');
is(VaultTest::Page::text($page->finish_poll($poll)), 'second', 'and brings what the other one has');

# It recovers: its status is a variable, which changes without a notify, so that only the timer can bring it.
text_of('/test/set?name=f06status&value=500');
my $broken = live_page(['/test/rows?name=f06rows&interest=f06rows&fail-as=f06status']);
text_of('/test/add?name=f06rows');
$before = status();
$poll = $broken->start_poll;
wait_counter('Failures', $before, 1);
text_of('/test/set?name=f06status&value=0');
is(VaultTest::Page::text($broken->finish_poll($poll)), "1\n", 'a method that recovers brings what it has, without a notify');

# It recovers, and has nothing to say: the poll goes on waiting, and is not woken again and again.
text_of('/test/set?name=f06silent&value=500');
my $silent = live_page(['/test/echo?text=&fail-as=f06silent']);
$before = status();
$poll = $silent->start_poll;
wait_counter('Failures', $before, 1);
text_of('/test/set?name=f06silent&value=0');
$after = wait_counter('Runs', $before, 2);
text_of('/test/pid') for 1 .. 20;
cmp_ok(status()->{WakeUps} - $after->{WakeUps}, '<=', 1, 'a method that recovers and has nothing to say leaves the poll asleep');
$poll->close;

announce(qr/VLT00030: method .* failed/);
finish();
