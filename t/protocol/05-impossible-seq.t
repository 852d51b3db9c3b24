# SPDX-License-Identifier: Apache-2.0
# A number that the page never gave, or that is none: refused, and the page goes on undisturbed.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p05&interest=p05']);
text_of('/test/add?name=p05');
$page->poll;
my $poll = $page->start_poll;
wait_waiting(1);

my @rows = (
    ['999999',               410, 'a number that was never given'],
    ['0',                    410, 'the number of a state that the browser has left behind'],
    ['9223372036854775807',  410, 'the largest number there is'],
    ['18446744073709551615', 400, 'a number that does not fit'],
    ['9' x 5000,             400, 'a number of 5,000 digits'],
    ['-1',                   400, 'a negative number'],
    ['+1',                   400, 'a sign'],
    ['1.5',                  400, 'a fraction'],
    ['0x1',                  400, 'a hexadecimal number'],
    ['%201',                 400, 'a blank before the number'],
    ['1%20',                 400, 'a blank behind it'],
    ['1%00',                 400, 'a NUL'],
    ['%zz',                  400, 'a broken escape'],
    ['one',                  400, 'a word'],
    ['',                     400, 'nothing'],
);
for my $row (@rows) {
    my ($seq, $status, $why) = @$row;
    my $answer = get('/vault/poll?page=' . $page->id . "&seq=$seq");
    is($answer->{status}, $status, "$why: $status");
    is($answer->{headers}{'cache-control'}, 'no-store', '  and not cached') if $status == 410;
}
my $answer = get('/vault/poll?page=' . $page->id);
is($answer->{status}, 400, 'no number at all: 400');
like($answer->{body}, qr/^\{"error":"a poll needs page=ID and seq=N/, 'with a sentence that says what is needed');

ok($poll->is_silent, 'the poll that waits was not disturbed by any of them');
text_of('/test/add?name=p05&notify=p05');
is(VaultTest::Page::text($page->finish_poll($poll)), "2\n", 'and is answered');

finish();
