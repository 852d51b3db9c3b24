# SPDX-License-Identifier: Apache-2.0
# Scripts that live longer than a request, in many threads at once; a request that was kept is found out; httpd without mod_vault.
use strict;
use warnings;
use VaultTest;
use VaultTest::Lua;

needs_lua();
start_lua('lua-scopes', config => <<"END");
Alias "/one/" "@{[vars('top_dir')]}/examples/lua/"
<Location "/one/">
    LuaScope server 1 1
</Location>
END

# ---------------------------------------------------------------- a request that is over
my $over = 'this request is over; use the r that handle(r) was given now';
is(lua_in('one', 'kept, feed = r, vault.feed("tests") return vault.script(r)') =~ s/<script.*script>/script/r, '""', 'a script keeps its request');
wait_until(sub { lua_in('one', 'return vault.script(kept)') ne '""' }, 'the request is over');
for my $row (['vault.script(kept)', 1, 'script'], ['vault.set(kept, "k", "v")', 1, 'set'], ['vault.render(kept, "log-entries.html", {})', 1, 'render'],
    ['feed:echo(kept, {})', 1, 'echo'], ['vault.add_long_poll(kept, "/x")', 1, 'add_long_poll'])
{
    my ($code, $arg, $name) = @$row;
    is(lua_in('one', "return $code"), "bad argument #$arg to '$name' ($over)", "later it is over: $code");
}
is(lua_in('one', 'return feed:echo(r, {x = 1})'), '{{x=1}}', 'a feed can be kept');
is(lua_in('one', 'kept = nil feed = nil collectgarbage() collectgarbage() return "fine"'), '"fine"', 'what was kept is collected');

# The same on one connection, whose requests share a Lua.
my $connection = connect_to();
my $eval = sub { $connection->request(GET => '/conn/eval.lua?' . VaultTest::_escape($_[0])); return $connection->response->{body} };
is($eval->('kept = r return vault.script(r)'), '""', 'scope conn: kept');
is($eval->('return vault.script(kept)'), "bad argument #1 to 'script' ($over)", '... and over');
is($eval->('return vault.script(r)'), '""', '... and the present one is not');
$connection->close;

# In a method, too: the request of the last run is over when the next one begins.
my $method = code_url('one', 'local ok, why = pcall(vault.get, last or r, "k") last = r vault.get(r, "k") '
    . 'if vault.create_interest(r, "lua-kept") then r:puts(tostring(why)) end');
my $page = open_page(code_url('one', qq{vault.add_long_poll(r, "$method") r:puts(vault.script(r))}));
is(VaultTest::Page::text($page->poll), 'nil', 'the first run of a method');
my $poll = $page->start_poll;
wait_waiting(1);
is(lua_in('one', 'return vault.notify("lua-kept")'), 'true', 'a page holds the interest');
like(VaultTest::Page::text($page->finish_poll($poll)), qr/\Q$over\E/, 'the next run finds out that the request of the first is over');
is(lua_in('one', 'return vault.notify("lua-nobody")'), 'false', 'no page holds another');

# ---------------------------------------------------------------- properties, and the loop that cannot miss a change
$method = code_url('thread', 'if vault.create_interest(r, "lua-count") then local n = math.tointeger(vault.get(r, "n")) + 1 '
    . 'vault.set(r, "n", n) r:puts(n) end');
$page = open_page(code_url('once', qq{vault.add_long_poll(r, "$method") vault.set(r, "n", 0) vault.set(r, "gone", "x") vault.set(r, "gone") }
        . 'r:puts(vault.script(r), tostring(vault.get(r, "gone")))'));
like($page->html, qr/nil\z/, 'a property that was removed is not there');
is(VaultTest::Page::text($page->poll), '1', 'a property of the view is there in the method');
$poll = $page->start_poll;
wait_waiting(1);
lua_in('server', 'vault.notify("lua-count")');
is(VaultTest::Page::text($page->finish_poll($poll)), '2', '... and what the method set is there in the next run');
$page->{seq} = 0;
is($page->poll->{status}, 410, 'that seq is over');

# ---------------------------------------------------------------- rows that are a first view again
for my $row (['anew', 'true', 'update'], ['echo', 'false', 'append']) {
    my ($call, $anew, $action) = @$row;
    my $method = code_url('server', qq{local rows = vault.feed("tests"):$call(r, {id = 1}) r:puts(tostring(vault.is_reset(rows)), " ") }
        . 'vault.render(r, "log-entries.html", rows, {append = "list"})');
    my $page = open_page(code_url('server', qq{vault.add_long_poll(r, "$method") r:puts(vault.script(r))}));
    like(VaultTest::Page::text($page->poll), qr{\A$anew <turbo-stream action="$action" target="list"><template>}, "what a feed gives: is_reset is $anew, append becomes $action");
}
is(lua_in('server', 'return vault.is_reset({}), vault.is_reset(nil), vault.is_reset(1)'), 'false false false', 'nothing else is a first view again');

# ---------------------------------------------------------------- many at once
my $busy = 'local feed, n = vault.feed("tests"), 0 for i = 1, 50 do '
    . 'local rows = feed:echo(r, {id = %d, list = {i, i + 1, {x = ("y"):rep(i)}}}) '
    . 'if rows[1].id == %d and rows[1].list[2] == i + 1 and #rows[1].list[3].x == i then n = n + 1 end '
    . 'if not pcall(feed.echo, feed, r, {v = {i, print}}) then n = n + 1 end '
    . 'if vault.render(r, "log-entries.html", {}) then n = n + 1 end '
    . 'end return n, feed:fail(r)';
# As many as there are threads, less those that other connections may need.
sub at_once
{
    my ($scope, @ids) = @_;
    my @asked = map {
        my $c = connect_to();
        $c->request(GET => "/$scope/eval.lua?" . VaultTest::_escape(sprintf $busy, $_, $_), {Connection => 'close'});
        $c
    } @ids;
    return map { my $body = $_->response->{body}; $_->close; $body } @asked;
}

for my $scope (SCOPES) {
    my @wrong = grep { $_ !~ /\A\s*150 nil "it was told to fail" 503\z/ } map { at_once($scope, $_ .. $_ + 5) } 10, 20, 30, 40;
    is(scalar @wrong, 0, "scope $scope: scripts at once, each with its own values") or diag(@wrong);
}

# ---------------------------------------------------------------- without mod_vault
start_without_vault('lua-alone');
for my $code ('vault.script(r)', 'vault.notify("i")', 'vault.feed("tests"):echo(r)', 'vault.render(r, "log-entries.html", {})', 'vault.add_long_poll(r, "/x")') {
    like(lua_in('thread', "return $code"), qr/\Amod_vault is not loaded, or has no vault_\w+: the LoadModule of vault_module is needed\z/,
        "without mod_vault: $code");
}
is(lua_in('thread', 'return vault.null, vault.array(), vault.feed("x")') =~ s/ userdata.*//r, 'null {} the feed "x"', '... what needs no server works');

finish();
