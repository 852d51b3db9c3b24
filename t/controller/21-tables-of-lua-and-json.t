# SPDX-License-Identifier: Apache-2.0
# What a script gives to a feed and gets back: every kind of value comes back as it went, or is refused with a sentence that says where.
use strict;
use warnings;
use VaultTest;
use VaultTest::Lua;

needs_lua();
start_lua('lua-tables');

# The feed of the tests answers one row, its arguments.
sub echo
{
    my ($table, $show) = @_;
    return lua_in('once', "local rows, why, status = vault.feed('tests'):echo(r, $table) "
        . 'if why then return rows, why, status end return ' . ($show || 'rows[1].v'));
}

# ---------------------------------------------------------------- what comes back
for my $row (
    ['{v = 1}',                        '1',                     'an integer'],
    ['{v = 1.0}',                      '1.0',                   'a number that is no integer by its type'],
    ['{v = -0.5}',                     '-0.5',                  'a fraction'],
    ['{v = math.maxinteger}',          '9223372036854775807',   'the largest integer of 64 bits'],
    ['{v = math.mininteger}',          '-9223372036854775808',  'the smallest'],
    ['{v = 2^53 + 2}',                 '9.007199254741e+15',    'a large number that is no integer'],
    ['{v = 1e308}',                    '1e+308',                'a very large number'],
    ['{v = true}',                     'true',                  'true'],
    ['{v = false}',                    'false',                 'false'],
    ['{v = "1"}',                      '"1"',                   'text that looks like a number'],
    ['{v = ""}',                       '""',                    'an empty text'],
    ['{v = "a\0b"}',                   '"a\0b"',                'a NUL in a text'],
    ['{v = "\u{e4}\u{1F600}"}',        "\"\xc3\xa4\xf0\x9f\x98\x80\"", 'UTF-8'],
    ['{v = vault.null}',               'null',                  'NULL'],
    ['{v = nil}',                      'nil',                   'nil is not there'],
    ['{v = {1, "x", {y = 2}}}',        '{1,"x",{y=2}}',         'a list'],
    ['{v = {a = {b = {c = {}}}}}',     '{a={b={c={}}}}',        'objects in objects'],
    ['{v = {[1] = 1, [2.0] = 2}}',     '{1,2}',                 'a key that is a whole number'],
    ['{v = {["1"] = 1}}',              '{1=1}',                 'a name that looks like a number'],
    ['{v = {vault.null, 2}}',          '{null,2}',              'NULL in a list keeps the places'],
    ['{["a.b"] = {[" "] = 1}, v = 0}', '0',                     'odd names'],
    ['setmetatable({v = 1}, {__index = error, __pairs = error, __len = error})', '1', 'a metatable is not asked'],
  )
{
    my ($table, $shown, $why) = @$row;
    my $got = echo($table);
    is($got, $shown, "$why: $table");
}
is(echo('{v = vault.null}', 'rows[1].v == vault.null, vault.null == nil, vault.null and 1'), 'true false 1', 'NULL is vault.null, and true in a condition');
is(echo('{v = math.maxinteger}', 'math.type(rows[1].v)'), '"integer"', 'integers stay integers');
is(echo('nil', '#rows, next(rows[1])'), '1 nil', 'no arguments are an empty object');

