# SPDX-License-Identifier: Apache-2.0
# GET VaultPath/feed/NAME/METHOD?argument=value: rows as JSON, which no cache keeps.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Site;

sub rows { return JSON::PP->new->utf8->decode(text_of(@_)) }

my $answer = get('/vault/feed/tests/echo?x=1&where.status=404&where.line=a%20b%2Bc+d&e=%C3%A9');
is($answer->{status}, 200, 'rows: 200');
is_deeply(JSON::PP->new->utf8->decode($answer->{body}), [{x => '1', where => {status => '404', line => 'a b+c d'}, e => "\x{e9}"}],
    'dots nest arguments, and values are text');
is($answer->{headers}{'content-type'}, 'application/json', 'JSON');
is($answer->{headers}{'cache-control'}, 'no-store', '  for no cache');
is($answer->{headers}{'x-content-type-options'}, 'nosniff', '  and no script element');

is_deeply(rows('/vault/feed/tests/echo'), [{}], 'without arguments');
is_deeply(rows('/vault/feed/tests/echo?&=2&x=1&=3'), [{x => '1'}], 'a field without a name says nothing');
is_deeply(rows('/vault/feed/tests/echo?X=1&x=2'), [{X => '1', x => '2'}], 'names are as they are written');
is_deeply(rows('/vault/feed/tests/empty'), [], 'an empty list');
is(get('/private/feed/tests/echo')->{status}, 401, 'below another VaultPath, and closed');
is_deeply(rows('/private/feed/tests/echo', headers => {Authorization => 'Basic YW5uYTpzZWNyZXQ='}), [{}], '  for who may');

my $posted = post('/vault/feed/tests/echo?x=1', 'y.z=2&t=' . 'x' x 10_000);
is_deeply(JSON::PP->new->utf8->decode($posted->{body}), [{x => '1', y => {z => '2'}, t => 'x' x 10_000}], 'a form for what is too long for a URL');

SKIP: {
    skip 'the database feed was not built', 8 unless has_database();
    my $saved = post('/vault/feed/database/save', 'table=notes&values.line=%3Cone%3E');
    is($saved->{status}, 200, 'a method that writes is called by POST');
    like($saved->{body}, qr/^\[\{"id":\d+\}\]$/, '  and answers its rows');
    my @rows = @{rows('/vault/feed/database/get_new_instances?table=notes&limit=1')};
    is($rows[0]{line}, '<one>', 'without a page each call is a first view');
    is_deeply(rows('/vault/feed/database/get_new_instances?table=notes&limit=1'), \@rows, '  and the next one again');

    # As the method of a page.
    my $page = live_page(['/vault/feed/database/get_new_instances?table=notes&limit=1']);
    my ($first) = @{$page->poll->{updates}};
    is_deeply(JSON::PP->new->utf8->decode($first->{body}), \@rows, 'a page that has it as a method gets the first view');
    is($first->{format}, 'first', '  which says that it is one');
    my $poll = $page->start_poll;
    wait_waiting(1);
    post('/vault/feed/database/save', 'table=notes&values.line=two');
    my ($update) = @{$page->finish_poll($poll)->{updates}};
    is($update->{type}, 'application/json', '  then news, as JSON');
    ok(!exists $update->{format}, '  which says nothing');
    is_deeply([map { $_->{line} } @{JSON::PP->new->decode($update->{body})}], ['two'], '  and these only');
}

# A feed that cannot tell what happened since gives a first view again, and says so.
my $page = live_page(['/vault/feed/tests/again?interest=j01-again']);
for my $why ('a first view', 'and again, after a notify') {
    my ($update) = @{$page->poll->{updates}};
    is($update->{format}, 'first', $why);
    like($update->{body}, qr/^\[\{"view":\d+\}\]$/, '  with its rows');
    post('/vault/notify', 'interest=j01-again');
}

# What has nothing to say is said once, and then the page waits.
$page = live_page(['/vault/feed/tests/empty', '/test/rows?name=j01&interest=j01']);
is(VaultTest::Page::text($page->poll), '[]', 'an empty list is an answer, too');
my $poll = $page->start_poll;
wait_waiting(1);
text_of('/test/add?name=j01&notify=j01');
is(VaultTest::Page::text($page->finish_poll($poll)), "1\n", 'the page waits on');

finish();
