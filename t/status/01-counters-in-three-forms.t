# SPDX-License-Identifier: Apache-2.0
# /vault/status as HTML, as mod_status's key: value lines, and as JSON: the same counters, in all and by child.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Site;

my @tables = qw(Pages PagesMax Sessions SessionsMax Interests InterestsMax HeapUsed HeapSize HeapLost QosPasses QosPassesMax QosShortages Outputs OutputsMax
    OutputMemory OutputMemoryMax OutputFiles OutputFilesMax OutputHits OutputMisses OutputWaits OutputRenewals OutputEvictions ClusterServers);
my @counters = qw(Waiting WaitingInThreads Unsent ThreadsHeld Polls Answers Timeouts ClientsGone Expired Refused Superseded Redelivered Notifies NotifiesHeld
    NotifiesDelayed NotifyAlls NotifiesSent NotifiesReceived NotifiesExtraneous Engines EngineInterests WakeUps IdleWakeUps QueueOverflows Runs Failures MethodsRefused PagesCreated PagesTakenOver PagesExpired PagesEvicted Cached Fetched Parts Shared);

my $auto = get('/vault/status?auto');
is($auto->{status}, 200, '?auto');
is($auto->{headers}{'content-type'}, 'text/plain; charset=utf-8', '... is text');
is($auto->{headers}{'cache-control'}, 'no-store', '... that no cache keeps');
unlike($auto->{body}, qr/^(?!\w+: \d+$|Qos\d+Location: \S|Feed\d+[A-Z]\w*: \S)./m, '... of lines "key: number", names of locations, what feeds report, and nothing else');
my %auto = $auto->{body} =~ /^(\w+): (\d+)$/mg;
ok(defined $auto{$_}, "... has $_") for @tables, @counters, 'Children';

my $json = get('/vault/status?json');
is($json->{headers}{'content-type'}, 'application/json', '?json');
is($json->{headers}{'cache-control'}, 'no-store', '... that no cache keeps');
my $data = JSON::PP::decode_json($json->{body});
ok(exists $data->{$_}, "... has $_") for @tables, @counters;
is(ref $data->{Children}, 'ARRAY', '... and its children');
is(scalar @{$data->{Children}}, $auto{Children}, '... as many as ?auto says');

my $html = get('/vault/status');
is($html->{headers}{'content-type'}, 'text/html; charset=utf-8', 'without a query: HTML');
is($html->{headers}{'cache-control'}, 'no-store', '... that no cache keeps');
like($html->{body}, qr{<th>$_</th><td>\d+</td>}, "... has $_") for @tables, @counters;
my ($children) = $html->{body} =~ m{<h2>Children</h2>\n<table>\n(.*?)</table>}s;
is(scalar(() = $children =~ /<tr><td>/g), $auto{Children}, '... a row for each child');
is(scalar(() = $children =~ /<th[ >]/g), 2 + @counters, '... with all counters');

for my $row (['application/json', 'application/json'], ['text/html', 'text/html; charset=utf-8'], ['*/*', 'text/html; charset=utf-8']) {
    is(get('/vault/status', headers => {Accept => $row->[0]})->{headers}{'content-type'}, $row->[1], "Accept: $row->[0]");
}
is(get('/vault/status?auto', headers => {Accept => 'application/json'})->{headers}{'content-type'}, 'text/plain; charset=utf-8',
    'a query decides before Accept');

for my $query ('?', '?auto', '?json') {
    my $head = get("/vault/status$query", method => 'HEAD');
    is($head->{status}, 200, "HEAD $query");
    is($head->{body}, '', '... has no body');
}
for my $method (qw(POST PUT DELETE)) {
    my $answer = get('/vault/status', method => $method, body => '');
    is($answer->{status}, 405, "$method is not for looking");
    like($answer->{headers}{allow} // '', qr/\bGET\b/, '... and what is, is said');
}

# The sum is that of the children and of those that are gone; what a child does is counted there.
my $sum_of = sub {
    my ($s, $name) = @_;
    my $sum = 0;
    $sum += $_->{$name} for @{$s->{Children}};
    return $sum;
};
my ($one, $two) = children(3);
my $child = sub {
    my ($s, $pid) = @_;
    return (grep { $_->{Pid} == $pid } @{$s->{Children}})[0];
};
my $before = status_of_children();
my $connection = connect_in($two);
$connection->request(GET => '/test/notify?interest=counted')->response for 1 .. 5;
my $after = status_of_children();
is($child->($after, $two)->{Notifies} - $child->($before, $two)->{Notifies}, 5, 'what a child did is counted as its own');
is($child->($after, $one)->{Notifies}, $child->($before, $one)->{Notifies}, '... and not as another\'s');
is($after->{Notifies} - $before->{Notifies}, 5, '... and in the sum');
for my $name (@counters) {
    cmp_ok($after->{$name}, '>=', $sum_of->($after, $name), "$name: the sum contains every child") if $name !~ /^(?:PagesExpired|PagesEvicted|WakeUps)$/;
}

# A poll that waits is counted where it waits.
my $page = live_page(['/test/rows?name=counted&interest=counted']);
text_of('/test/set?name=counted&value=0');
my $poll = connect_in($one);
$page->start_poll($poll);
wait_waiting(1);
my $waiting = status_of_children();
is($child->($waiting, $one)->{Waiting}, 1, 'a poll that waits is counted in its child');
is($child->($waiting, $two)->{Waiting}, 0, '... and in no other');
$poll->close;
wait_waiting(0);
is(status_of_children()->{WaitingInThreads}, 0, 'none waits in a thread');

finish();