# Empty tables: lists or objects, seen by whether the feed says that the arguments have names.
is(echo('{v = {}, w = vault.array()}', 'vault.feed("tests"):echo(r, rows[1].w)'),
    q{bad argument #3 to 'echo' (arguments have names, as in {table = "logs"})} =~ s/#3/#2/r, 'an empty list that came back stays a list');
is(echo('{v = {}}', 'vault.feed("tests"):echo(r, rows[1].v)'), '{{}}', 'an empty object that came back stays an object');
is(echo('vault.object()', 'rows'), '{{}}', 'vault.object() is an empty object');
is(echo('vault.array()', 'rows'), q{bad argument #2 to 'echo' (arguments have names, as in {table = "logs"})}, 'vault.array() is an empty list');
is(echo('vault.array({v = 3})'), '3', 'a table with names is an object whatever its mark');
is(lua_in('once', 'local t = {} return vault.array(t) == t, getmetatable(t), vault.object(t) == t'), 'true false true', 'a mark may be changed');
is(lua_in('once', 'return vault.array(setmetatable({}, {}))'), q{bad argument #1 to 'array' (a table that has a metatable already)}, 'a table of a class is not marked');
is(lua_in('once', 'return vault.array(1)'), q{bad argument #1 to 'array' (table expected, got number)}, 'a number is not marked');

# ---------------------------------------------------------------- what is refused
my $bad = q{bad argument #2 to 'echo' };
for my $row (
    ['{v = print}',                    'v: a function is no JSON', 'a function'],
    ['{v = {1, {x = coroutine.create(print)}}}', 'v[2].x: a thread is no JSON', 'a coroutine, with the way to it'],
    ['{v = r}',                        'v: a userdata is no JSON', 'the request'],
    ['{v = vault.feed("tests")}',      'v: a userdata is no JSON', 'a feed'],
    ['{v = {1, nil, 3}}',              'v: a list with holes: all keys from 1 to the last one are needed', 'a hole'],
    ['{v = {[2^40] = 1}}',             'v: a list with holes: all keys from 1 to the last one are needed', 'a list that would be huge'],
    ['{v = {1, x = 2}}',               'v: some keys are names and some are numbers: that is neither a list nor an object', 'both kinds of keys'],
    ['{v = {[0] = 1}}',                'v: a key is neither a name nor one of 1, 2, 3, ...', 'a key of 0'],
    ['{v = {[1.5] = 1}}',              'v: a key is neither a name nor one of 1, 2, 3, ...', 'a fraction as a key'],
    ['{v = {[true] = 1}}',             'v: a key is neither a name nor one of 1, 2, 3, ...', 'true as a key'],
    ['{1, 2}',                         'arguments have names, as in {table = "logs"}', 'arguments that are a list'],
    ['(function() local t = {} t.a = {t} return t end)()', 'a[1]: a table that is inside of itself', 'a cycle'],
    ['(function() local t = {} t.t = t return {v = t} end)()', 'v.t: a table that is inside of itself', 'a cycle of one'],
  )
{
    my ($table, $sentence, $why) = @$row;
    is(echo($table), "$bad($sentence)", "refused: $why");
}
# What visitors may have sent is no error of the script's: nil, a sentence, and the status for them.
for my $row (
    ['{v = 0/0}',                      'v: a number that is infinite, or none', 'NaN'],
    ['{v = math.huge}',                'v: a number that is infinite, or none', 'infinity'],
    ['{v = "\xff"}',                   'v: text that is not UTF-8', 'bytes'],
    ['{v = "\xed\xa0\x80"}',           'v: text that is not UTF-8', 'half of a surrogate pair'],
    ['{["\xff"] = 1}',                 "\xff: a name that is not UTF-8", 'a name of bytes'],
    ['{["a\0b"] = 1}',                 'a name with a NUL in it', 'a name with a NUL'],
  )
{
    my ($table, $sentence, $why) = @$row;
    is(echo($table), qq{nil "$sentence" 400}, "400: $why");
}
is(echo('"text"'), q{bad argument #2 to 'echo' (table expected, got string)}, 'refused: a text instead of a table');
is(echo('(function() local t = {} return {v = {t, t}} end)()'), '{{},{}}', 'the same table twice is no cycle');

my $nested = '(function(n) local t = {v = 1} for i = 2, n do t = {v = t} end return t end)';
is(echo("$nested(99)", '"fine"'), '"fine"', '99 tables in each other, with the row around them, go and come');
is(echo("$nested(100)", '"fine"'), 'nil "what the feed answers is nested too deep" 500', 'one more goes, but does not come');
like(echo("$nested(101)"), qr/^\Q$bad\E\(v(?:\.v){99}: tables are nested too deep\)$/, 'refused: 101');
like(echo("$nested(100000)"), qr/: tables are nested too deep\)$/, 'refused: far too many, and nothing breaks');

# ---------------------------------------------------------------- memory
# By how many MB the child grows when a piece of Lua is run 1,000 times with 100 KB.
sub growth
{
    my ($code) = @_;
    my $pid = text_of('/test/pid');
    my $memory = sub {
        open my $file, '<', "/proc/$pid/status" or die "/proc/$pid/status: $!\n";
        return join('', readline $file) =~ /^VmRSS:\s*(\d+) kB/m ? $1 / 1024 : die "no VmRSS\n";
    };
    my $twenty = sub {
        my $got = lua_in('server', "local feed, big = vault.feed('tests') for i = 1, 20 do big = ('x'):rep(100000) $code end return 'done'");
        die "$code: $got\n" if $got !~ /"done"\z/;
    };
    $twenty->() for 1 .. 10;
    my $before = $memory->();
    $twenty->() for 1 .. 50;
    die "the child $pid was replaced\n" if text_of('/test/pid') != $pid;
    return $memory->() - $before;
}

SKIP: {
    skip('a sanitizer keeps what was freed', 4) if ($ENV{VAULT_SANITIZER} || 'no') ne 'no';
    for my $row (
        ['feed:echo(r, {v = big, i = i})',                             'what went to a feed and came back'],
        ['feed:fail(r, {v = big})',                                    'what went to a feed that failed'],
        ['assert(not pcall(feed.echo, feed, r, {v = {big, print}}))',  'what was converted before it was refused'],
        ['vault.render(r, "log-entries.html", {{unknown = big}})',     'what was rendered'],
      )
    {
        my ($code, $why) = @$row;
        my $mb = growth($code);
        cmp_ok($mb, '<', 40, "freed: $why (kept, it would be 100 MB)");
    }
}

finish();
