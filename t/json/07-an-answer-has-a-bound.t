# SPDX-License-Identifier: Apache-2.0
# A feed's method by URL answers at most VaultMaxAnswer bytes: what would be more is refused with a sentence, and fewer rows are had. So is the
# first answer to a page that is a plain file: methods that have no room come with its first poll.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Site;

use constant ROOM => 4096;

my $database = has_database() ? qq(VaultFeed database "@{[vars('top_dir')]}/modules/vault_feed_database.so" database=@{[vars('t_logs')]}/json-bound.db init=@{[vars('top_dir')]}/t/conf/site.sql) : '';
my $expose = has_database() ? 'VaultFeedExpose database save get_new_instances all' : '';
use_server(VaultTest::Server->start('json-bound', config => <<"END"));
VaultFeed tests "@{[vars('top_dir')]}/modules/vault_feed_test.so" word=hello
$database
VaultMaxAnswer @{[ROOM]}
<Location "/vault/feed">
    SetHandler vault-feed
    VaultFeedExpose tests echo
    $expose
</Location>
<Location "/vault/page">
    SetHandler vault-page
</Location>
END

sub long { return '/vault/feed/tests/echo?x=' . 'a' x $_[0] }

# [{"x":"aaa…"}] has ten characters around the value.
is(length get(long(ROOM - 10))->{body}, ROOM, 'an answer of just so many bytes');
my $answer = get(long(ROOM - 9));
is($answer->{status}, 413, 'one byte more: 413');
like($answer->{body}, qr/^\{"error":"the answer has more than 4096 bytes, VaultMaxAnswer: ask for less/, '  with a sentence');
my $form = post('/vault/feed/tests/echo', 'x=' . 'a' x 8000);
is($form->{status}, 413, 'a form that brings more than that: the same');
is(text_of('/vault/feed/tests/echo?x=1'), '[{"x":"1"}]', 'and the next call is answered as usual');

SKIP: {
    skip 'the database feed was not built', 6 unless has_database();
    is(post('/vault/feed/database/save', 'table=notes&values.line=' . ('b' x 900))->{status}, 200, 'a row') for 1 .. 6;
    for my $method ('all?table=notes&order_by=-id', 'get_new_instances?table=notes') {
        my $url = "/vault/feed/database/$method";
        $answer = get($url);
        is($answer->{status}, 413, "six rows are too much: $method");
        like($answer->{body}, qr/"error":"the rows have more than 4096 bytes, which is more than one answer may have: ask for fewer/, '  with a sentence');
        is(scalar @{JSON::PP::decode_json(text_of("$url&limit=4"))}, 4, '  and four are had');
    }
}

# Each update has the 1,000 bytes of its URL, and as many of rows: two have room.
my @urls = map { long(950) . $_ } 'a' .. 'e';
$answer = post('/vault/page', JSON::PP::encode_json({add => \@urls}), headers => {'Content-Type' => 'application/json'});
my $made = JSON::PP::decode_json($answer->{body});
is($answer->{status}, 200, 'a page of five methods');
cmp_ok(length $answer->{body}, '<', ROOM + 5 * 1200, '  has an answer within the bound, and what it says of the others');
my @shown = map { $_->{method} } @{$made->{updates}};
is(scalar @shown, 2, '  with as many as have room');
is_deeply([map { "$_->{status}" } @{$made->{refused}}], [503, 503, 503], '  the others are told to wait');
like($made->{refused}[0]{error}, qr/^the answer is full \(VaultMaxAnswer\): the rest comes with a poll$/, '  with a sentence');
my $page = VaultTest::Page->of($made);
push @shown, map { $_->{method} } @{$page->poll->{updates}} for 1, 2;
is_deeply([sort @shown], \@urls, '  and come with its first polls, each once');
my $poll = $page->start_poll;
wait_waiting(1);
$poll->close;

finish();
