# SPDX-License-Identifier: Apache-2.0
# The connection breaks in the middle of an answer: the browser has no whole answer, so it asks again with the number it
# had.
use strict;
use warnings;
use VaultTest;

text_of('/test/set?name=p03&value=500000');
my $page = live_page(['/test/rows?name=p03&interest=p03'], poll_path => '/large/poll', receive_buffer => 4096);

my $connection = $page->start_poll;
like($connection->read_until("\r\n\r\n"), qr{^HTTP/1\.1 200 }, 'an answer of many megabytes begins');
my $length = length $connection->read_bytes(20_000);
is($length, 20_000, 'a part of it is read');
$connection->reset;

delete $page->{with}{receive_buffer};
my $answer = $page->poll;
my @rows = split /\n/, VaultTest::Page::text($answer);
is(scalar @rows, 500_000, 'all rows come again');
is($rows[0], 1, 'from the first');
is($rows[-1], 500_000, 'to the last');

my $poll = $page->start_poll;
wait_waiting(1);
text_of('/test/add?name=p03&notify=p03');
is(VaultTest::Page::text($page->finish_poll($poll)), "500001\n", 'and afterwards only what is new');

finish();
