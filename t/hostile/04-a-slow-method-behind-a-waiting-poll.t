# SPDX-License-Identifier: Apache-2.0
# A method that takes long (it stops at a barrier) runs for a poll that has waited. Meanwhile other pages of the same child go on, a newer
# poll of the same page takes over, a client vanishes, a child dies: nothing is lost, and nothing comes twice.
use strict;
use warnings;
use VaultTest;

my @children = children(2);
my $slow = '/test/rows?name=h04&interest=h04&between=h04';
my $other = live_page(['/test/rows?name=h04other&interest=h04other']);

# Opened at first, so that the polls come to wait; then closed: a poll that is woken stops there.
sub waiting_behind
{
    my ($child) = @_;
    open_barrier('h04');
    my $page = live_page([$slow]);
    my $seen = text_of('/test/get?name=h04') || 0;
    $page->poll if $seen;
    my $poll = $page->start_poll($child ? connect_in($child) : ());
    wait_waiting(1);
    text_of('/test/close?name=h04');
    my $now = text_of('/test/add?name=h04&notify=h04');
    wait_arrived('h04', 1);
    return ($page, $poll, "$now\n");
}

# Other pages, through the same child.
my ($page, $poll, $row) = waiting_behind($children[0]);
for my $n (1 .. 3) {
    my $beside = $other->start_poll(connect_in($children[0]));
    wait_waiting(1);
    text_of('/test/add?name=h04other&notify=h04other');
    is(VaultTest::Page::text($other->finish_poll($beside)), "$n\n", "another page of that child is answered, $n");
}
ok($poll->is_silent, 'the slow one runs on');
open_barrier('h04');
is(VaultTest::Page::text($page->finish_poll($poll)), $row, '  and is answered when it is done');

# A newer poll of the same page, while the older one's method runs.
($page, $poll, $row) = waiting_behind();
my $newer = $page->start_poll;
wait_arrived('h04', 2);
open_barrier('h04');
my $answer = $page->read_poll($poll);
is($answer->{status}, 204, 'a newer poll takes the page over while the method runs: the older has nothing to say');
is($answer->{headers}{'vault-superseded'}, '1', '  and is told why');
is(VaultTest::Page::text($page->finish_poll($newer)), $row, '  the newer brings the row');
my $more = $page->start_poll;
wait_waiting(1);
ok($more->is_silent, '  once');
$more->reset;
wait_waiting(0);

# Its client vanishes.
my $before = status();
($page, $poll, $row) = waiting_behind();
$poll->reset;
open_barrier('h04');
wait_waiting(0);
is(VaultTest::Page::text($page->poll), $row, 'the client vanishes meanwhile: the next poll has the row');

# Its child dies.
($page, $poll, $row) = waiting_behind($children[1]);
kill KILL => $children[1];
ok($poll->is_closed, 'the child dies meanwhile');
open_barrier('h04');
is(VaultTest::Page::text($page->poll), $row, '  the next poll has the row');
wait_replaced($children[1]);

announce(qr/VLT00004:/);
finish();
