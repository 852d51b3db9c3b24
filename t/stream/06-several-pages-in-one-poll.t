# SPDX-License-Identifier: Apache-2.0
# One connection waits for several pages: a poll, or a stream. What is wrong with one of them is said of it, and the others go on.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Events;

sub pages_of
{
    my ($answer) = @_;
    return {map { $_->{page} => $_ } @{JSON::PP->new->utf8->decode($answer->{body})->{pages}}};
}

sub start
{
    my ($pages, %with) = @_;
    my $connection = connect_to();
    $connection->request(GET => VaultTest::Events::path($pages, several => 1), $with{headers} || {});
    return $connection;
}

my @names = map { "ev06-$_" } 0 .. 2;
my @pages = map { live_page(["/test/rows?name=$_&interest=$_"]) } @names;
my @ids = map { $_->id } @pages;

# ---------------------------------------------------------------- a poll
my $connection = start(\@pages);
wait_waiting(1);
text_of('/test/add?name=ev06-1&notify=ev06-1');
my $answer = pages_of($connection->response);
is_deeply([keys %$answer], [$ids[1]], 'a poll of three: what one has to say is said of it');
is(VaultTest::Page::text($answer->{$ids[1]}), "1\n", '  its update');
is($answer->{$ids[1]}{seq}, 1, '  its number');
$pages[1]{seq} = 1;

text_of("/test/add?name=$_&notify=$_") for 'ev06-0', 'ev06-2';
$connection->request(GET => VaultTest::Events::path(\@pages));
$answer = pages_of($connection->response);
is_deeply([sort keys %$answer], [sort @ids[0, 2]], 'two at once');
$pages[$_]{seq} = 1 for 0, 2;

my $one = start([$pages[0]]);
wait_waiting(1);
text_of('/test/add?name=ev06-0&notify=ev06-0');
is(pages_of($one->response)->{$ids[0]}{seq}, 2, 'a list of one is answered as a list');
$pages[0]{seq} = 2;

my $other = VaultTest::Page->of({page => '0' x 40, seq => 0});
my $word = VaultTest::Page->of({page => 'word', seq => 0});
my $wrong = $pages[2]->duplicate;
$wrong->{seq} = 7;
$answer = pages_of(start([$pages[0], $other, $word, $wrong])->response);
is_deeply({map { $_ => $answer->{$_}{status} } keys %$answer}, {'0' x 40 => 410, word => 410, $ids[2] => 410}, 'who is in trouble is told at once');
$connection = start(\@pages);
wait_waiting(1);
text_of('/test/add?name=ev06-2&notify=ev06-2');
is(pages_of($connection->response)->{$ids[2]}{seq}, 2, '  and nothing was done to the page of a wrong number');
$pages[2]{seq} = 2;

$connection = start(\@pages);
wait_waiting(1);
my $alone = $pages[1]->start_poll;
$answer = pages_of($connection->response);
is_deeply([map { [$_->{page}, $_->{status}, $_->{superseded}] } values %$answer], [[$ids[1], 204, JSON::PP::true()]], 'a newer poll of one page takes that one over');
wait_waiting(1);
$alone->reset;
wait_waiting(0);

is(start(\@pages)->request(GET => '/test/pid')->response->{status}, 204, 'a request behind it ends the wait: 204');

my %bad = ('' => 400, ',' => 400, $ids[0] => 400, "$ids[0].x" => 400, "$ids[0].1.y" => 400, "$ids[0].1,$ids[0].1" => 400,
    join(',', map { "$_.0" } 1 .. 33) => 413);
is(get("/vault/poll?pages=$_")->{status}, $bad{$_}, '"' . substr($_, 0, 100) . "\": $bad{$_}") for sort keys %bad;
my $most = get('/vault/poll?pages=' . join ',', map { "$_.0" } 1 .. 32);
is(scalar keys %{pages_of($most)}, 32, '32 pages are taken');

