# SPDX-License-Identifier: Apache-2.0
# Wrong arguments are Lua errors with a sentence; what a good script may meet is nil, a sentence and a status. Nothing of it ends a child.
use strict;
use warnings;
use VaultTest;
use VaultTest::Lua;

needs_lua();
my $server = start_lua('lua-refusals', config => <<"END");
Alias "/off/" "@{[vars('top_dir')]}/examples/lua/"
<Location "/off/">
    VaultLongPoll Off
</Location>
END

# ---------------------------------------------------------------- wrong arguments
my $request = 'the request is needed, the r of handle(r), not a';
for my $row (
    ['vault.script()',                      "#1 to 'script' ($request no value)", 'no request'],
    ['vault.script(nil)',                   "#1 to 'script' ($request nil)", 'nil'],
    ['vault.script({})',                    "#1 to 'script' ($request table)", 'a table'],
    ['vault.script(io.stdout)',             "#1 to 'script' ($request userdata)", 'a userdata of another kind'],
    ['vault.script(vault.feed("tests"))',   "#1 to 'script' ($request userdata)", 'a feed'],
    ['vault.script(vault.null)',            "#1 to 'script' ($request userdata)", 'vault.null'],
    ['vault.add_long_poll(r)',              "#2 to 'add_long_poll' (string expected, got no value)", 'no URL'],
    ['vault.add_long_poll(r, {})',          "#2 to 'add_long_poll' (string expected, got table)", 'a table as a URL'],
    ['vault.add_long_poll("/x", r)',        "#1 to 'add_long_poll' ($request string)", 'the wrong way round'],
    ['vault.get(r)',                        "#2 to 'get' (string expected, got no value)", 'no key'],
    ['vault.set(r, "k", {})',               "#3 to 'set' (string expected, got table)", 'a table as a value'],
    ['vault.set(r, true, "v")',             "#2 to 'set' (string expected, got boolean)", 'true as a key'],
    ['vault.notify()',                      "#1 to 'notify' (string expected, got no value)", 'no interest'],
    ['vault.notify(r)',                     "#1 to 'notify' (string expected, got Apache2.Request)", 'a request as an interest'],
    ['vault.create_interest("i")',          "#1 to 'create_interest' ($request string)", 'an interest without a request'],
    ['vault.create_interest(r, "i", {})',   "#3 to 'create_interest' (string expected, got table)", 'a table as a cursor'],
    ['vault.feed()',                        "#1 to 'feed' (string expected, got no value)", 'no feed'],
    ['vault.feed("te\0sts")',               "#1 to 'feed' (text with a NUL in it)", 'a feed with a NUL'],
    ['vault.feed("tests"):echo()',          "#1 to 'echo' ($request no value)", 'a method without a request'],
    ['vault.feed("tests"):echo({x = 1})',   "#1 to 'echo' ($request table)", 'a method with arguments alone'],
    ['vault.feed("tests")[1]',              "#2 to '__index' (a feed has methods, and they have names)", 'a number as a method'],
    ['vault.feed("tests")["a\0b"]',         "#2 to '__index' (text with a NUL in it)", 'a method with a NUL'],
    ['vault.render(r)',                     "#2 to 'render' (string expected, got no value)", 'no template'],
    ['vault.render(r, "a\0b")',             "#2 to 'render' (text with a NUL in it)", 'a template with a NUL'],
    ['vault.render(r, "x.html", "rows")',   "#3 to 'render' (table expected, got string)", 'a text as rows'],
    ['vault.render(r, "x.html", {print})',  "#3 to 'render' ([1]: a function is no JSON)", 'a function in the rows'],
    ['vault.render(r, "x.html", (function() local t = {} t[1] = t return t end)())', "#3 to 'render' ([1]: a table that is inside of itself)", 'a cycle'],
    ['vault.render(r, "x.html", {}, "append")', "#4 to 'render' (table expected, got string)", 'a text as options'],
    ['vault.render(r, "x.html", {}, {"append"})', "#4 to 'render' (an action and the id of an element are needed, as in {append = \"list\"})", 'a list as options'],
    ['vault.render(r, "x.html", {}, {append = 1})', "#4 to 'render' (an action and the id of an element are needed, as in {append = \"list\"})", 'a number as a target'],
    ['vault.render(r, "x.html", {}, {append = "a", update = "b"})', "#4 to 'render' (one action is enough)", 'two actions'],
  )
{
    my ($code, $sentence, $why) = @$row;
    my $got = lua_in('server', "return $code");
    $got =~ s/'(?:\?|index)'/'__index'/;
    is($got, "bad argument $sentence", "refused: $why");
}
is(lua_in('server', 'return vault.feed("tests").echo(r, {})'), 'a method of a feed is called with a colon, as in feed:echo(r, {...})', 'refused: a dot where a colon is needed');
like(lua_in('server', 'vault.feed("tests").x = 1'), qr/^attempt to index a (?:userdata|vault\.feed) value/, 'refused: to write into a feed');
is(lua_in('server', 'return tostring(vault.feed("tests")), getmetatable(vault.feed("tests")), getmetatable(vault.null)'),
    '"the feed \"tests\"" false false', 'a feed says what it is; no script changes how it works');

