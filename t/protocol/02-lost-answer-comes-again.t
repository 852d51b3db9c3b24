# SPDX-License-Identifier: Apache-2.0
# An answer counts when the next poll acknowledges it: until then the same rows come again, under another number.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p02&interest=p02']);
text_of('/test/add?name=p02');
my $before = status();

my $lost = $page->read_poll($page->start_poll);
is(VaultTest::Page::text($lost), "1\n", 'an answer, lost on its way');
my $again = $page->read_poll($page->start_poll);
is(VaultTest::Page::text($again), "1\n", 'the same poll once more brings the same rows');
isnt($again->{seq}, $lost->{seq}, 'a number is never used twice');

text_of('/test/add?name=p02&notify=p02');
my $third = $page->poll;
is(VaultTest::Page::text($third), "1\n2\n", 'with what has happened meanwhile');
is(status()->{Redelivered} - $before->{Redelivered}, 2, 'both repetitions are counted');

my $poll = $page->start_poll;
wait_waiting(1);
ok($poll->is_silent, 'acknowledged: nothing comes again');
text_of('/test/add?name=p02&notify=p02');
is(VaultTest::Page::text($page->finish_poll($poll)), "3\n", 'but the next row does');

# The property that the method counts with is staged as well: it moves only with an answer that arrived.
my $counting = live_page(['/test/count']);
is(VaultTest::Page::text($counting->read_poll($counting->start_poll)), '1', 'a page property is counted up');
is(VaultTest::Page::text($counting->read_poll($counting->start_poll)), '1', 'not while the answer did not arrive');
is(VaultTest::Page::text($counting->poll), '1', 'however often that happens');

finish();
