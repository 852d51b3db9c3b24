# SPDX-License-Identifier: Apache-2.0
# A child is killed while polls wait in it. The polls of the other children look again, for the dead one may have
# written something and not said so; the pages of its own polls live on and are polled through another child.
use strict;
use warnings;
use VaultTest;

my @children = children(3);
my ($victim, @others) = @children;
my $page_there = live_page(['/test/rows?name=f01&interest=f01']);
my @pages = map { live_page(['/test/rows?name=f01&interest=f01']) } @others;
my $there = $page_there->start_poll(connect_in($victim));
my @polls = map { $pages[$_]->start_poll(connect_in($others[$_])) } 0 .. $#others;
wait_waiting(3);

my $before = status();
kill KILL => $victim;
ok($there->is_closed, 'a poll of the dead child loses its connection');
my $after = wait_counter('NotifyAlls', $before, 1);
cmp_ok($after->{NotifyAlls} - $before->{NotifyAlls}, '>=', 1, 'everybody is notified');
wait_counter('Runs', $before, 2);
wait_waiting(2);
ok($_->is_silent, 'a poll elsewhere looks again, and goes on waiting') for @polls;
wait_replaced($victim);

$there = $page_there->start_poll;
wait_waiting(3);
text_of('/test/add?name=f01&notify=f01');
is(VaultTest::Page::text($page_there->finish_poll($there)), "1\n", 'the page of the dead child\'s poll lives');
is(VaultTest::Page::text($pages[$_]->finish_poll($polls[$_])), "1\n", 'the others are answered') for 0 .. $#pages;

# Several times more, with a poll in the child that is killed and one outside: nothing is lost on the way.
for my $n (2 .. 4) {
    my ($next, $safe) = children(2);
    my $inside = $page_there->start_poll(connect_in($next));
    my $outside = $pages[0]->start_poll(connect_in($safe));
    wait_waiting(2);
    kill KILL => $next;
    ok($inside->is_closed, "kill $n");
    text_of('/test/add?name=f01&notify=f01');
    is(VaultTest::Page::text($pages[0]->finish_poll($outside)), "$n\n", '  the one outside is told');
    is(VaultTest::Page::text($page_there->poll), "$n\n", '  the one inside when it comes back');
    wait_replaced($next);
}

announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
finish();