# ---------------------------------------------------------------- what a good script may meet
my $long = 'x' x 201;
for my $row (
    ['vault.add_long_poll(r, "http://elsewhere/")', 400, 'a long poll needs a path of this server, percent-encoded', 'another server'],
    ['vault.add_long_poll(r, "")',          400, 'a long poll needs a path of this server, percent-encoded', 'an empty URL'],
    ['vault.add_long_poll(r, "/\u{e4}")',   400, 'a long poll needs a path of this server, percent-encoded', 'a URL that is not encoded'],
    ['vault.set(r, "", "v")',               400, 'a page property has a key of 1 to 64 bytes and a value of at most 4096', 'an empty key'],
    ['vault.set(r, ("k"):rep(65), "v")',    400, 'a page property has a key of 1 to 64 bytes and a value of at most 4096', 'a long key'],
    ['vault.set(r, "k", ("v"):rep(4097))',  400, 'a page property has a key of 1 to 64 bytes and a value of at most 4096', 'a long value'],
    ['vault.notify("")',                    400, 'an interest has a name of 1 to 200 bytes', 'an empty interest'],
    ["vault.notify('$long')",               400, 'an interest has a name of 1 to 200 bytes', 'a long interest'],
    ['vault.add_long_poll(r, "/a\0b")',     400, 'argument 2: text with a NUL in it', 'a URL with a NUL'],
    ['vault.add_long_poll(r, "/\xe4")',     400, 'argument 2: text that is not UTF-8', 'a URL of bytes'],
    ['vault.get(r, "\xff")',                400, 'argument 2: text that is not UTF-8', 'a key of bytes'],
    ['vault.set(r, "\xff", "v")',           400, 'argument 2: text that is not UTF-8', 'the key of a property of bytes'],
    ['vault.set(r, "k", "a\0b")',           400, 'argument 3: text with a NUL in it', 'a value with a NUL'],
    ['vault.set(r, "k", "\xc0\x80")',       400, 'argument 3: text that is not UTF-8', 'a NUL in two bytes'],
    ['vault.notify("a\0b")',                400, 'argument 1: text with a NUL in it', 'an interest with a NUL'],
    ['vault.notify("\xed\xa0\x80")',       400, 'argument 1: text that is not UTF-8', 'an interest that is half a surrogate'],
    ['vault.create_interest(r, "\xff")',    400, 'argument 2: text that is not UTF-8', 'an interest of bytes'],
    ['vault.create_interest(r, "i", "\xff")', 400, 'argument 3: text that is not UTF-8', 'a cursor of bytes'],
    ['vault.render(r, "x.html", {"\xff"})', 400, '[1]: text that is not UTF-8', 'rows of bytes'],
    ['vault.render(r, "x.html", {}, {append = "a\0b"})', 400, 'the id of an element: text that is not UTF-8, or has a NUL in it', 'a target with a NUL'],
    ['vault.feed("none"):all(r)',           500, 'there is no feed "none": a VaultFeed must declare it first', 'a feed that there is not'],
    ['vault.feed("../tests"):all(r)',       500, 'there is no feed "../tests": a VaultFeed must declare it first', 'a hostile feed'],
    ['vault.feed("tests"):ekho(r)',         500, 'the feed "tests" has no method "ekho"', 'a method that there is not'],
    ['vault.feed("tests"):fail(r)',         503, 'it was told to fail', 'a feed that is down'],
    ['vault.render(r, "missing.html", {})', 500, qr{/examples/lua/missing\.html: cannot be read: No such file or directory}, 'a template that is missing'],
    ['vault.render(r, "../../t/conf/lua.sql")', 500, 'template "../../t/conf/lua.sql": a file beside or below the page is needed', 'a template outside'],
    ['vault.render(r, "/etc/passwd")',      500, 'template "/etc/passwd": a file beside or below the page is needed', 'an absolute path'],
    ['vault.render(r, "log-entries.html", {}, {remove = "a"})', 500,
        'there is no action "remove": append, prepend, replace, update, before or after is needed', 'an action without HTML'],
    ['vault.render(r, "log-entries.html", {}, {append = ""})', 500, 'append: the id of the element in the page is missing', 'an empty target'],
  )
{
    my ($code, $status, $sentence, $why) = @$row;
    my $got = lua_in('server', "return $code");
    $sentence = quotemeta $sentence =~ s/"/\\"/gr unless ref $sentence;
    like($got, qr/\Anil ".*$sentence" $status\z/, "$status: $why");
}
is(lua_in('server', 'return vault.get(r, ""), vault.get(r, ("k"):rep(1000))'), 'nil nil', 'a property that cannot be is not there');
is(get('/server/eval.lua', method => 'HEAD')->{status}, 200, 'HEAD');

