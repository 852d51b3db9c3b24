# SPDX-License-Identifier: Apache-2.0
# Time is up: 204, no body, no news; the next poll goes on where this one was.
use strict;
use warnings;
use Time::HiRes ();
use VaultTest;

my $page = live_page(['/test/rows?name=w02&interest=w02'], poll_path => '/quick/poll');
my $before = status();
my $connection = connect_to();
my $begin = Time::HiRes::time();
my $answer = $page->poll($connection);
my $took = Time::HiRes::time() - $begin;
is($answer->{status}, 204, 'time is up');
is($answer->{headers}{'cache-control'}, 'no-store', 'and no cache keeps that');
is($answer->{headers}{'content-length'}, undef, 'a 204 has no length');
cmp_ok($took, '>=', 0.85, 'after VaultLongPollTimeout, less a tenth at the most');
is(status()->{Timeouts} - $before->{Timeouts}, 1, 'it is counted');
is(status()->{Runs} - $before->{Runs}, 1, 'the method ran once, since a new page looks at all it has, and not again for nothing');

is($page->poll($connection)->{status}, 204, 'another one on the same connection');
text_of('/test/add?name=w02&notify=w02');
is(VaultTest::Page::text($page->poll($connection)), "1\n", 'what happened between two polls is not lost');

# A time-out that falls together with a notification loses nothing either.
my $seen = 1;
for (1 .. 5) {
    my $poll = $page->start_poll;
    text_of('/test/add?name=w02&notify=w02');
    $answer = $page->finish_poll($poll);
    $answer = $page->poll if $answer->{status} == 204;
    is(VaultTest::Page::text($answer), ++$seen + 0 . "\n", "row $seen");
}

finish();
