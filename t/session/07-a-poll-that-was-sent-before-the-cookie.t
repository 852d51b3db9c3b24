# SPDX-License-Identifier: Apache-2.0
# A poll was sent without a cookie, and comes when another tab has got the first session of the browser already. It ends at once, so
# that the next poll brings the cookie. If that poll has no cookie either, it waits.
use strict;
use warnings;
use VaultTest;
use VaultTest::Browser;
use VaultTest::Events;
use VaultTest::Page qw(texts);

my $view = '/shop/page?poll=/shop/session%3Fkey=basket';
my $none = VaultTest::Browser->new;    # the polls that were sent without a cookie, and a browser that takes none

# Returns the answer of a poll, or undef if the poll waits; then closes its connection.
sub outcome
{
    my ($page, $poll) = @_;
    my $waits = wait_until(sub { !$poll->is_silent ? 'answered' : status()->{Waiting} == 1 && 'waits' }, 'the poll is answered or waits') eq 'waits';
    my $answer = $waits ? undef : $page->finish_poll($poll);
    $poll->close;
    wait_waiting(0);
    return $answer;
}

sub waits
{
    my ($page, $why) = @_;
    return is(outcome($page, $none->start_poll($page)), undef, $why);
}

sub ends
{
    my ($page, $why) = @_;
    my $answer = outcome($page, $none->start_poll($page));
    return is($answer ? $answer->{status} : 'it waits', 204, $why);
}

# The pages of the address are told when the answer has been written, then those of the session.
sub new_session
{
    my $browser = VaultTest::Browser->new;
    my $before = status();
    is($browser->get('/shop/session?key=basket&value=apple')->{status}, 200, 'a session is made');
    wait_counter(Notifies => $before, 2);
    return $browser;
}

# Its first poll.
my $page = $none->open($view);
my $ann = new_session();
ends($page, 'the first poll of a page, sent before, ends');
is(texts($page->finish_poll($ann->start_poll($page))), 'apple', '... and the next one, which brings the cookie, shows the basket');

# A later one.
$page = $none->open($view);
waits($page, 'without a new session the first poll waits');
$ann = new_session();
ends($page, 'a later poll that was sent before ends');
is(texts($page->finish_poll($ann->start_poll($page))), 'apple', '... and the next one shows the basket');

# A browser that takes no cookie, and one at another address.
$page = $none->open($view);
my $far = VaultTest::Browser->new(from => '127.0.0.2');
my $away = $far->open($view);
new_session();
my $runs = status()->{Runs};
ends($page, 'a browser without cookies polls once more');
waits($page, '... and its next poll waits');
is(status()->{Runs}, $runs + 1, '... the method has run once');
is(outcome($away, $far->start_poll($away)), undef, 'at another address no poll ends');

# The basket that is shown where the session is read, and the poll after that.
$page = $none->open('/shop/page?poll=/shop/session%3Fkey=basket&poll=/test/rows%3Fname=late%26interest=late');
waits($page, 'a page with another method, too');
text_of('/test/add?name=late&notify=late');
$ann = new_session();
is(texts(outcome($page, $none->start_poll($page)) || {}), "1\n", 'what other methods have to say is said');
is(texts($page->finish_poll($ann->start_poll($page))), 'apple', '... and the next poll shows the basket');

# A view where there are no sessions: nothing is known of the time before the first poll.
$page = $none->open('/test/page?poll=/shop/session%3Fkey=basket');
ends($page, 'of a view without sessions the first poll ends');
waits($page, '... and the next one waits');

# A cookie whose session is gone.
$ann = new_session();
$page = $ann->open($view);
is(texts($page->finish_poll($ann->start_poll($page))), 'apple', 'a page with a session');
my $void = VaultTest::Browser->new(id => $ann->id);
is($ann->get('/shop/session?renew=1')->{status}, 200, '... which gets another id');
my $answer = outcome($page, $void->start_poll($page));
is($answer && $answer->{status}, 204, 'a poll that was sent with the old id ends');
is(texts($page->finish_poll($ann->start_poll($page))), 'apple', '... and the next one brings the new id');

# A stream.
$page = $none->open($view);
$ann = new_session();
my $stream = VaultTest::Events->open([$page]);
is($stream->block, undef, 'a stream that was opened before ends');
$stream = VaultTest::Events->open([$page], headers => $ann->headers);
is(VaultTest::Page::text($stream->event), 'apple', '... and the next one shows the basket');
$stream->{connection}->close;
wait_waiting(0);

finish();
