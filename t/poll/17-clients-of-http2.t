# SPDX-License-Identifier: Apache-2.0
# What only HTTP/2 has: several polls in one connection, which end one by one; and a client that lets the server send nothing. Such
# clients hold threads as long as they wait, and none when they are answered.
use strict;
use warnings;
use VaultTest;

plan(skip_all => 'mod_http2 or Protocol::HTTP2 is not there') unless have_http2();

use constant {THREADS => 4, ROWS => 100_000};

use_server(VaultTest::Server->start('poll-http2', config => <<"END"));
Protocols h2c http/1.1
VaultLongPollThreads @{[THREADS]}
END

sub http2 { return connect_to(http2 => 1, @_) }

# ---------------------------------------------------------------- several polls in a connection
my @pages = map { live_page(["/test/rows?name=w17-$_&interest=w17-$_"]) } 1 .. 3;
my $connection = http2();
$_->start_poll($connection) for @pages;
wait_waiting(3);
is(status()->{WaitingInThreads}, 3, 'three polls in one connection wait, in a thread each');
$connection->request(GET => '/test/echo?text=beside');
is($connection->newest_response->{body}, 'beside', 'a request beside them is answered');
ok($connection->is_silent, '  and ends none of them');

text_of('/test/add?name=w17-3&notify=w17-3');
my $answer = $connection->newest_response;
like($answer->{body}, qr/"body":"1\\n"/, 'the last one is answered before the others');
$pages[2]{seq} = 1;
wait_waiting(2);

my $before = status();
$connection->cancel;
wait_waiting(1);
wait_counter('ClientsGone', $before, 1);
is(status()->{WaitingInThreads}, 1, 'one that is cancelled gives its thread back');
text_of('/test/add?name=w17-1&notify=w17-1');
ok($connection->is_silent, '  and the other one waits on');
text_of('/test/add?name=w17-2&notify=w17-2');
is(VaultTest::Page::text($pages[1]->finish_poll($connection)), "1\n", '  until there are news for it');
is(VaultTest::Page::text($pages[0]->poll($connection)), "1\n", 'what was notified for the cancelled one comes with its next poll');

$before = status();
$_->start_poll($connection) for @pages;
wait_waiting(3);
$connection->reset;
wait_waiting(0);
wait_counter('ClientsGone', $before, 3);
is(status()->{WaitingInThreads}, 0, 'a connection that is reset takes all of its polls along');

# ---------------------------------------------------------------- a newer poll of the same page
$connection = http2();
$pages[0]->start_poll($connection);
wait_waiting(1);
$pages[0]->start_poll($connection);
is($connection->response->{headers}{'vault-superseded'}, '1', 'a newer poll ends the older one of its page, in the same connection');
wait_waiting(1);
$connection->cancel;
wait_waiting(0);

# ---------------------------------------------------------------- a body that comes slowly
my $form = 'page=' . $pages[0]->id . '&seq=' . $pages[0]->seq;
$before = status();
$connection->request(POST => '/vault/poll', {'Content-Type' => 'application/x-www-form-urlencoded', 'Content-Length' => length $form});
$connection->send_body(substr $form, 0, 7);
$connection->request(GET => '/test/echo?text=while');
is($connection->newest_response->{body}, 'while', 'while half of a poll has come another request is answered');
is(status()->{Polls}, $before->{Polls}, '  and the poll is none yet');
$connection->send_body(substr($form, 7), 1);
wait_waiting(1);
text_of('/test/add?name=w17-1&notify=w17-1');
is(VaultTest::Page::text($pages[0]->finish_poll($connection)), "2\n", '  when the rest has come it waits, and is answered');
$connection->close;

# ---------------------------------------------------------------- as many as may wait
# Each of them takes one thread of mod_http2's, and its connection one of the MPM's, of which there are eight.
my @waiting = map { live_page(['/test/rows?name=w17many&interest=w17many']) } 0 .. THREADS;
my @held = map { $_->start_poll(http2()) } @waiting[0 .. THREADS - 1];
wait_waiting(THREADS);
my $refused = $waiting[THREADS]->poll(http2());
is("$refused->{status} " . ($refused->{headers}{'retry-after'} > 0), '503 1', 'one more than VaultLongPollThreads is told to come later');
is(http2()->request(GET => '/test/echo?text=free')->response->{body}, 'free', '  other requests over HTTP/2 are answered');
is(get('/test/echo?text=plain')->{body}, 'plain', '  and over HTTP/1.1');
text_of('/test/add?name=w17many&notify=w17many');
is(VaultTest::Page::text($waiting[$_]->finish_poll($held[$_])), "1\n", '  those that wait are answered') for 0 .. THREADS - 1;
is(VaultTest::Page::text($waiting[THREADS]->poll(http2())), "1\n", '  and the one that was refused, when it comes again');

# ---------------------------------------------------------------- a client that does not read
text_of('/test/set?name=w17slow&value=0');
my @slow = map { live_page(['/test/rows?name=w17slow&interest=w17slow'], poll_path => '/large/poll') } 1 .. 3 * THREADS;
my @polls;
for my $round (0 .. 2) {
    my @now = $round * THREADS .. ($round + 1) * THREADS - 1;
    text_of('/test/set?name=w17slow&value=0');
    $polls[$_] = $slow[$_]->start_poll(http2(window => 0)) for @now;
    wait_waiting(THREADS);
    $before = status();
    text_of('/test/set?name=w17slow&value=' . ROWS . '&notify=w17slow');
    wait_counter('Answers', $before, THREADS);
    wait_waiting(0);
    is(status()->{WaitingInThreads}, 0, 'so many are answered as may wait in threads, though no byte arrives: round ' . ($round + 1));
}
my $quick = live_page(['/test/rows?name=w17quick&interest=w17quick']);
$connection = http2();
for my $n (1 .. 3) {
    my $poll = $quick->start_poll($connection);
    wait_waiting(1);
    text_of('/test/add?name=w17quick&notify=w17quick');
    is(VaultTest::Page::text($quick->finish_poll($poll)), "$n\n", "another client is answered meanwhile, $n");
}
is($polls[0]->head->{status}, 200, 'the head of an answer comes without a window');
ok($polls[0]->is_silent, '  and no more than that');
$polls[0]->open_window;
my @rows = split /\n/, VaultTest::Page::text($slow[0]->finish_poll($polls[0]));
is("$rows[0] $rows[-1] " . @rows, '1 ' . ROWS . ' ' . ROWS, 'one that reads at last gets all of it');
$_->reset for @polls[1 .. $#polls];
@rows = split /\n/, VaultTest::Page::text($slow[1]->poll(http2()));
is(scalar @rows, ROWS, 'one that gave up gets it again, whole');

finish();