# A form with bytes that are no text, where the script passes them on: the visitor has 400, and no path of the server.
example_file('take.lua', <<'END');
local vault = require "vault"

function handle(r)
    local form = r:parsebody()
    local rows, why, status = vault.feed("tests"):echo(r, {text = form.text})
    return why and status or 204
end
END
my $answer = post('/server/take.lua', 'text=%FF%C0%80');
is($answer->{status}, 400, 'text of a visitor that is not UTF-8');
unlike($answer->{body}, qr/lua/, '... and the answer shows no path');
is(post('/server/take.lua', 'text=%C3%A4')->{status}, 204, '... while UTF-8 is taken');
example_file('take.lua', undef);

# Without permission for long polls there is no page: told where it matters, harmless elsewhere.
is(lua_in('off', 'return vault.add_long_poll(r, "/x")'), 'nil "VaultLongPoll is off here" 403', 'VaultLongPoll off: no long poll');
is(lua_in('off', 'return vault.script(r), vault.get(r, "k"), vault.create_interest(r, "i")'), '"" nil true', '... no script, no property, and always a look');
is(lua_in('off', 'return vault.set(r, "k", "v")'), 'nil "there is no page to keep a property for" 500', '... and nothing to keep a property for');
is(lua_in('off', 'return vault.feed("tests"):echo(r, {x = 1})'), '{{x=1}}', '... but a feed answers');
is(lua_in('server', 'r:puts(("x"):rep(100000)) r:flush() return vault.add_long_poll(r, "/x")') =~ s/^x+//r,
    q{nil "the header of the page has been sent: add long polls first" 500}, 'a long poll that comes too late');
like(lua_in('server', 'for i = 1, 17 do local ok, why, status = vault.add_long_poll(r, "/x?" .. i) if not ok then return i, why, status end end'),
    qr/^17 "no more pages, or no more methods on this page, are allowed" 503$/, 'more methods than VaultMaxMethods');

# ---------------------------------------------------------------- a script that fails in a method fails the method
for my $row (
    ['error("oops")', 'its status is 500', 'an error'],
    ['return vault.script({})', 'its status is 500', 'a wrong argument'],
    ['local rows, why, status = vault.feed("tests"):fail(r) return status', 'it was told to fail|its handler answered 503', 'a status that it was given'],
    ['vault.feed("tests"):fail(r) r:puts("text")', 'it was told to fail', 'a feed that failed, overlooked'],
    ['vault.render(r, "missing.html", {1}) r:puts("text")', '\S+/missing\.html: cannot be read.*', 'a template that failed, overlooked'],
    ['vault.create_interest(r, ("i"):rep(201)) r:puts("text")', 'the interest "i+" cannot be kept: .*', 'an interest that cannot be kept'],
  )
{
    my ($code, $reason, $why) = @$row;
    announce(qr/VLT00030: method \S+ failed: (?:$reason); it is tried again/);
    my $page = open_page(code_url('server', qq{vault.add_long_poll(r, "@{[code_url('server', $code)]}") r:puts(vault.script(r))}));
    my $before = status();
    my $poll = $page->start_poll;
    wait_counter('Failures', $before, 1);
    wait_waiting(1);
    ok($poll->is_silent, "in a method nothing is answered by $why");
    $poll->close;
    wait_waiting(0);
}
announce(qr/oops/, qr/bad argument #1 to 'script'/);

finish();
