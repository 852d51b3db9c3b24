# SPDX-License-Identifier: Apache-2.0
# A browser duplicates a tab: the copy has the same page and number but is another tab. It is told to load the page
# anew, and the first one goes on as if nothing had happened.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p10&interest=p10'], tab => '0123456789abcdef' x 2);
text_of('/test/add?name=p10');
$page->poll;
my $poll = $page->start_poll;
wait_waiting(1);

my $copy = $page->duplicate(tab => 'fedcba9876543210' x 2);
is($copy->poll->{status}, 410, 'the copy has to load the page anew');
is(get($copy->path . '&ack=1')->{status}, 410, 'nor may it acknowledge');
ok($poll->is_silent, 'the first tab still waits');
text_of('/test/add?name=p10&notify=p10');
is(VaultTest::Page::text($page->finish_poll($poll)), "2\n", 'and is answered');

my $simple = live_page(['/test/rows?name=p10&interest=p10']);
is(VaultTest::Page::text($simple->poll), "1\n2\n", 'a client without a tab');
my $named = $simple->duplicate(tab => 'a' x 32);
text_of('/test/add?name=p10&notify=p10');
is(VaultTest::Page::text($named->poll), "3\n", 'the first to say its tab has the page');
my $other = $named->duplicate(tab => 'b' x 32);
is($other->poll->{status}, 410, 'and no other one');

finish();
