# SPDX-License-Identifier: Apache-2.0
# Answers overtake each other: the one made first arrives, and is acknowledged when a second one has been staged
# already.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p04&interest=p04']);
text_of('/test/add?name=p04');
my $first = $page->read_poll($page->start_poll);
text_of('/test/add?name=p04&notify=p04');
my $second = $page->read_poll($page->start_poll);
is(VaultTest::Page::text($first), "1\n", 'the first answer has one row');
is(VaultTest::Page::text($second), "1\n2\n", 'the second, made since the first seemed lost, has both');

$page->{seq} = $first->{seq};
is(VaultTest::Page::text($page->poll), "2\n", 'the browser has the first after all: only the second row is missing');

text_of('/test/add?name=p04&notify=p04');
my @lost = map { $page->read_poll($page->start_poll) } 1 .. 3;
is(VaultTest::Page::text($_), "3\n", 'three answers in a row are lost') for @lost;
$page->{seq} = $lost[0]{seq};
is($page->poll->{status}, 410, 'an answer older than the two newest can no longer be acknowledged');
$page->{seq} = $lost[1]{seq};
text_of('/test/add?name=p04&notify=p04');
is(VaultTest::Page::text($page->poll), "4\n", 'the refused number has changed nothing: the older of the two still counts');
$page->{seq} = $lost[2]{seq};
is($page->poll->{status}, 410, 'and then the other does not any more');

finish();
