# SPDX-License-Identifier: Apache-2.0
# An answer has at most VaultMaxAnswer bytes of updates, of all methods and all pages. What does not fit comes with the next poll, or the next
# event of a stream: each row exactly once, in order. No method and no page waits for ever behind others that always have something to say.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Events;

use constant {ROOM => 4096, ROWS => 600};    # 600 rows are 2,900 bytes of JSON: one method fits, two do not

my @names = map { "p17-$_" } 'a' .. 'e';
my (%shown, %wanted);

sub method_of  { return "/test/rows?name=$_[0]&interest=p17" }
sub show_rows  { my ($u) = @_; my ($name) = $u->{method} =~ /name=([^&]+)/; push @{$shown{$name}}, split /\n/, $u->{body}; return $name }
sub grow       { my (@of) = @_; $wanted{$_} += ROWS, text_of("/test/set?name=$_&value=$wanted{$_}") for @of; text_of('/test/set?name=p17&notify=p17'); return }
sub is_whole   { my ($why) = @_; is_deeply(\%shown, {map { $_ => [1 .. $wanted{$_}] } keys %wanted}, $why); return }
sub begin_anew { @wanted{@names} = (0) x @names; %shown = (); text_of("/test/set?name=$_&value=0") for @names; return }

# Within the bound, or the output of one method alone, which may be larger.
sub is_bounded
{
    my ($body, @updates) = @_;
    return ok(length $body < ROOM + 200 || @updates == 1, 'an answer keeps to the bound');
}

# The names that a poll brings.
sub poll_one
{
    my ($page) = @_;
    my $answer = $page->poll;
    is_bounded($answer->{body}, @{$answer->{updates}});
    return map { show_rows($_) } @{$answer->{updates}};
}

# ---------------------------------------------------------------- one page
begin_anew();
my $page = live_page([map { method_of($_) } @names], poll_path => '/part/poll');
grow(@names);
is_deeply([poll_one($page)], [$names[$_]], "one method an answer: $names[$_]") for 0 .. 4;
is_whole('five answers have all rows of five methods, each once');
my $poll = $page->start_poll;
wait_waiting(1);
pass('and there is nothing more');
grow($names[3]);
is_deeply([map { show_rows($_) } @{$page->finish_poll($poll)->{updates}}], [$names[3]], 'a poll that waits is woken as usual');

grow(@names);
my $runs = status()->{Runs};
my @first = map { $_->{method} } @{$page->read_poll($page->start_poll)->{updates}};
cmp_ok(status()->{Runs} - $runs, '<=', 2, 'what has no room is not run, but for the first that turns out too large');
is_deeply([map { method_of($_) } poll_one($page)], \@first, 'an answer that was lost comes again');
poll_one($page) for 1 .. 4;
is_whole('  and nothing else is lost or doubled');

my %heard;
$heard{$_}++ for map { grow(@names); poll_one($page) } 1 .. 10;
is_deeply(\%heard, {map { $_ => 2 } @names}, 'where all methods always have something to say each has its turn');
1 while keys %shown && grep({ @{$shown{$_}} < $wanted{$_} } @names) && poll_one($page);
is_whole('  and in the end the page has all');

text_of('/test/set?name=p17-x&value=' . 10 * ROWS);
my $large = live_page([method_of('p17-x')], poll_path => '/part/poll');
is(scalar(split /\n/, VaultTest::Page::text($large->poll)), 10 * ROWS, 'one output alone is told, whatever its length: VaultMaxOutput bounds it');

# ---------------------------------------------------------------- several pages in one poll
begin_anew();
my @pages = map { live_page([method_of($_)]) } @names;
my %name_of = map { $pages[$_]->id => $names[$_] } 0 .. $#pages;

sub poll_all
{
    my $connection = connect_to();
    $connection->request(GET => VaultTest::Events::path(\@pages, several => 1, path => '/part/poll'));
    my $answer = $connection->response;
    my @told = @{JSON::PP::decode_json($answer->{body})->{pages}};
    is_bounded($answer->{body}, map { @{$_->{updates}} } @told);
    for my $told (@told) {
        show_rows($_) for @{$told->{updates}};
        $_->{seq} = $told->{seq} for grep { $_->id eq $told->{page} } @pages;
    }
    return map { $name_of{$_->{page}} } @told;
}

grow(@names);
my @order = map { poll_all() } @names;
is_deeply([sort @order], \@names, 'one page an answer, each in its turn');
is_whole('  with all their rows');
%heard = ();
$heard{$_}++ for map { grow(@names); poll_all() } 1 .. 10;
is_deeply(\%heard, {map { $_ => 2 } @names}, 'no page waits behind others that always have something to say');
1 while grep({ @{$shown{$_}} < $wanted{$_} } @names) && poll_all();
is_whole('  and in the end each has all');

# ---------------------------------------------------------------- streams
begin_anew();
my $streamed = live_page([map { method_of($_) } @names]);
my $stream = VaultTest::Events->open([$streamed], path => '/part/poll');
wait_waiting(1);
grow(@names);
my @events = map { $stream->event } @names;
is_deeply([map { scalar @{$_->{updates}} } @events], [(1) x 5], 'each event of a stream keeps to the bound');
show_rows($_->{updates}[0]) for @events;
is_whole('  and together they have all rows, each once');
wait_waiting(1);
$stream->reset;
wait_waiting(0);

my $again = VaultTest::Events->open([$streamed], path => '/part/poll', last => $events[1]{id});
%shown = ();
show_rows($_->{updates}[0]) for @events[0, 1], map { $again->event } 1 .. 3;
is_whole('a stream that breaks off goes on behind the event that arrived last');
$again->reset;
wait_waiting(0);

finish();
