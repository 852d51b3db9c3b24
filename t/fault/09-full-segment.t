# SPDX-License-Identifier: Apache-2.0
# The shared memory is full: a poll whose answer cannot be staged is refused with 503 and a log line, and loses nothing.
# When other pages have expired there is room, and the answer comes.
use strict;
use warnings;
use VaultTest;

my $limits = "VaultSharedMemory 1200K\nVaultMaxPages 500\nVaultMaxInterests 1000\n";
my $server = use_server(VaultTest::Server->start('full-segment', config => $limits));
text_of('/test/set?name=f09&value=' . 'f' x 2000);
my @names = map { "f09page$_" } 1 .. 6;
text_of("/test/set?name=$_&value=small") for @names;
my $page = live_page([map { "/test/value?name=$_&interest=f09page" } @names]);
is(VaultTest::Page::text($page->poll), 'small' x 6, 'a page with a small state');

# Views that keep 2,000 bytes each, polled by clients that leave at once, until one cannot be kept.
sub refused { return scalar grep { /VLT00011: the page cannot be kept live/ } error_log_lines() }
sub large_page { return open_page('/test/page?view=f09&interest=f09&poll=/test/value%3Fname=f09%26interest=f09') }
my $made = 0;
while ($made < 500) {
    my $view = large_page();
    last if refused();
    $view->start_poll->reset;
    $made++;
}
wait_waiting(0);
while (refused() < 10) {
    large_page();    # what room the polls took while they ran is free again: not for long
}
cmp_ok($made, '>', 20, "$made large pages fit");
cmp_ok($made, '<', 500, 'and no more');

my $poll = $page->start_poll;
wait_waiting(1);
my $before = status();
my $large = 'l' x 4000;
text_of("/test/set?name=$_&value=$large") for @names;
text_of('/test/notify?interest=f09page');
my $answer = $page->read_poll($poll);
is($answer->{status}, 503, 'an answer that cannot be staged is not given');
like($answer->{headers}{'retry-after'}, qr/^\d+$/, '  and the client is told when to try again');
is(status()->{Refused} - $before->{Refused}, 1, '  it is counted');

# A restart keeps the memory and all that is in it; with a short VaultPageTimeout the other pages soon expire.
$server->reconfigure("${limits}VaultPageTimeout 6\n");
wait_until(sub { $answer = $page->poll; $answer->{status} == 200 }, 'the other pages expire, and there is room again');
is(VaultTest::Page::text($answer), $large x 6, 'the answer comes, and nothing is lost');
$poll = $page->start_poll;
wait_waiting(1);
text_of('/test/set?name=f09page1&value=small+again&notify=f09page');
is(VaultTest::Page::text($page->finish_poll($poll)), 'small again', 'and the page goes on');

announce(qr/VLT00011: the page cannot be kept live: its state does not fit/, qr/VLT00031: the page's state does not fit/);
finish();
