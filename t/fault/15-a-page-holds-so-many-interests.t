# SPDX-License-Identifier: Apache-2.0
# VaultMaxPageInterests: a method that wants one more fails and says so; the page's others go on.
use strict;
use warnings;
use VaultTest;

use_server(VaultTest::Server->start('interests', config => "VaultMaxPageInterests 2\n"));
my $page = live_page([map { "/test/rows?name=f15-$_&interest=f15-$_" } 1 .. 3]);
announce(qr{VLT00030: method /test/rows\?name=f15-3&interest=f15-3 failed: the interest "f15-3" cannot be kept: VaultMaxPageInterests});
my $poll = $page->start_poll;
wait_until(sub { status()->{Failures} > 0 }, 'the third method fails');
text_of('/test/add?name=f15-2&notify=f15-2');
my $answer = $page->finish_poll($poll);
is(scalar @{$answer->{updates}}, 1, 'another method answers');
is($answer->{updates}[0]{body}, "1\n", '... what is new');
is(text_of('/test/notify?interest=f15-3'), 'nobody', 'no page holds the third interest');

finish();
