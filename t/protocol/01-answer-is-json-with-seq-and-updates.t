# SPDX-License-Identifier: Apache-2.0
# What a poll is answered: JSON with a number and the updates, one for each method that wrote something; never kept by a
# cache.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p01&interest=p01']);
like($page->html, qr{<script src="/vault/vault\.js" data-vault-page="[0-9a-f]{40}" defer></script>}, 'the page carries its client');
like($page->{answer}{headers}{'cache-control'}, qr/private, no-store/, 'no cache keeps a page');

text_of('/test/add?name=p01');
my $answer = $page->poll;
is($answer->{status}, 200, 'there are news');
is($answer->{headers}{'content-type'}, 'application/json', 'they are JSON');
is($answer->{headers}{'cache-control'}, 'no-store', 'that no cache keeps');
cmp_ok($answer->{seq}, '>', 0, 'numbered, and a fresh page is number 0');
is_deeply(
    $answer->{updates},
    [{method => '/test/rows?name=p01&interest=p01', type => 'text/html', body => "1\n"}],
    'one update: the method, its type, what it wrote'
);

my $first = $page->seq;
my $poll = $page->start_poll;
wait_waiting(1);
ok($poll->is_silent, 'nothing new: the poll waits, and not a byte of an answer is sent');
text_of('/test/add?name=p01&notify=p01');
$answer = $page->finish_poll($poll);
is($answer->{updates}[0]{body}, "2\n", 'the change comes, and the earlier one does not come again');
isnt($answer->{seq}, $first, 'under another number');

my $typed = live_page(['/test/echo?text=%7B%22a%22%3A1%7D&type=application/json%3B+charset=utf-8']);
$answer = $typed->poll;
is($answer->{updates}[0]{type}, 'application/json', 'the type is the method\'s, without its parameters');
is($answer->{updates}[0]{body}, '{"a":1}', 'the body is as the method wrote it');

my $odd = live_page(['/test/echo?text=%22%5C%0A%09%01%3C/script%3E%C3%A4%F0%9F%98%80']);
is($odd->poll->{updates}[0]{body}, qq("\\\n\t\x01</script>\xc3\xa4\xf0\x9f\x98\x80), 'quotes, control and wide characters arrive as they were');

finish();
