# SPDX-License-Identifier: Apache-2.0
# As many polls, streams and other suspended requests of one client may wait as VaultMaxWaitingPerClient says, over all children. One more is told
# to come again; other clients wait. Users count each for themselves, whatever their address.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

needs_parking();

use constant PLACES => 6;

# Two children, so that the places are counted over both.
use_server(VaultTest::Server->start(
    'places',
    size => "StartServers 2\nServerLimit 4\nThreadLimit 8\nThreadsPerChild 8\nMaxRequestWorkers 16\nMinSpareThreads 16\nMaxSpareThreads 100\nAsyncRequestWorkerFactor 60\n",
    config => 'VaultMaxWaitingPerClient ' . PLACES . "\n" . <<'END'
<Location "/suspend/">
    SetHandler vault-suspend-test
</Location>
END
));

sub fresh { my ($n, %with) = @_; return live_page(["/test/rows?name=h06-$n&interest=h06"], %with) }

my @waiting = map { my $page = fresh($_); [$page, $page->start_poll] } 1 .. PLACES;
wait_waiting(PLACES);
my $answer = fresh('more')->poll;
is($answer->{status}, 503, 'one poll too many: 503');
is($answer->{headers}{'retry-after'}, 5, '  with Retry-After');
is(get('/vault/poll?page=' . fresh('stream')->id . '&seq=0', headers => {Accept => 'text/event-stream'})->{status}, 503, 'a stream: 503');
announce(qr/VLT00291: no more requests of 127\.0\.0\.1 can wait: it has VaultMaxWaitingPerClient 6/);

text_of('/test/set?name=h06-now&value=1');
is(VaultTest::Page::text(fresh('now')->poll), "1\n", 'a poll that need not wait is answered');

my $other = fresh('other', from => '127.0.0.2');
my $poll = $other->start_poll;
wait_waiting(PLACES + 1);
pass('another client waits');

# A poll that is woken and waits again keeps its place; one that is answered or left gives it back.
my $before = status();
text_of('/test/set?name=h06-1&value=1&notify=h06');
is(VaultTest::Page::text($waiting[0][0]->finish_poll($waiting[0][1])), "1\n", 'all are woken, one is answered');
wait_waiting(PLACES);
$waiting[0][1] = $waiting[0][0]->start_poll($waiting[0][1]);
wait_waiting(PLACES + 1);
is(fresh('again')->poll->{status}, 503, '  and when it waits again there is no place left');
$waiting[1][1]->reset;
wait_waiting(PLACES);
my $stream = VaultTest::Events->open([fresh('stream')]);
wait_waiting(PLACES + 1);
pass('a client that hangs up gives its place back, and a stream may have it');
is(fresh('full')->poll->{status}, 503, '  which counts as a poll does');

# A child that is killed keeps no places.
my @children = children(2);
announce(qr/VLT00004: child /);
kill KILL => @children;
wait_until(sub { my @now = eval { children() }; @now && !grep { my $pid = $_; grep { $_ == $pid } @children } @now }, 'other children serve');
wait_waiting(0);
$_->[1]->close for @waiting;
$stream->reset;
@waiting = map { my $page = fresh("k$_"); [$page, $page->start_poll] } 1 .. PLACES;
wait_waiting(PLACES);
pass('the places of children that were killed are free');
is(fresh('more')->poll->{status}, 503, '  all of them, and no more');
$_->[1]->reset for @waiting;
$poll->close;
wait_waiting(0);

finish();
