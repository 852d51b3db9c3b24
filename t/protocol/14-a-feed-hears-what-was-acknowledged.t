# SPDX-License-Identifier: Apache-2.0
# A feed that asked for it (on_ack) hears that the browser has what it rendered: when the browser says so, not before, and never of an
# answer that was lost. The feed of the tests writes down what it hears.
use strict;
use warnings;
use VaultTest;

my $journal = vars('t_logs') . '/feed-journal';
unlink $journal;

sub heard
{
    open my $file, '<', $journal or return '';
    return join ' ', map { chomp; $_ } readline $file;
}

sub count_method
{
    my ($interest, $more) = @_;
    return qq(/test/call?feed=tests&method=count&news=1&args={"interest":"$interest"@{[$more || '']}});
}

sub counted { my ($answer) = @_; return join ' ', VaultTest::Page::text($answer) =~ /"count":"(\d+)"/g }

my $page = live_page([count_method('ack-1')]);
is(counted($page->poll), '1', 'a method runs with the first poll');
is(heard(), '', 'what it rendered is on its way: it is unknown whether it arrives');

my $poll = $page->start_poll;
wait_waiting(1);
is(heard(), '1', 'the next poll says that it did');

text_of('/test/notify?interest=ack-1');
is(counted($page->read_poll($poll)), '2', 'an answer that is lost');
$poll = $page->start_poll;
is(counted($page->read_poll($poll)), '2', 'comes again, and is lost again');
is(heard(), '1', 'and of neither the feed hears');
is(counted($page->poll), '2', 'until one arrives');
is(heard(), '1', '...');
is(get($page->path . '&ack=1')->{status}, 204, 'an acknowledgement alone');
is(heard(), '1 2', 'is one');
is(get($page->path . '&ack=1')->{status}, 204, 'the same again');
$poll = $page->start_poll;
wait_waiting(1);
is(heard(), '1 2', 'says nothing new');
text_of('/test/notify?interest=ack-1');
is(counted($page->finish_poll($poll)), '3', 'the next one');

# A method that fails after the feed was asked.
unlink $journal;
my $failing = live_page(['/test/rows?name=ack-fail&interest=ack-fail', count_method('ack-2') . '&fail-as=ack-2']);
text_of('/test/set?name=ack-2&value=500');
text_of('/test/add?name=ack-fail');
announce(qr/VLT00030: method .*count.* failed/);
is(VaultTest::Page::text($failing->poll), "1\n", 'beside a method that fails');
my $waits = $failing->start_poll;
wait_waiting(1);
is(heard(), '', 'the failed run is not heard of');

# No output: there is nothing to wait for.
unlink $journal;
my $quiet = live_page([count_method('ack-3', ',"quiet":"yes"')]);
my $silent = $quiet->start_poll;
wait_until(sub { heard() eq '1' }, 'a run that rendered nothing is heard of at once');
text_of('/test/notify?interest=ack-3');
wait_until(sub { heard() eq '1 2' }, 'and the next one, while its poll goes on waiting');

# The HTML itself is number 0.
unlink $journal;
my $view = open_page('/test/page?poll=/test/echo?text=&feed=tests&method=count&args={}');
like($view->html, qr/"count":"1"/, 'the view of a page asks the feed');
is(heard(), '', 'which knows only');
my $first = $view->start_poll;
wait_until(sub { heard() eq '1' }, 'with the first poll that the HTML has arrived');

# HTML that was an error, or that no client polls, is never acknowledged.
unlink $journal;
get('/test/page?poll=/test/echo?text=&feed=tests&method=count&args={}&fail=404');
text_of('/test/page?feed=tests&method=count&args={}');
is(heard(), '', 'HTML that failed, or that is no live page, is not heard of');

# A child that dies when it has told the feed, before it has noted so: told again. On a server of its own, with one child.
unlink $journal, "$journal.died";
my $feed = vars('top_dir') . '/modules/vault_feed_test.so';
use_server(VaultTest::Server->start('deadly', config => qq(VaultFeed tests "$feed" word=x "journal=$journal"\n)));
my $deadly = live_page([count_method('ack-4', ',"deadly":"yes"')]);
is(counted($deadly->poll), '1', 'an answer');
my ($child) = children();
announce(qr/AH00052|VLT00004/);
my $dies = $deadly->start_poll;
wait_until(sub { -f "$journal.died" }, 'its child is killed while it tells the feed');
wait_until(sub { my ($now) = eval { children() }; $now && $now != $child }, 'another one is there');
is(heard(), 'deadly 1', 'it was told once');
my $goes_on = $deadly->start_poll;
wait_until(sub { heard() eq 'deadly 1 deadly 1' }, 'and is told again: at least once');
text_of('/test/notify?interest=ack-4');
is(counted($deadly->finish_poll($goes_on)), '2', 'the page goes on');

finish();
