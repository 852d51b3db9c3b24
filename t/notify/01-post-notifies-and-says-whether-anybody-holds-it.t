# SPDX-License-Identifier: Apache-2.0
# POST /vault/notify with interest=NAME: for writers outside of this server.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Site;

my $notify = sub { post('/vault/notify', @_) };
my $held = sub { JSON::PP::decode_json($_[0]{body})->{held} ? 1 : 0 };

my $answer = $notify->('interest=nobody');
is($answer->{status}, 200, 'an interest that no page holds');
is($answer->{headers}{'content-type'}, 'application/json', 'is answered in JSON');
is($answer->{headers}{'cache-control'}, 'no-store', 'that no cache keeps');
is($answer->{body}, '{"held":false}', 'and says so');

text_of('/test/set?name=out&value=0');
my $page = live_page(['/test/rows?name=out&interest=out%20side%20%C3%A4']);
my $poll = $page->start_poll;
wait_waiting(1);
text_of('/test/set?name=out&value=1');
$answer = $notify->('interest=out+side+%C3%A4');
is($answer->{body}, '{"held":true}', 'an interest that a page holds: spaces and UTF-8 as in any form');
is(VaultTest::Page::text($page->finish_poll($poll)), "1\n", 'and the page is told');

# Held without a poll at the moment: the page has it until it goes.
is($held->($notify->('interest=out+side+%C3%A4')), 1, 'held between two polls');
is($held->($notify->('interest=out+side')), 0, 'a part of a name is another name');
is($held->(post('/vault/notify?interest=out+side+%C3%A4', '')), 1, 'in the query of a POST, too');

# What cannot be a name.
my $sentence = qr/^\{"error":"interest=NAME is needed once, of 1 to 200 bytes"\}$/;
for my $row (
    ['', 'nothing'], ['other=x', 'another parameter'], ['interest=', 'an empty name'], ['interest', 'a name without a value'],
    ['interest=' . 'x' x 201, 'a name of 201 bytes'], ['interest=' . 'x' x 10000, 'a name of 10,000 bytes'],
    ['interest=one&interest=two', 'two names, of which only one would be told'],
) {
    $answer = $notify->($row->[0]);
    is($answer->{status}, 400, "$row->[1]: 400");
    like($answer->{body}, $sentence, '... with a sentence');
}
is($notify->('interest=' . 'x' x 200)->{status}, 200, 'a name of 200 bytes');
is($notify->("interest=a%00b")->{status}, 400, 'a NUL in the name');
is(post('/vault/notify?interest=a%00b', '')->{status}, 400, 'a NUL in the query');
is(post('/vault/notify?interest=%zz', '')->{status}, 400, 'escapes that are none');
is($notify->('interest=' . 'x' x 20000)->{status}, 413, 'a body above 16 KB');
is($notify->(join '&', map { "a$_=1" } 1 .. 200)->{status} >= 400, 1, 'two hundred fields');

# Only POST changes something.
for my $method (qw(GET HEAD PUT DELETE)) {
    $answer = get('/vault/notify?interest=out', method => $method);
    is($answer->{status}, 405, "$method: 405");
    is($answer->{headers}{allow}, 'POST', '... and what is allowed');
}

finish();
