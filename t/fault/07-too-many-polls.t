# SPDX-License-Identifier: Apache-2.0
# VaultMaxWaiting: a poll more than may wait is answered 503 with Retry-After, and the others are not disturbed.
use strict;
use warnings;
use VaultTest;

needs_parking();

use_server(VaultTest::Server->start('too-many', config => "VaultMaxWaiting 3\n"));
my @pages = map { live_page(['/test/rows?name=f07&interest=f07']) } 1 .. 4;
my @polls = map { $pages[$_]->start_poll } 0 .. 2;
wait_waiting(3);
my $before = status();
my $answer = $pages[3]->poll;
is($answer->{status}, 503, 'one poll too many');
like($answer->{headers}{'retry-after'}, qr/^\d+$/, '  is told when to try again');
like($answer->{body}, qr/^\{"error":"too many polls wait/, '  and why');
is(status()->{Refused} - $before->{Refused}, 1, '  and counted');
wait_waiting(3);
ok($_->is_silent, 'the others still wait') for @polls;

text_of('/test/add?name=f07&notify=f07');
is(VaultTest::Page::text($pages[$_]->finish_poll($polls[$_])), "1\n", 'and are answered') for 0 .. 2;
is(VaultTest::Page::text($pages[3]->poll), "1\n", 'the refused page has lost nothing');


announce(qr/VLT00008: only 3 polls can wait in each child/);
finish();
