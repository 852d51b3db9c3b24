# SPDX-License-Identifier: Apache-2.0
# Vault-Interest, Vault-Property, Vault-Notify and Vault-Update in the answer of a method, and what is sent to it of the page.
use strict;
use warnings;
use VaultTest;
use VaultTest::Page qw(texts);

sub echo { my ($text, $more) = @_; return "/test/echo?text=$text" . ($more // '') }
sub view { return '/test/echo?text=x' . join '', map { '&header=Vault-Poll:' . s/([%&])/sprintf '%%%02X', ord $1/gre } @_ }

# An interest that is learnt from a header: its method runs once more, and then waits for it.
text_of('/test/set?name=c02&value=3');
my $page = open_page(view('/test/rows?name=c02&header=Vault-Interest:c02-a%2C%20c02%252Cb'));
is(texts($page->poll), "1\n2\n3\n", 'a method whose answer names what it waits for');
my $before = status();
my $poll = $page->start_poll;
wait_waiting(1);
is(status()->{Runs} - $before->{Runs}, 1, 'runs once more, since something may have happened before it said so');
for my $name ('c02-a', 'c02%2Cb') {    # in a query, so that is c02,b
    $before = status();
    text_of('/test/add?name=c02&notify=' . $name);
    like(texts($page->finish_poll($poll)), qr/^\d\n$/, "and waits for $name");
    $poll = $page->start_poll;
    wait_waiting(1);
    is(status()->{Runs} - $before->{Runs}, 1, 'no more than needed');
}
$before = status();
text_of('/test/notify?interest=c02-a');
wait_counter(Runs => $before, 1);
wait_waiting(1);
is(status()->{Runs} - $before->{Runs}, 1, 'nothing new: one run');

# Between the reading of the data and the header.
text_of('/test/set?name=c02-race&value=1');
my $race = open_page(view('/test/rows?name=c02-race&after=c02-race&header=Vault-Interest:c02-race'));
$poll = $race->start_poll;
wait_arrived('c02-race', 1);
text_of('/test/add?name=c02-race');
is(text_of('/test/notify?interest=c02-race'), 'nobody', 'a writer notifies before the method has said what it waits for');
open_barrier('c02-race');
is(texts($race->finish_poll($poll)), "1\n", 'what was there is shown');
is(texts($race->poll), "2\n", 'and what came in between follows at once');

# What the page is.
my $told = open_page(view('/test/said?name=Vault-Page', '/test/said?name=vault-property-last') . '&header=Vault-Property:Last=%25C3%25A4%2520b%252Cc');
is(texts($told->poll), '%C3%A4%20b%2Cc|' . $told->id, 'a method is told its page, and the properties of it, encoded');
my $counts = open_page(view('/test/said?name=Vault-Property-n&header=Vault-Property:n=1&header=Vault-Interest:c02-n', echo('first')));
is(texts($counts->poll), 'first', 'a property that is not set yet is not sent');
is(texts($counts->poll), '1', 'what the method set for the page it is told the next time');
my $gone = open_page(view('/test/property?key=n', '/test/echo?text=y&header=Vault-Property:n=&header=Vault-Interest:c02-gone') . '&header=Vault-Property:n=5');
is(texts($gone->poll), '5|y', 'a property');
is(texts($gone->poll), 'y', '... and the second run of what named an interest');
is(get('/test/said?name=Vault-Page')->{body}, '', 'a request that is no method is told of no page');

# Where VaultLongPoll is off, a method's headers do nothing, and it is told nothing.
tolerate(qr/VLT00064/);    # the first of this server's life
my $closed = open_page(view('/closed/said?name=Vault-Page&header=Vault-Interest:c02-closed', '/closed/echo?text=z&header=Vault-Update:htmx'));
$before = $closed->poll;
is(texts($before), 'z', 'a method where VaultLongPoll is off is told nothing');
is(text_of('/test/notify?interest=c02-closed'), 'nobody', 'nor does it wait for anything');
ok(!exists $before->{updates}[0]{format}, 'nor is its format taken');

# The format goes on to the browser.
my $format = open_page(view('/test/echo?text=a&header=Vault-Update:HTMX', '/test/echo?text=b'))->poll;
is_deeply({map { $_->{body} => $_->{format} } @{$format->{updates}}}, {a => 'htmx', b => undef}, 'Vault-Update comes with its update, and with no other');

# Notify.
my $woken = open_page(view('/test/rows?name=c02-woken&interest=c02-woken'));
$poll = $woken->start_poll;
wait_waiting(1);
text_of('/test/add?name=c02-woken');
is(get('/test/status?code=500&header=Vault-Notify:nobody,c02-woken')->{status}, 500, 'Vault-Notify in any answer, also an error');
is(texts($woken->finish_poll($poll)), "1\n", 'wakes');
for my $row (
    ['/test/wait?header=Vault-Notify:c02-woken', 'in an answer without a body'],
    ['/test/wait?fail=304&header=Vault-Notify:c02-woken', 'in a 304'],
    ['/test/status?code=204&header=Vault-Notify:c02-woken', 'in a 204'],
    ['/test/echo?text=x&err-header=Vault-Notify:c02-woken', 'among the headers for errors'],
    ['/errors/wait?fail=500&header=Vault-Notify:c02-woken', 'before an error document from elsewhere'],
    ['/errors/wait?fail=500&err-header=Vault-Notify:c02-woken', 'the same, among the headers for errors'],
) {
    my ($path, $why) = @$row;
    text_of('/test/add?name=c02-woken');
    $poll = $woken->start_poll;
    wait_waiting(1);
    is(join(' ', grep { /^vault/ } keys %{get($path)->{headers}}), '', "Vault-Notify $why is taken out");
    like(texts($woken->finish_poll($poll)), qr/^\d+\n/, '... and wakes');
}

# What a method says wrongly fails it, since it may be what it waits for.
for my $row (
    ['Vault-Interest:100%25x', 'Vault-Interest: 100%x: two hexadecimal digits must follow', 'half an escape'],
    ['Vault-Interest:' . 'i' x 201, 'cannot be kept: its name is empty or too long', 'a name that is too long'],
    ['Vault-Property:nonsense', 'Vault-Property: nonsense: key=value', 'no property'],
    ['Vault-Poll:/test/echo?text=new', 'not a method\'s', 'a method of a method'],
    ['Vault-Interest:self&header=Vault-Notify:self', 'notify itself again and again', 'itself'],
) {
    my ($header, $sentence, $why) = @$row;
    announce(qr/VLT00030: method .*\Q$sentence\E/);
    my $wrong = open_page(view("/test/echo?text=x&fail-as=none&header=$header", echo('other')));
    is(texts($wrong->poll), 'other', "$why fails the method");
}
my $again = open_page(view('/test/echo?text=x&header=Vault-Poll:/test/echo?text=other', echo('other')));
is(texts($again->poll), 'other|x', 'a method may name what the page has');
announce(qr/VLT00333: method .* is refused with status 302/);
is(texts(open_page(view('/test/echo?text=x&fail=302&header=Location:/', echo('other')))->poll), 'other', 'a redirect is no news');
announce(qr/VLT00030: method .*is compressed/);
is(texts(open_page(view('/test/echo?text=x&header=Content-Encoding:gzip', echo('other')))->poll), 'other', 'nor is what is compressed');

# A method that has what it waits for notified each time it runs gets no thread for itself.
my $restless = open_page(view('/test/set?name=c02-restless&value=1&notify=c02-restless&header=Vault-Interest:c02-restless'));
$before = status();
$poll = $restless->start_poll;
wait_counter(Runs => $before, 30);
wait_waiting(1);
ok($poll->is_silent, 'a method that wakes itself rests');
wait_counter(Runs => $before, 60);
wait_waiting(1);
ok($poll->is_silent, 'and tries again');

finish();
