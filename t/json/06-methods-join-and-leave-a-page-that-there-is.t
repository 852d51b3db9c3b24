# SPDX-License-Identifier: Apache-2.0
# POST VaultPath/page {"page":ID,"add":[URL, …],"remove":[URL, …]}: the poll that waits runs what is new, at once.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Site;

plan(skip_all => 'the database feed was not built') unless has_database();

my $json = JSON::PP->new->utf8->canonical;
my $echo = '/vault/feed/tests/echo';
my $url = '/vault/feed/database/get_new_instances?table=joined&limit=1';

sub change
{
    my ($page, $add, $remove, %with) = @_;
    my $body = $json->encode({page => ref $page ? $page->id : $page, add => $add, remove => $remove});
    my $answer = post('/vault/page', $body, headers => {'Content-Type' => 'application/json', %{$with{headers} || {}}});
    $answer->{json} = eval { $json->decode($answer->{body}) };
    return $answer;
}

sub lines
{
    my ($answer) = @_;
    return {map { $_->{method} => [map { $_->{line} // $_->{x} } @{JSON::PP->new->decode($_->{body})}] } @{$answer->{updates}}};
}

insert_row('joined', 'one');
my $made = $json->decode(post('/vault/page', $json->encode({add => ["$echo?x=1"]}))->{body});
my $page = VaultTest::Page->of($made);

# Joining.
my $poll = $page->start_poll;
wait_waiting(1);
my $answer = change($page, [$url, "$echo?x=2"], []);
is_deeply([$answer->{status}, $answer->{json}], [200, {page => $page->id, refused => []}], 'two methods join');
my $seen = lines($page->finish_poll($poll));
$seen = {%$seen, %{lines($page->poll)}} while keys %$seen < 2;
is_deeply($seen, {$url => ['one'], "$echo?x=2" => ['2']}, 'the poll that waits answers their first views, and the old method is not run');
$poll = $page->start_poll;
wait_waiting(1);
insert_row('joined', 'two');
is_deeply(lines($page->finish_poll($poll)), {$url => ['two']}, 'then what is new');

is_deeply(change($page, [$url, "$echo?x=2"], [])->{json}{refused}, [], 'what has joined may join again');
$poll = $page->start_poll;
wait_waiting(1);
is(change($page, ['/vault/feed/tests/empty'], [])->{status}, 200, 'a method without rows joins');
$answer = $page->finish_poll($poll);
is_deeply([map { $_->{format}, $_->{body} } @{$answer->{updates}}], ['first', '[]'], '  and says so, once');

# Leaving, and beginning anew.
$poll = $page->start_poll;
wait_waiting(1);
is(change($page, [], [$url, '/no/such/method'])->{status}, 200, 'a method leaves');
insert_row('joined', 'unheard');
is(change($page, ["$echo?x=3"], [])->{status}, 200, 'another one joins');
is_deeply(lines($page->finish_poll($poll)), {"$echo?x=3" => ['3']}, 'only that one is heard');
is(change($page, [$url], [])->{status}, 200, 'the first comes back');
is_deeply(lines($page->poll), {$url => ['unheard']}, '  with a first view: its place was forgotten');

# An answer on its way when a method joins.
my $before = $page->start_poll;
wait_waiting(1);
insert_row('joined', 'lost');
is_deeply(lines($page->read_poll($before)), {$url => ['lost']}, 'an answer is lost');
is(change($page, ["$echo?x=4"], [])->{status}, 200, 'a method joins');
is_deeply(lines($page->poll), {$url => ['lost'], "$echo?x=4" => ['4']}, 'what was lost comes again, with the new one');

# In any child.
my $joined = 5;
for my $pid (children(3)) {
    my $connection = connect_in($pid);
    $poll = $page->start_poll($connection);
    wait_waiting(1);
    change($page, ["$echo?x=" . $joined], []);
    is_deeply(lines($page->finish_poll($connection)), {"$echo?x=$joined" => [$joined]}, "the poll waits in child $pid");
    $joined++;
}

# What is refused.
$answer = change($page, ["$echo?x=1&x=2", '/vault/feed/database/all?table=none', '/vault/feed/database/save?table=joined&values.line=x', '/test/value', "$echo?x=ok"], []);
is_deeply([map { $_->{status} } @{$answer->{json}{refused}}], [400, 400, 405, 400], 'what is wrong is refused');
is_deeply(lines($page->poll), {"$echo?x=ok" => ['ok']}, '  and what is right has joined');
announce(qr/VLT00070: feed tests, method fail: it was told to fail/, qr{VLT00030: method /vault/feed/tests/fail failed});
$answer = change($page, ['/vault/feed/tests/fail'], []);
is_deeply($answer->{json}{refused}, [{method => '/vault/feed/tests/fail', status => 503, error => 'the data cannot be reached now'}], '503: not now');
my $counters = status();
$poll = $page->start_poll;
wait_counter('Failures', $counters, 1);
is(change($page, [], ['/vault/feed/tests/fail'])->{status}, 200, '  it is a method, and can leave');
$poll->close;
my @many = map { "$echo?y=$_" } 1 .. 16;
$answer = change($page, \@many, []);
my $refused = @{$answer->{json}{refused}};
ok($refused > 0 && $refused < 16, 'no more than VaultMaxMethods');
like($answer->{json}{refused}[0]{error}, qr/^a page may have 16 methods/, '  with a sentence');

my $unknown = '0' x 40;
for my $row ([$unknown, 'a page that there is not'], ['nonsense', 'no id'], ['', 'an empty one'], [$page->id . '0', 'an id that is too long'],
    [substr($page->id, 0, 39), 'one that is too short']) {
    $answer = change($row->[0], [$echo], []);
    is($answer->{status}, 410, "410: $row->[1]");
    like($answer->{json}{error}, qr/^the page has expired$/, '  with a sentence');
}
for my $body ('{"page":1,"add":[],"remove":[]}', '{"page":null,"add":[],"remove":[]}', qq({"page":"$unknown","add":[]}),
    qq({"page":"$unknown","remove":[]}), qq({"page":"$unknown","add":[],"remove":["x",1]}), qq({"page":"$unknown","add":[],"remove":{}})) {
    is(post('/vault/page', $body)->{status}, 400, "400: $body");
}
is(change($page, ["$echo?x=foreign"], [], headers => {'Sec-Fetch-Site' => 'cross-site'})->{status}, 403, '403: a page of another site');

# A page that a view has made, and one of a user.
my $view = live_page(['/test/rows?name=j05&interest=j05']);
is(change($view, ["$echo?x=1"], [])->{status}, 200, 'a page that a view has made takes methods, too');
is_deeply(lines($view->poll), {"$echo?x=1" => [1]}, '  and runs them');
my $annas = $json->decode(post('/private/page', $json->encode({add => ['/private/feed/tests/echo']}), headers => {Authorization => 'Basic YW5uYTpzZWNyZXQ='})->{body});
$answer = change($annas->{page}, [$echo], []);
is_deeply([$answer->{status}, $answer->{json}{error}], [403, 'the page belongs to another user'], '403: a page of another user');
is(change($annas->{page}, [], ['/private/feed/tests/echo'])->{status}, 403, '  from which nothing is taken, either');

finish();
