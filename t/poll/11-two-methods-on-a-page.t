# SPDX-License-Identifier: Apache-2.0
# A page with several methods: one answer carries what each has written; both see a move of an interest they share; each
# runs only when something of its own has moved; and one that fails does not silence the other.
use strict;
use warnings;
use VaultTest;

my ($left, $right, $bad) = ('/test/rows?name=w11a&interest=w11', '/test/rows?name=w11b&interest=w11', '/test/status?code=500');
my $page = live_page([$left, $right]);
text_of('/test/add?name=w11a');
text_of('/test/add?name=w11b');
my $answer = $page->poll;
is_deeply([map { "$_->{method} $_->{body}" } @{$answer->{updates}}], ["$left 1\n", "$right 1\n"], 'both write, in their order');

my $poll = $page->start_poll;
wait_waiting(1);
my $before = status();
text_of('/test/add?name=w11b&notify=w11');
$answer = $page->finish_poll($poll);
is_deeply([map { "$_->{method} $_->{body}" } @{$answer->{updates}}], ["$right 2\n"], 'a shared interest: both look, one has news');
is(status()->{Runs} - $before->{Runs}, 2, 'two runs');

my $apart = live_page(['/test/rows?name=w11a&interest=w11only-a', '/test/rows?name=w11b&interest=w11only-b']);
$apart->poll;
$poll = $apart->start_poll;
wait_waiting(1);
$before = status();
text_of('/test/add?name=w11a&notify=w11only-a');
is(VaultTest::Page::text($apart->finish_poll($poll)), "2\n", 'interests apart: the one that moved has news');
is(status()->{Runs} - $before->{Runs}, 1, 'and it alone was run');

my $mixed = live_page([$bad, $left, '/nowhere/at/all']);
$before = status();
$answer = $mixed->poll;
is_deeply([map { "$_->{method} $_->{body}" } @{$answer->{updates}}], ["$left 1\n2\n"], 'between two that fail one answers');
is(status()->{Failures} - $before->{Failures}, 2, 'both failures are counted');
text_of('/test/add?name=w11a&notify=w11');
is(VaultTest::Page::text($mixed->poll), "3\n", 'and it goes on answering, each row once');

announce(qr/VLT00030: method .* failed/);
finish();