text_of("/test/add?name=$_&notify=$_") for @names;
$connection = start(\@pages);
$answer = pages_of($connection->response);
is(scalar keys %$answer, 3, 'all three have news');
my $list = join ',', map { "$_.$answer->{$_}{seq}" } @ids;
is(post('/vault/poll', "pages=$list,word.1&ack=1")->{status}, 200, 'an acknowledgement of several');
$answer = pages_of(post('/vault/poll', "pages=$list,word.1&ack=1"));
is_deeply([map { "$_->{page} $_->{status}" } values %$answer], ['word 410'], '  says what is wrong with one');
is(post('/vault/poll', "pages=$list&ack=1")->{status}, 204, '  and nothing when nothing is');
$answer = pages_of(get("/vault/poll?pages=%FF.1,$list&ack=1"));
is_deeply([map { "$_->{page} $_->{status}" } values %$answer], ["\x{fffd} 410"], '  also of one whose id is no text');
($_->{seq}) = $list =~ /@{[$_->id]}\.(\d+)/ for @pages;

# ---------------------------------------------------------------- a stream
my @with = (@pages[0, 1], $word, $pages[2]);
my $stream = VaultTest::Events->open(\@with);
my $event = $stream->event;
is("$event->{page} $event->{status}", 'word 410', 'a stream of four: what is wrong with one is the first event');
is($event->{id}, undef, '  and moves nothing on');
my @seq = map { $_->seq } @with;
for my $which (1, 3, 0, 1) {
    my ($name) = $which == 3 ? 'ev06-2' : "ev06-$which";
    wait_waiting(1);
    text_of("/test/add?name=$name&notify=$name");
    $event = $stream->event;
    is($event->{page}, $with[$which]->id, "news of $name");
    $seq[$which] = $event->{seq};
    is($event->{id}, join(',', @seq), '  the id says the number of each page, in the order of the request');
}
wait_waiting(1);
$alone = $pages[1]->duplicate;
$alone->{seq} = $seq[1];
my $poll = $alone->start_poll;
$event = $stream->event;
is("$event->{page} $event->{superseded}", "$ids[1] 1", 'one page is taken over by a poll of its own');
wait_waiting(2);
text_of('/test/add?name=ev06-1&notify=ev06-1');
$answer = $alone->finish_poll($poll);
is($answer->{status}, 200, '  which has its news');
text_of('/test/add?name=ev06-0&notify=ev06-0');
$event = $stream->event;
is($event->{page}, $ids[0], '  and the stream goes on with the others');
$seq[0] = $event->{seq};
$stream->reset;
wait_waiting(0);

text_of('/test/add?name=ev06-2&notify=ev06-2');
$stream = VaultTest::Events->open([@pages[0, 2]], last => "$seq[0],$seq[3]");
$event = $stream->event;
is("$event->{page} " . VaultTest::Page::text($event), "$ids[2] 5\n", 'a new stream, from where they are, of those that are left');
$stream->reset;
wait_waiting(0);

# ---------------------------------------------------------------- several events of one change, the last of which is lost
my @both = map { live_page(["/test/rows?name=ev06-$_&interest=ev06-both"]) } 'x', 'y';
my $broken = VaultTest::Events->open(\@both);
wait_waiting(1);
text_of('/test/add?name=ev06-x');
text_of('/test/add?name=ev06-y&notify=ev06-both');
my @events = ($broken->event, $broken->event);
is_deeply([map { $_->{page} } @events], [map { $_->id } @both], 'one change is news for both pages');
is_deeply([map { $_->{id} } @events], ['1,0', '1,1'], '  and the id of the first event does not speak for the second');
$broken->reset;
wait_waiting(0);
my $whole = VaultTest::Events->open(\@both, last => $events[0]{id});
is_deeply([map { $whole->event->{$_} } 'page'], [$both[1]->id], '  which comes again when it was lost');
$whole->reset;
wait_waiting(0);

finish();
