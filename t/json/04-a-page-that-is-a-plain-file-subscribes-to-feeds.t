# SPDX-License-Identifier: Apache-2.0
# POST VaultPath/page {"add":[URL, …]}: a page with these methods, and what they have to say first.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Site;

my $json = JSON::PP->new->utf8->canonical;
my ($echo, $empty) = ('/vault/feed/tests/echo', '/vault/feed/tests/empty');

sub subscribe
{
    my ($request, %with) = @_;
    my $body = ref $request ? $json->encode($request) : $request;
    my $answer = post($with{path} || '/vault/page', $body, headers => {'Content-Type' => 'application/json', %{$with{headers} || {}}});
    $answer->{json} = eval { $json->decode($answer->{body}) };
    return $answer;
}

my $before = status();
my $answer = subscribe({add => ["$echo?x=1", "$empty?y=2"]});
is($answer->{status}, 200, 'a page is made');
is($answer->{headers}{'cache-control'}, 'no-store', '  for no cache');
like($answer->{json}{page}, qr/^[0-9a-f]{40}$/, '  with an id');
is($answer->{json}{seq}, 0, '  that shows answer number 0');
is_deeply($answer->{json}{updates}, [
    {method => "$echo?x=1", type => 'application/json', format => 'first', body => '[{"x":"1"}]'},
    {method => "$empty?y=2", type => 'application/json', format => 'first', body => '[]'}], '  which is what the methods say first');
is_deeply($answer->{json}{refused}, [], '  and nothing was refused');
is(status()->{PagesCreated} - $before->{PagesCreated}, 1, 'it counts as a page');

SKIP: {
    skip 'the database feed was not built', 7 unless has_database();
    insert_row('subscribed', 'one');
    my $url = '/vault/feed/database/get_new_instances?table=subscribed&limit=1';
    my $made = subscribe({add => [$url, "$echo?x=1"]})->{json};
    is($json->decode($made->{updates}[0]{body})->[0]{line}, 'one', 'the first view');
    insert_row('subscribed', 'between');
    my $page = VaultTest::Page->of($made);
    my $poll = sub { [map { [$_->{method}, map { $_->{line} } @{JSON::PP->new->decode($_->{body})}] } @{$_[0]{updates}}] };
    is_deeply($poll->($page->poll), [[$url, 'between']], 'what is written before the first poll is its answer, and no more');
    my $waiting = $page->start_poll;
    wait_waiting(1);
    insert_row('subscribed', 'later');
    is_deeply($poll->($page->read_poll($waiting)), [[$url, 'later']], 'then what is written while it waits');
    is_deeply($poll->($page->poll), [[$url, 'later']], 'an answer that was lost comes again');
    is(get($page->path . '&ack=1')->{status}, 204, 'it is a page like any other');

    # The same call twice, each with a place of its own.
    $made = subscribe({add => [$url, "$url&=2"]})->{json};
    is_deeply([map { $json->decode($_->{body})->[0]{line} } @{$made->{updates}}], ['later', 'later'], 'the same call twice: two first views');
    insert_row('subscribed', 'both');
    is_deeply([sort map { $_->[0] } @{$poll->(VaultTest::Page->of($made)->poll)}], [$url, "$url&=2"], '  and news for both');
}

# What is refused, and why. The others stay.
$answer = subscribe({add => ["$echo?x=1&x=2", '/vault/feed/tests/overreach', "$echo?x=3"]});
is_deeply([map { $_->{body} } @{$answer->{json}{updates}}], ['[{"x":"3"}]'], 'a method that is right beside some that are wrong');
is_deeply($answer->{json}{refused}, [
    {method => "$echo?x=1&x=2", status => 400, error => 'the argument x is given twice'},
    {method => '/vault/feed/tests/overreach', status => 404, error => 'no such method of a feed is exposed here'}], '  which are named');
my @wrong = (
    ['/test/value', 400, 'a method that is no feed\'s'],
    ['/vault/status', 400, 'one of ours that is no feed\'s'],
    ['http://localhost/vault/feed/tests/echo', 400, 'another server'],
    ['//localhost/vault/feed/tests/echo', 400, 'the same'],
    ['/vault/feed/../status', 400, 'a detour'],
    ['/vault/feed/../../test/value', 400, 'a longer one'],
    ['/vault/feed/tests/%2e%2e/x', 400, 'an escape in the path'],
    ['/vault/feed/tests/echo/more', 400, 'a longer path'],
    ['/vault/feed/tests/echo#x', 400, 'a fragment'],
    ['/vault/feed/tests/echo?x=#', 400, 'a fragment in the query'],
    ['/vault/feed/tests/echo?x=a b', 400, 'a space'],
    ["/vault/feed/tests/echo?x=\x{e9}", 400, 'no ASCII'],
    ["/vault/feed/tests/echo?x=a\r\nb", 400, 'a second line'],
    ['/vault/feed/tests/echo?x=' . 'y' x 1024, 400, 'a URL that is too long'],
    ['/vault/feed/tests/echo?x=%zz', 400, 'garbled arguments'],
    ['', 400, 'nothing'],
    ['/vault/feed/tests/nothing', 401, 'what asks for a password'],
    ['/vault/feed/tests/tick', 404, 'what is not exposed there'],
);
$answer = subscribe({add => [map { $_->[0] } @wrong]});
is_deeply($answer->{json}{updates}, [], 'where all is wrong there is no update');
ok(!exists $answer->{json}{page}, '  and no page');
my %refused = map { $_->{method} => $_ } @{$answer->{json}{refused}};
for my $row (@wrong) {
    is($refused{$row->[0]}{status}, $row->[1], "$row->[1]: $row->[2]");
    like($refused{$row->[0]}{error}, qr/\w+ \w+/, '  with a sentence');
}
SKIP: {
    skip 'the database feed was not built', 2 unless has_database();
    $answer = subscribe({add => ['/vault/feed/database/save?table=subscribed&values.line=x', '/vault/feed/database/all?table=none']});
    is_deeply([map { $_->{status} } @{$answer->{json}{refused}}], [405, 400], 'a method that writes, and what a feed says of arguments');
    like($answer->{json}{refused}[1]{error}, qr/^there is no table "none"/, '  in its own words');
}

