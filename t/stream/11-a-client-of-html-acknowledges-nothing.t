# SPDX-License-Identifier: Apache-2.0
# as=html: what was written counts as arrived. No stream stops for want of acknowledgements, a client that comes again with the last id it
# has misses nothing of the last eight answers, and one without an id goes on where the stream before has ended.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

sub change { text_of("/test/add?name=$_[0]&notify=$_[0]"); return }

my $page = live_page(['/test/rows?name=ev11&interest=ev11']);
my $open = sub { return VaultTest::Events->open([$page], html => 1, @_) };
my $stream = $open->();
my @ids;
for my $n (1 .. 20) {
    wait_waiting(1);
    change('ev11');
    my $event = $stream->html;
    is($event->{data}, "$n\n", "answer $n goes out, and the client acknowledges none");
    push @ids, $event->{id};
}
is("@ids", join(' ', 1 .. 20), 'each has its number');

# Killed in the middle: of the last eight only the first arrived.
$stream->reset;
wait_waiting(0);
my $again = $open->(last => 13);
is($again->html->{data}, join('', map { "$_\n" } 14 .. 20), 'with the last id that arrived: what came after that comes again');
$again->reset;
wait_waiting(0);
my $oldest = $open->(last => 13);
is($oldest->html->{data}, join('', map { "$_\n" } 14 .. 20), 'and again');
is($oldest->{id}, 22, '... under a number of its own');

# Without an id: a client that knows nothing of what it shows. What was written has arrived.
wait_waiting(1);
$oldest->reset;
wait_waiting(0);
change('ev11');
my $fresh = $open->();
is($fresh->html->{data}, "21\n", 'without an id: what is new');
is($fresh->{id}, 23, '... after what was written before');
wait_waiting(1);

# The server does not know what the client shows: every client is told in an answer that an EventSource can read.
my $expired = qq(retry: 30000\nevent: vault-expired\ndata: load the page again\n\ndata: <turbo-stream action="refresh"></turbo-stream>\n\n);
my $url = '/vault/poll?as=html&page=';
for my $row (
    [$page->id . '&seq=0', undef, 'a number in the URL is exact: the HTML is long gone'],
    [$page->id, 3, 'so is an id, which is of long ago here'],
    ['0' x 40, undef, 'an unknown page'],
    ['x', undef, 'what is no id'],
) {
    my ($rest, $last, $why) = @$row;
    my $answer = get("$url$rest", headers => {Accept => 'text/event-stream', defined $last ? ('Last-Event-ID' => $last) : ()});
    is("$answer->{status} $answer->{headers}{'content-type'}", '200 text/event-stream', $why);
    is($answer->{body}, $expired, '... has to load the page again, and not to come again soon');
}
wait_waiting(1);
$fresh->reset;
wait_waiting(0);

# A newer stream takes the page over, and the older ends.
my $older = $open->();
wait_waiting(1);
my $newer = $open->();
is($older->html, undef, 'a newer stream: the older ends without an event');
is($older->{retry}, 10000, '... and comes again late');
$newer->reset;
wait_waiting(0);

# Before anything was written: the id of the beginning is known, so that the first answer may get lost.
my $first = live_page(['/test/rows?name=ev11f&interest=ev11f']);
my $lost = VaultTest::Events->open([$first], html => 1);
is($lost->block, "id: 0\n\n", 'an id before the first event');
wait_waiting(1);
change('ev11f');
$lost->block;
$lost->reset;
wait_waiting(0);
my $comes = VaultTest::Events->open([$first], html => 1, last => 0);
is($comes->html->{data}, "1\n", '... by which it comes again');
$comes->reset;
wait_waiting(0);

# A feed hears that what it rendered has arrived: when the stream is quiet, not at once.
my $journal = vars('t_logs') . '/feed-journal';
unlink $journal;
my $heard = sub { open my $file, '<', $journal or return ''; return join ' ', map { chomp; $_ } readline $file };
my $feed = live_page(['/test/call?feed=tests&method=count&news=1&args={"interest":"ev11-ack"}']);
my $hears = VaultTest::Events->open([$feed], html => 1);
like($hears->html->{data}, qr/"count":"1"/, 'a feed');
is($heard->(), '', 'hears nothing while the answer may be on its way');
wait_until(sub { $heard->() eq '1' }, 'and is told when the stream was quiet');
for my $n (2 .. 10) {
    text_of('/test/notify?interest=ev11-ack');
    like($hears->html->{data}, qr/"count":"$n"/, "answer $n");
}
wait_until(sub { $heard->() =~ /^1 2\b/ }, 'of those for which newer ones take the place, at once');
wait_until(sub { $heard->() =~ / 10$/ }, 'and of all in the end');
$hears->reset;
wait_waiting(0);

# At a limit: an answer with 200, so that an EventSource comes again.
use_server(VaultTest::Server->start('stream-html-full', config => "VaultMaxWaitingPerClient 1\n"));
my @pages = map { live_page(["/test/rows?name=ev11-$_&interest=ev11-$_"]) } 1 .. 2;
my $waits = VaultTest::Events->open([$pages[0]], html => 1);
wait_waiting(1);
announce(qr/VLT00291: no more requests/);
my $refused = get('/vault/poll?as=html&page=' . $pages[1]->id);
is("$refused->{status} $refused->{headers}{'content-type'}", '200 text/event-stream', 'too many streams of this client: 200');
is($refused->{body}, "retry: 5000\n: too many polls of this client wait\n\n", '... which says when to come again');
$waits->reset;
wait_waiting(0);

finish();
