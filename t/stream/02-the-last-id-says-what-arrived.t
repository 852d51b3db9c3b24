# SPDX-License-Identifier: Apache-2.0
# Events go out without waiting to be acknowledged. Which of them arrived is said by Last-Event-ID when the client comes again: what
# came after that comes again, whatever the number, and what was before does not.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

for my $arrived (0 .. 4) {
    my $name = "ev02-$arrived";
    my $page = live_page(["/test/rows?name=$name&interest=$name"]);
    my $stream = VaultTest::Events->open([$page]);
    for my $n (1 .. 4) {
        wait_waiting(1);
        text_of("/test/add?name=$name&notify=$name");
        is($stream->event->{seq}, $n, "event $n of 4") if $arrived == 4;
        $stream->event if $arrived != 4;
    }
    $stream->reset;
    wait_waiting(0);
    my $before = status();
    my $again = VaultTest::Events->open([$page], last => $arrived);    # seq=0 is in the URL, as an event source says it again
    if ($arrived < 4) {
        my $event = $again->event;
        is(VaultTest::Page::text($event), join('', map { "$_\n" } $arrived + 1 .. 4), "$arrived of 4 arrived: the others come again");
        is($event->{seq}, 5, '  as an answer with a new number');
        is(status()->{Redelivered} - $before->{Redelivered}, 1, '  which is counted');
    }
    wait_waiting(1);
    ok($again->is_silent, "nothing else after $arrived of 4");
    $again->reset;
    wait_waiting(0);
}

# A stream, then a poll, then a stream: one page.
my $page = live_page(['/test/rows?name=ev02&interest=ev02']);
my $stream = VaultTest::Events->open([$page]);
wait_waiting(1);
text_of('/test/add?name=ev02&notify=ev02');
my $event = $stream->event;
$page->{seq} = $event->{seq};
text_of('/test/add?name=ev02&notify=ev02');
$stream->event;    # lost: the client does not say that it has it
is(VaultTest::Page::text($page->poll), "2\n", 'a poll goes on from what the client has of a stream');
my $late = $page->duplicate;
$late->{seq} = 2;
text_of('/test/add?name=ev02&notify=ev02');
is(VaultTest::Page::text($late->poll), "3\n", 'the second event may have arrived all the same: it is a sibling of that answer');

finish();