# A method that cannot answer now stays, and the polls try it again.
$answer = subscribe({add => ['/vault/feed/tests/fail']});
is_deeply($answer->{json}{refused}, [{method => '/vault/feed/tests/fail', status => 503, error => 'the data cannot be reached now'}], '503: not now');
announce(qr{VLT00030: method /vault/feed/tests/fail failed: it was told to fail});
$before = status();
my $poll = VaultTest::Page->of($answer->{json})->start_poll;
wait_counter('Failures', $before, 1);
$poll->close;

# Limits.
$answer = subscribe({add => [map { "$echo?x=$_" } 1 .. 17]});
is(scalar @{$answer->{json}{updates}}, 16, 'as many methods as VaultMaxMethods allows');
is_deeply($answer->{json}{refused}, [{method => "$echo?x=17", status => 403, error => 'a page may have 16 methods'}], '  and not one more');
$answer = subscribe({add => [("$echo?x=1") x 100]});
is(scalar @{$answer->{json}{updates}}, 1, 'the same URL is one method');

# Requests that are none.
for my $row (
    ['', 'no body'], ['[]', 'a list'], ['{}', 'no list'], ['{"add":"x"}', 'a string'], ['{"add":[1]}', 'a number in the list'],
    ['{"add":[null]}', 'null in the list'], ['{"add":["x"', 'half a body'], ["{\"add\":[\"\xff\"]}", 'no UTF-8'], ["{\"add\":[]}\0", 'a NUL'],
    ['{"add":["\u0000"]}', 'a NUL in a string'], ['[' x 100_000, 'brackets'], ['null', 'null'], ['x=1', 'a form']
) {
    $answer = subscribe($row->[0]);
    is($answer->{status}, 400, "400: $row->[1]");
    like($answer->{json}{error} // '', qr/^the body must be JSON/, '  with a sentence');
}
is(subscribe({add => [map { "$echo?x=1&x=$_" } 1 .. 101]})->{status}, 400, '400: more methods than one request may try');
is(subscribe(' ' x 140_000)->{status}, 413, '413: a body that is too long');
for my $method (qw(GET HEAD PUT DELETE OPTIONS)) {
    $answer = get('/vault/page', method => $method, $method eq 'PUT' ? (body => '{}') : ());
    is($answer->{status}, 405, "405: $method");
    is($answer->{headers}{allow}, 'POST', '  with what is allowed');
}
for my $headers ({'Sec-Fetch-Site' => 'cross-site'}, {Origin => 'http://evil.test'}) {
    is(subscribe({add => [$echo]}, headers => $headers)->{status}, 403, '403: a page of another site');
}

# A page of a user is that user's.
my %anna = ('Authorization' => 'Basic YW5uYTpzZWNyZXQ=');
is(subscribe({add => ['/private/feed/tests/echo']}, path => '/private/page')->{status}, 401, '401: a door of its own');
$answer = subscribe({add => ['/private/feed/tests/echo']}, path => '/private/page', headers => \%anna);
is(scalar @{$answer->{json}{updates}}, 1, '  for who may');
announce(qr/VLT00032: the page belongs to another user than nobody/);
is(VaultTest::Page->of($answer->{json})->poll->{status}, 403, '  and the page is theirs');

# An answer that is too long for a page.
announce(qr{VLT00030: method /vault/feed/tests/echo\S* failed: it wrote more than VaultMaxOutput, 1024 bytes});
use_server(VaultTest::Server->start('json-small', config => <<"END"));
VaultFeed tests "@{[vars('top_dir')]}/modules/vault_feed_test.so" word=hello
VaultMaxOutput 1024
<Location "/vault/feed">
    SetHandler vault-feed
    VaultFeedExpose tests echo
</Location>
<Location "/vault/page">
    SetHandler vault-page
</Location>
END
$answer = subscribe({add => ["$echo?x=" . '%01' x 200]});
is($answer->{json}{refused}[0]{status}, 503, '503: an answer beyond VaultMaxOutput');
like($answer->{json}{refused}[0]{error}, qr/^what it answered cannot be passed on/, '  with a sentence');
$before = status();
$poll = VaultTest::Page->of($answer->{json})->start_poll;
wait_counter('Failures', $before, 1);
$poll->close;

finish();
