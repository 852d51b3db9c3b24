# SPDX-License-Identifier: Apache-2.0
# Two tabs that load the same URL are two pages: each has its own place in what it was told.
use strict;
use warnings;
use VaultTest;

my @pages = map { live_page(['/test/rows?name=p11&interest=p11'], tab => $_ x 32) } 'a', 'b';
isnt($pages[0]->id, $pages[1]->id, 'each view is a page of its own');

text_of('/test/add?name=p11');
is(VaultTest::Page::text($pages[0]->poll), "1\n", 'one has seen the first row');
my $poll = $pages[0]->start_poll;
wait_waiting(1);
is(VaultTest::Page::text($pages[1]->poll), "1\n", 'the other sees it as well');
ok($poll->is_silent, 'without disturbing the first');

my @polls = ($poll, $pages[1]->start_poll);
wait_waiting(2);
text_of('/test/add?name=p11&notify=p11');
is(VaultTest::Page::text($pages[$_]->finish_poll($polls[$_])), "2\n", "page $_ is told the second") for 0, 1;

finish();
