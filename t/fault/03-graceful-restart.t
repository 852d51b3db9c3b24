# SPDX-License-Identifier: Apache-2.0
# A graceful restart while polls wait: they end with 204 at once, the old children go, and the pages go on with the new
# ones.
use strict;
use warnings;
use Time::HiRes ();
use VaultTest;

my @pages = map { live_page(['/test/rows?name=f03&interest=f03']) } 1 .. 6;
text_of(q(/test/add?name=f03&notify=f03));
is(VaultTest::Page::text($_->poll), "1\n", 'a page before the restart') for @pages;

for my $n (2 .. 3) {
    my @old = children(3);
    my @polls = map { $_->start_poll } @pages;
    wait_waiting(scalar @pages);
    my $begin = Time::HiRes::time();
    graceful_restart();
    is($pages[$_]->read_poll($polls[$_])->{status}, 204, "restart $n: a poll that waited ends without news") for 0 .. $#pages;
    cmp_ok(Time::HiRes::time() - $begin, '<', 40, '  before its time, which is 45 s at least');
    ok($_->is_closed, '  and its connection ends') for @polls;
    wait_until(sub { !grep { kill 0, $_ } @old }, 'the old children go');
    text_of('/test/add?name=f03&notify=f03');
    is(VaultTest::Page::text($_->poll), "$n\n", '  the page goes on, nothing is lost') for @pages;
}

# A poll whose method runs during the restart.
my $page = live_page(['/test/rows?name=f03&interest=f03&between=f03']);
my $poll = $page->start_poll;
wait_arrived('f03', 1);
graceful_restart();
open_barrier('f03');
is(VaultTest::Page::text($page->finish_poll($poll)), "1\n2\n3\n", 'a method that runs during the restart ends its work');
text_of('/test/add?name=f03&notify=f03');
is(VaultTest::Page::text($page->poll), "4\n", 'and the page goes on with the new children');

finish();
