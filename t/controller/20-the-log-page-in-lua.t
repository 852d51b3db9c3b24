# SPDX-License-Identifier: Apache-2.0
# examples/lua, the log page of the Vault paper's figure 3, in each scope that mod_lua has: the view shows the rows that are there, polls
# bring the new ones once each, a form saves a row and every page has it.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;
use VaultTest::Lua;

needs_lua();
plan(skip_all => 'there is no database feed') unless has_database();
start_lua('lua-example');

my $id = 0;
sub add
{
    my ($scope, $line) = @_;
    my $answer = post("/$scope/add.lua", "request=$line");
    die "add.lua: $answer->{status} $answer->{body}\n" if $answer->{status} != 204;
    return ++$id;
}

for my $scope (SCOPES) {
    my $first = add($scope, "before-$scope");
    my $page = open_page("/$scope/");
    like($page->html, qr{<script src="/vault/vault\.js" data-vault-page="[0-9a-f]{40}" defer></script>}, "$scope: the page starts the client");
    is($page->{answer}{headers}{'cache-control'}, 'private, no-store', '  and is for this visitor only');
    like($page->html, qr{<tr id="log-$first"><td>\S+</td><td>200</td><td>before-$scope</td></tr>\s*</tbody>}s, '  the rows that are there are in it');
    unlike($page->html, qr/turbo-stream/, '  bare');
    my $other = open_page("/$scope/index.lua");
    my %polls = map { $_->id => $_->start_poll } $page, $other;
    wait_waiting(2);
    ok($_->is_silent, '  nothing is shown twice: a poll waits') for values %polls;
    my $next = add($scope, "after-%3Cb%3E-$scope");
    for my $p ($page, $other) {
        like(VaultTest::Page::text($p->finish_poll($polls{$p->id})),
            qr{\A<turbo-stream action="append" target="logs-div"><template>\s*<tr id="log-$next"><td>\S+</td><td>200</td><td>after-&lt;b&gt;-$scope</td></tr>\s*</template></turbo-stream>\z},
            '  the new row comes to each page, as text in an element');
    }
    my $poll = $page->start_poll;
    wait_waiting(1);
    ok($poll->is_silent, '  once');
    $poll->close;
    wait_waiting(0);
}

is(get('/once/add.lua')->{status}, 405, 'a row is saved by POST alone');
is(post('/once/add.lua', 'request=forged', headers => $_)->{status}, 403, 'and by no page of another site')
    for {Origin => 'http://evil.test'}, {Origin => 'null'}, {'Sec-Fetch-Site' => 'cross-site'};
is(post('/once/add.lua', $_)->{status}, 400, "a form that is '$_' is refused") for '', 'request', 'request=', 'other=x', 'request=%FF';
is(post('/once/add.lua', 'request=' . 'x' x 100_000)->{status}, 400, '  and one that is too long for r:parsebody');
is(get('/once/latest.lua')->{status}, 200, 'the method can be looked at by itself');

finish();
