# SPDX-License-Identifier: Apache-2.0
# A method that makes the same call twice gets one answer for both, also when the first call found nothing and something happens before the second:
# both have one cursor, so what only the second call saw would never come to the first.
use strict;
use warnings;
use VaultTest;
use VaultTest::Page qw(texts);
use VaultTest::Site;

sub tag { return qq(<!--#feed name="tests" method="count" interest="c51-$_[0]" template="count.html" -->) }

site_file('/feed/count.html', '{{#rows}}{{count}}{{/rows}}');
my $method = site_file('/feed/twice.shtml', join ',', tag('other'), tag('x'), '<!--#include virtual="/test/wait?after=c51" -->' . tag('x'));
live_shtml('/feed/twice-page.shtml', $method, '<p>page</p>');
my $page = open_page('/feed/twice-page.shtml');
open_barrier('c51');
is(texts($page->poll), '1,1,1', 'both calls show the rows of the one');

text_of('/test/close?name=c51');
my $poll = $page->start_poll;
wait_waiting(1);
text_of('/test/notify?interest=c51-other');
wait_arrived('c51', 1);
text_of('/test/notify?interest=c51-x');
open_barrier('c51');
is(texts($page->finish_poll($poll)), '2,,', 'what happens between two calls of a run that are the same is for the next run');
is(texts($page->poll), ',2,2', '... where both show it');

finish();
