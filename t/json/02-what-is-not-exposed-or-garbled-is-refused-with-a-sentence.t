# SPDX-License-Identifier: Apache-2.0
# The URLs of feeds get bad input of every kind: the status says what it is, the body says why, and nothing is called.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Site;

sub refused
{
    my ($answer, $status, $error, $why) = @_;
    is($answer->{status}, $status, "$status: $why");
    my $said = eval { JSON::PP->new->utf8->decode($answer->{body})->{error} } // "no JSON: $answer->{body}";
    like($said, $error, '  with a sentence');
    is($answer->{headers}{'cache-control'}, 'no-store', '  for no cache');
    return;
}

my $none = qr/^no such method of a feed is exposed here$/;
for my $row (
    ['/vault/feed/none/echo', 'a feed that there is not'],
    ['/vault/feed/tests/ekho', 'a method that there is not'],
    ['/vault/feed/tests/overreach', 'a method that is not exposed'],
    ['/vault/feed/tests/tick', 'a method that is exposed no more in a narrower context'],
    ['/vault/feed/hasty/all?table=logs', 'another feed with a method of that name'],
    ['/vault/feed/TESTS/echo', 'another spelling of the feed'],
    ['/vault/feed/tests/Echo', 'another spelling of the method'],
    ['/vault/feed/x/tests/echo', 'something before it, for which other rules may hold'],
    ['/vault/feed/tests/echo/', 'something after it'],
    ['/vault/feed/tests/echo/x', 'more after it'],
    ['/vault/feed/tests/', 'no method'],
    ['/vault/feed/tests', 'no feed'],
    ['/vault/feed/', 'neither'],
    ['/vault/feed', 'not even a slash'],
    ['/elsewhere/feed/tests/echo', 'not below VaultPath'],
) {
    refused(get($row->[0]), 404, $none, $row->[1]);
}
refused(post('/vault/feed/tests/tick', 'x=1'), 404, $none, 'the same by POST, whose body is read');

for my $row (
    ['x=1&x=2', qr/^the argument x is given twice$/, 'an argument twice'],
    ['x=1&x.y=2', qr/^the argument x\.y is not UTF-8, or has no proper name$/, 'a value and an object of one name'],
    ['x.y=1&x=2', qr/^the argument x is given twice$/, 'the other way round'],
    ['.x=1', qr/^the argument \.x .*no proper name$/, 'a name that begins with a dot'],
    ['x.=1', qr/no proper name$/, 'that ends with one'],
    ['x..y=1', qr/no proper name$/, 'that has two'],
    ['x=%ff', qr/^the argument x is not UTF-8/, 'bytes that are no text'],
    ['%ff=x', qr/^the argument \x{fffd} is not UTF-8/, 'in a name'],
    ['x=%00', qr/^the query and a form must be URL-encoded, with no NUL/, 'a NUL'],
    ['x%00=1', qr/^the query and a form must be URL-encoded/, 'a NUL in a name'],
    ['x=%zz', qr/^the query and a form must be URL-encoded/, 'half an escape'],
    ['x=%', qr/^the query and a form must be URL-encoded/, 'less of one'],
    [join('.', ('a') x 10) . '=1', qr/no proper name$/, 'objects too deep'],
    [join('.', ('a') x 4000) . '=1', qr/no proper name$/, 'far too deep'],
    ['n' x 4000 . '.x=1', qr/no proper name$/, 'a name that is too long'],
) {
    my ($query, $error, $why) = @$row;
    refused(get("/vault/feed/tests/echo?$query"), 400, $error, $why);
    refused(post('/vault/feed/tests/echo', $query), 400, $error, '  in a form');
}
my $fields = join '&', map { "a$_=1" } 1 .. 101;
refused(get("/vault/feed/tests/echo?$fields"), 400, qr/at most 100 fields$/, 'too many fields');
refused(post('/vault/feed/tests/echo', $fields), 413, qr/^the form is too long/, '  in a form');
is(post('/vault/feed/tests/echo', 'x=' . 'y' x 20_000)->{status}, 413, 'a form that is too long: 413');
is(get('/vault/feed/tests/echo?x=' . 'y' x 10_000)->{status}, 414, 'a query that is too long: 414');

# Forms of other kinds: the URL's own arguments are not enough to call it, since those of the form were meant as well.
my $multipart = qq(--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--b--\r\n);
for my $row (
    ['multipart/form-data; boundary=b', $multipart], ['application/json', '{"x":1}'], ['text/plain;charset=UTF-8', 'x=1'],
    ['application/x-www-form-urlencoded2', 'x=1'], ['application/json', '{"x":"' . 'y' x 500_000 . '"}'],
) {
    my ($type, $body) = @$row;
    for my $path ('/vault/feed/tests/echo?y=2', '/vault/notify?interest=x', '/vault/poll') {
        refused(post($path, $body, headers => {'Content-Type' => $type}), 415, qr{^the body must be application/x-www-form-urlencoded$}, "$type to $path");
    }
}
is(post('/vault/feed/tests/echo?y=2', '', headers => {'Content-Type' => 'application/json'})->{status}, 200, 'no body at all is of no kind');
is(post('/vault/feed/tests/echo?y=2', 'x=1', headers => {'Content-Type' => 'Application/X-WWW-Form-Urlencoded; charset=UTF-8'})->{body}, '[{"y":"2","x":"1"}]', 'a form is');
my $twice = connect_to();
for my $round (1, 2) {
    $twice->request('POST', '/vault/feed/tests/echo', {'Content-Type' => 'application/json'}, '{}');
    is($twice->response->{status}, 415, "request $round on a connection: what is refused is read to its end");
}

for my $method (qw(HEAD PUT DELETE PATCH OPTIONS)) {
    my $answer = get('/vault/feed/tests/echo', method => $method, $method =~ /^P/ ? (body => 'x=1') : ());
    is($answer->{status}, 405, "$method: 405");
    is($answer->{headers}{allow}, 'GET, POST', '  with what is allowed');
    is($answer->{body}, '{"error":"this URL takes GET and POST"}', '  in words, too') if $method ne 'HEAD';
}

announce(qr/VLT00070: feed tests, method fail: it was told to fail/);
my $answer = get('/vault/feed/tests/fail');
refused($answer, 503, qr/^the data cannot be reached now$/, 'a feed that cannot answer; its own words are for the log');
is($answer->{headers}{'retry-after'}, 5, '  with a time to come again');

SKIP: {
    skip 'the database feed was not built', 9 unless has_database();
    my $before = () = rows_of('notes');
    $answer = get('/vault/feed/database/save?table=notes&values.line=by+GET');
    refused($answer, 405, qr/^a feed's method that writes takes POST$/, 'a method that writes, by GET');
    is($answer->{headers}{allow}, 'POST', '  with what is allowed');
    is(get('/vault/feed/database/save?table=notes&values.line=x', method => 'HEAD')->{status}, 405, '  nor by HEAD');
    refused(get('/vault/feed/database/all?table=nothing'), 400, qr/^there is no table "nothing"/, 'what the feed says of an argument');
    refused(get(q{/vault/feed/database/all?table=notes;drop%20table%20notes}), 400, qr/^there is no table/, 'SQL for a table');

    announce(qr{VLT00030: method /vault/feed/database/save\S* failed: the method changes data});
    my $page = live_page(['/vault/feed/database/save?table=notes&values.line=polled', '/test/rows?name=j02&interest=j02']);
    text_of('/test/add?name=j02');
    is(VaultTest::Page::text($page->poll), "1\n", 'nor does a poll write');
    is(scalar(() = rows_of('notes')), $before, 'nothing was written');
}

finish();
