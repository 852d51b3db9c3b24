# SPDX-License-Identifier: Apache-2.0
# Eight events may be on their way. Then the stream waits until the client says what it has, and no change is lost by that.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

my $page = live_page(['/test/rows?name=ev03&interest=ev03']);
my $stream = VaultTest::Events->open([$page]);
my $change = sub { wait_waiting(1); text_of('/test/add?name=ev03&notify=ev03') };
my $acknowledge = sub { return get('/vault/poll?page=' . $page->id . "&seq=$_[0]&ack=1")->{status} };

for my $n (1 .. 8) {
    $change->();
    is(VaultTest::Page::text($stream->event), "$n\n", "event $n goes out unacknowledged");
}
my $runs = status()->{Runs};
$change->() for 1 .. 3;
wait_waiting(1);
ok($stream->is_silent, 'the ninth does not');
is(status()->{Runs}, $runs, '  and no method runs for it');
is($acknowledge->(2), 204, 'the client has two of them');
my $event = $stream->event;
is(VaultTest::Page::text($event), "9\n10\n11\n", '  and what happened meanwhile goes out, in one event');
$change->();
is(VaultTest::Page::text($stream->event), "12\n", '  there is room for another');
$change->();
wait_waiting(1);
ok($stream->is_silent, '  and for no more');
is($acknowledge->(1), 410, 'what was acknowledged is behind');
is($acknowledge->(11), 410, 'what was never sent cannot be acknowledged');
is($acknowledge->(10), 204, 'all of it');
is(VaultTest::Page::text($stream->event), "13\n", '  and it goes on');

my $facts = text_of('/vault/status?page=' . $page->id);
like($facts, qr/"Seq":\s*10\b/, 'the status shows what is acknowledged');
like($facts, qr/"Unacknowledged":\s*\[\s*11\s*\]/, '  and what is on its way');

$stream->reset;
wait_waiting(0);
$page->{seq} = 11;
$change = sub { text_of('/test/add?name=ev03&notify=ev03') };
$change->();
is(VaultTest::Page::text($page->poll), "14\n", 'a poll goes on behind');

finish();
