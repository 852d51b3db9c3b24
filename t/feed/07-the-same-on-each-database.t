# SPDX-License-Identifier: Apache-2.0
# What the methods of the database feed answer, on SQLite, PostgreSQL and MariaDB alike: values keep their types and their bytes, and
# nothing that comes from outside becomes SQL.
use strict;
use warnings;
use utf8;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);

sub json
{
    my ($value) = @_;
    return JSON::PP->new->canonical->allow_nonref->encode($value);
}

my $TABLES = <<'END';
CREATE TABLE logs(id {serial},line {text} NOT NULL,status {integer},took {real});
INSERT INTO logs(line,status,took) VALUES('one',200,0.5),('two',404,NULL),('three',200,2.25);
CREATE TABLE plain(id {integer} PRIMARY KEY,v {text},b {blob});
CREATE TABLE pair(a {integer},b {integer},c {integer} GENERATED ALWAYS AS (a+b) STORED,PRIMARY KEY(a,b));
CREATE TABLE names(name VARCHAR(20) PRIMARY KEY CHECK(length(name)<5));
CREATE VIEW seen AS SELECT id,line FROM logs WHERE status=404;
END

# Names that have to be quoted, by each database in its own way.
my $ODD = 'odd "name`, (';
my %ODD_TABLE = (
    (map { $_ => q{CREATE TABLE "odd ""name`, ("("we ir""d, (as` x" VARCHAR(9) PRIMARY KEY,"Select" INTEGER);}
            . q{INSERT INTO "odd ""name`, (" VALUES('k',7);} } qw(sqlite3 pgsql)),
    mysql => q{CREATE TABLE `odd "name``, (`(`we ir"d, (as`` x` VARCHAR(9) PRIMARY KEY,`Select` INTEGER);}
        . q{INSERT INTO `odd "name``, (` VALUES('k',7);}
        # Its catalogue finds these, too, when it is asked for "seen" and for a table "steps".
        . q{CREATE TABLE Seen(other INTEGER);CREATE SEQUENCE steps;},
);

my @HOSTILE = (
    q{'; DROP TABLE logs; --}, '\\', q{\\'}, q{\\\\'}, q{''}, '"', '`', '%s%n%d', "\x1a", "line\nline\r\t", 'x select a select b( c',
    'a from b, c, d as sql, (select e( as sql', '*/ select 1 /* from x limit */', '<script>alert(1)</script>', '007', '1e5', 'NULL', '',
    ' ', "\x{1f30d}", q{X'00'}, q{$$;$$}, q{E'\047'}, '\x00', "\x{bf}\x{5c}'", "\x{fffd}", ':name ? $1', "caf\x{e9}", 'x' x 7000,
);

my ($one, $two, $three) = ({id => 1, line => 'one', status => 200, took => 0.5}, {id => 2, line => 'two', status => 404, took => undef},
    {id => 3, line => 'three', status => 200, took => 2.25});
my $odd = {'we ir"d, (as` x' => 'k', Select => 7};
my $refused = qr/^22: the database refuses the values: /;

# Method, arguments, answer (a part of "STATUS: sentence" when it failed), why. Where databases differ: {driver => answer, other => answer}.
my @READ = (
    [all => {table => 'logs'}, [$one, $two, $three], 'integers, reals, texts and NULL keep their types'],
    [all => {table => 'logs', order_by => '-id', limit => 1}, [$three], 'descending, with a limit'],
    [all => {table => 'logs', order_by => 'line', limit => '2'}, [$one, $three], 'ascending'],
    [all => {table => 'plain'}, [], 'no rows are an empty list'],
    [all => {table => 'seen'}, [{id => 2, line => 'two'}], 'views are read as tables'],
    [all => {table => $ODD}, [$odd], 'names with quotes, commas, brackets and words of SQL'],
    [filter => {table => $ODD, where => {'we ir"d, (as` x' => 'k'}, order_by => '-Select'}, [$odd], '... in conditions and orders'],
    [filter => {table => 'logs', where => {status => '404', line => 'two'}}, [$two], 'a number given as text, two conditions'],
    [filter => {table => 'logs', where => {status => 404, line => 'two'}}, [$two], 'a number'],
    [filter => {table => 'logs', where => {line => 404}}, [], 'a number where text is'],
    [filter => {table => 'logs', where => {took => undef}}, [$two], 'null means NULL'],
    [filter => {table => 'logs', where => {took => 0.5}}, [$one], 'a real'],
    [filter => {table => 'logs', where => {line => q{' OR '1'='1}}}, [], 'a quote stays in the value'],
    [filter => {table => 'logs', where => {id => 'two or more'}}, {sqlite3 => [], pgsql => $refused, mysql => qr/^22: .*"where\.id" is not a number/},
        'words are no number'],
    [filter => {table => 'logs', where => {id => '2 or 1=1'}}, {sqlite3 => [], pgsql => $refused, mysql => qr/^22: .*"where\.id" is not a number/},
        'nor is what begins with one'],
    [filter => {table => 'logs', where => {id__gt => 1, status__gte => '200'}}, [$two, $three], 'gt, gte'],
    [filter => {table => 'logs', where => {id__lt => '2'}}, [$one], 'lt'],
    [filter => {table => 'logs', where => {took__lte => 2.25, line__lt => 'p'}}, [$one], 'lte: NULL is not less; texts are compared as texts'],
    [filter => {table => 'logs', where => {status__ne => 200}}, [$two], 'ne'],
    [filter => {table => 'logs', where => {took__ne => 0.5}}, [$three], '... is not true of NULL'],
    [filter => {table => 'logs', where => {took__ne => undef}}, [$one, $three], '... and ne of null means NOT NULL'],
    [filter => {table => 'logs', where => {id__in => '1,3,99'}}, [$one, $three], 'in, as text'],
    [filter => {table => 'logs', where => {line__in => [q{'), (1=1) --}, 'a,b', 'two']}}, [$two], '... as a list, whose texts may have commas'],
    [filter => {table => 'logs', where => {id__in => join ',', 1 .. 200}}, [$one, $two, $three], '... of as many as are taken'],
    [filter => {table => 'logs', where => {line__like => 't%'}}, [$two, $three], 'like: %'],
    [filter => {table => 'logs', where => {line__like => '_ne'}}, [$one], '... _'],
    [filter => {table => 'logs', where => {line__like => q{t%' OR 'a' LIKE '%}}}, [], '... a quote stays in the pattern'],
    [filter => {table => 'logs', where => {line__like => 't\\\\%'}}, [], '... an escaped backslash is one'],
    [filter => {table => 'logs', where => {line__like => 't\\%'}}, [], '... an escaped % is one'],
    [filter => {table => 'logs', where => {took__isnull => 'true'}}, [$two], 'isnull'],
    [filter => {table => 'logs', where => {took__isnull => JSON::PP::false}}, [$one, $three], '... not'],
    [filter => {table => 'logs', where => {line => 'two', id__gt => 2}}, [], 'all conditions hold'],
    [filter => {table => $ODD, where => {'we ir"d, (as` x__gte' => 'k', Select__ne => 8}, order_by => ['-we ir"d, (as` x', 'Select']}, [$odd], 'names with commas and quotes'],
    [all => {table => 'logs', order_by => 'status,-line'}, [$three, $one, $two], 'two columns'],
    [all => {table => 'logs', order_by => '-status'}, [$two, $one, $three], 'rows that are equal are in the order of their keys'],
    [all => {table => 'logs', order_by => '-status,-id', limit => 2, offset => 1}, [$three, $one], 'a window'],
    [all => {table => 'logs', offset => '2'}, [$three], 'an offset alone'],
    [all => {table => 'logs', offset => 1_000_000}, [], 'behind the last row'],
);

my @REFUSED = (
    [all => {}, qr/"table" is missing/, 'no table'],
    [all => {table => ''}, qr/"table" is missing/, 'empty'],
    [all => {table => "logs\0"}, qr/has a NUL in it/, 'NUL'],
    (map { [all => {table => $_}, qr/there is no table "/, "no table is called $_"] }
            'LOGS', 'steps', 'logs; DROP TABLE logs', 'logs" --', 'logs` -- ', q{logs' OR '1'='1}, 'logs\\', 'logs ', 'l%', 'main.logs', 'public.logs',
        'samples.logs', '(select * from logs)', qw(sqlite_master sqlite_sequence pg_class pg_tables TABLES user information_schema), 'x' x 200),
    [all => {table => "a\r\nb\e[1m"}, qr/there is no table "a\?\?b\?\[1m"/, 'control characters do not reach the log'],
    [all => {table => 'logs', order_by => 'line; DROP TABLE logs'}, qr/"order_by": table "logs" has no column/, 'a column is looked up'],
    [all => {table => 'logs', order_by => '--id'}, qr/has no column "-id"/, 'one minus sign, not a comment'],
    [all => {table => 'logs', order_by => 'xmin'}, qr/has no column "xmin"/, q{a column of the database's own}],
    [all => {table => 'logs', limit => '1 OR 1'}, qr/"limit" takes a whole number from 1 to 50/, 'a limit that is SQL'],
    [all => {table => 'logs', tabel => 'x'}, qr/"tabel" is unknown/, 'a slip is not ignored'],
    [filter => {table => 'logs', where => {'line" OR 1=1 --' => 'x'}}, qr/"where": table "logs" has no column/, 'SQL as a column'],
    [filter => {table => 'logs', where => {LINE => 'one'}}, qr/has no column "LINE"/, 'names are exact'],
    [filter => {table => 'logs', where => {line => ['one']}}, qr/is a list or an object/, 'a list'],
    [filter => {table => 'logs', where => {line => "a\0b"}}, qr/has a NUL in it/, 'NUL'],
    [filter => {table => 'logs', where => {id__foo => 1}}, qr/"where\.id__foo": there is no operator "foo"; there are gt, gte, lt, lte, ne, in, like, isnull/, 'an unknown operator'],
    [filter => {table => 'logs', where => {nosuch__gt => 1}}, qr/"where": table "logs" has no column "nosuch"/, 'an unknown column'],
    (map { [filter => {table => 'logs', where => {id__in => $_}}, qr/"where\.id__in" takes 1 to 200 values: a list, or text with commas between them/, 'in: ' . json($_)] }
            '', [], 7, undef, {a => 1}, "1\0", join(',', 1 .. 201), [1 .. 201]),
    [filter => {table => 'logs', where => {id__in => [1, undef]}}, qr/"where\.id__in" takes no null/, 'NULL in a list'],
    [filter => {table => 'logs', where => {id__in => [[1]]}}, qr/"where\.id__in" is a list/, 'a list in a list'],
    (map { [filter => {table => 'logs', where => {took__isnull => $_}}, qr/"where\.took__isnull" takes true or false/, 'isnull: ' . json($_)] }
            'yes', '', 1, undef, 'TRUE', "true\0"),
    (map { [filter => {table => 'logs', where => {"id__$_" => undef}}, qr/"where\.id__$_" takes a value; whether a column is NULL is asked by __isnull/, "$_: NULL"] }
            qw(gt gte lt lte)),
    (map { [filter => {table => 'logs', where => {line__like => $_}}, qr/"where\.line__like" takes a pattern: text of 1 to 1000 bytes/, 'no pattern'] }
            '', 7, undef, ['%'], '%' x 1001),
    [filter => {table => 'logs', where => {line__like => 'a\\'}}, qr/"where\.line__like" ends with a backslash that has nothing to escape/, 'half an escape'],
    [filter => {table => 'logs', where => {line__like => "a\0%"}}, qr/"where\.line__like" has a NUL in it/, 'NUL'],
    [filter => {table => 'logs', where => {id__gt => [1]}}, qr/"where\.id__gt" is a list/, 'a list'],
    [filter => {table => 'logs', where => {map { ("c$_" => 1) } 1 .. 101}}, qr/"where" has 101 conditions; at most 100 are accepted/, 'too many conditions'],
    (map { [all => {table => 'logs', limit => $_}, qr/"limit" takes a whole number from 1 to 50/, 'limit: ' . json($_)] } 0, -1, 51, 'many', '1e1', 1.5, '', undef),
    (map { [all => {table => 'logs', offset => $_}, qr/"offset" takes a whole number from 0 to 1000000/, 'offset: ' . json($_)] } -1, 1_000_001, '9' x 30, 'few', '0x1', ''),
    [all => {table => 'logs', order_by => 'line,-line'}, qr/"order_by": "line" is given twice/, 'a column twice'],
    [all => {table => 'logs', order_by => 'line,'}, qr/"order_by": table "logs" has no column ""/, 'nothing behind a comma'],
    [all => {table => 'logs', order_by => ''}, qr/"order_by" takes columns, with commas between them/, 'an empty order'],
    [all => {table => 'logs', order_by => {line => 1}}, qr/"order_by" takes columns/, 'an object'],
    [save => {table => 'logs', values => {}}, qr/"values.COLUMN" is missing/, 'no values'],
    [save => {table => 'logs', values => {q{line) VALUES('x') --} => 'x'}}, qr/"values": table "logs" has no column/, 'SQL as a column'],
    [save => {table => 'logs', values => {line => {a => 1}}}, qr/is a list or an object/, 'an object'],
    [save => {table => 'seen', values => {line => 'x'}}, qr/"seen" is a view/, 'not into a view'],
    [save => {table => 'pair', values => {c => 3}}, qr/"values\.c" cannot be set/, 'a generated column'],
);

my @SAVED = (
    [save => {table => 'logs', values => {line => q{it's "four"}, status => '500', took => undef}}, [{id => 4}], 'quotes in a value'],
    [filter => {table => 'logs', where => {id => '4'}}, [{id => 4, line => q{it's "four"}, status => 500, took => undef}], '... and back'],
    [save => {table => 'logs', values => {line => 'typed', status => JSON::PP->new->allow_nonref->decode('-9223372036854775808'), took => 1e-300}},
        [{id => 5}], 'typed values'],
    [filter => {table => 'logs', where => {status => '-9223372036854775808'}},
        [{id => 5, line => 'typed', status => JSON::PP->new->allow_nonref->decode('-9223372036854775808'), took => 1e-300}], '... 64 bits whole, by text'],
    [save => {table => 'plain', values => {id => 1, v => 'x', b => "a\\b\x{e9}"}}, [{id => 1}], 'text into a blob'],
    [filter => {table => 'plain', where => {id => 1}}, {sqlite3 => [{id => 1, v => 'x', b => "a\\b\x{e9}"}], other => [{id => 1, v => 'x', b => 'YVxiw6k='}]},
        '... are its bytes, which come back as base64; SQLite keeps the text'],
    [save => {table => 'names', values => {name => 'abc'}}, [{id => 'abc'}], 'a key of text'],
    [save => {table => 'names', values => {name => 'abc'}}, $refused, 'twice'],
    [save => {table => 'names', values => {name => 'abcdef'}}, $refused, 'a check'],
    [save => {table => 'names', values => {name => 'x' x 30}}, $refused, 'too long'],
    [save => {table => 'logs', values => {status => 1}}, $refused, 'NOT NULL'],
    [save => {table => 'logs', values => {line => 'x', status => 'many'}}, {sqlite3 => [{id => 6}], pgsql => $refused, mysql => qr/"values\.status" is not a number/}, 'text is no number'],
    [save => {table => 'logs', values => {line => 'x', status => '9223372036854775808'}}, {sqlite3 => [{id => 7}], other => $refused},
        'a number that is too large'],
    [save => {table => 'pair', values => {a => 1, b => 2}}, [{id => '1,2'}], 'a key of two columns'],
    [all => {table => 'pair'}, [{a => 1, b => 2, c => 3}], 'a generated column is read'],
);

# Types that are a database's own.
my %TYPES = (
    sqlite3 => [],
    pgsql => [
        ['NUMERIC(38,10)', '1234567890123456789012345678.0123456789', '1234567890123456789012345678.0123456789', 'every digit'],
        ['NUMERIC', q{'NaN'}, 'NaN', 'what is no number in JSON'],
        ['REAL', '0.1', 0.1, 'a short real'],
        ['DOUBLE PRECISION', q{'Infinity'}, undef, 'infinity has no place in JSON'],
        ['SMALLINT', '-32768', -32768, 'a short integer'],
        ['BOOLEAN', 'true', JSON::PP::true, 'true'],
        ['BOOLEAN', 'false', JSON::PP::false, 'false'],
        ['DATE', q{'2026-11-21'}, '2026-11-21', 'a date'],
        ['TIMESTAMP', q{'2026-11-21 05:06:07.123456'}, '2026-11-21 05:06:07.123456', 'a time with its fraction'],
        ['JSONB', q{'{"a": [1, "é"]}'}, '{"a": [1, "é"]}', 'JSON is text'],
        ['UUID', q{'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'}, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'UUID'],
        ['INTEGER[]', q{'{1,2}'}, '{1,2}', 'an array is text'],
        ['BYTEA', q{'\x00ff00'::bytea}, 'AP8A', 'a blob with NULs'],
        ['even', '42', 42, 'a domain is what it is made of'],
        ['mood', q{'so so'}, 'so so', 'an enumeration'],
    ],
    mysql => [
        ['DECIMAL(38,10)', '1234567890123456789012345678.0123456789', '1234567890123456789012345678.0123456789', 'every digit'],
        ['FLOAT', '0.1', 0.1, 'a short real'],
        ['TINYINT', '-128', -128, 'a short integer'],
        ['BIGINT UNSIGNED', '18446744073709551615', '18446744073709551615', 'larger than integers are in JSON here: its digits'],
        ['BIGINT UNSIGNED', '9223372036854775807', JSON::PP->new->allow_nonref->decode('9223372036854775807'), 'as large as they are'],
        ['INT ZEROFILL', '7', 7, 'zeros in front'],
        ['BIT(10)', q{b'1000000001'}, 513, 'bits'],
        ['YEAR', '2026', 2026, 'a year'],
        ['DATE', q{'2026-11-21'}, '2026-11-21', 'a date'],
        ['DATETIME(6)', q{'2026-11-21 05:06:07.123456'}, '2026-11-21 05:06:07.123456', 'a time with its fraction'],
        ['JSON', q{'{"a": [1, "é"]}'}, '{"a": [1, "é"]}', 'JSON is text'],
        ['UUID', q{'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'}, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'UUID'],
        [q{ENUM('so so','well')}, q{'so so'}, 'so so', 'an enumeration'],
        [q{SET('a','b')}, q{'a,b'}, 'a,b', 'a set'],
        ['VARBINARY(9)', q{X'00ff00'}, 'AP8A', 'bytes with NULs'],
        ['VARCHAR(9) CHARACTER SET latin1', q{'caf\e9'}, 'cafe9', 'another character set'],
        ['VARCHAR(9) CHARACTER SET ucs2', q{'né'}, 'né', 'one of two bytes'],
        ['VARCHAR(9) CHARACTER SET utf8mb4', q{_utf8mb4 X'610062'}, "a\x{fffd}b", 'a NUL in a text has no place in HTML'],
        ['POINT', 'Point(1,2)', 'AAAAAAEBAAAAAAAAAAAA8D8AAAAAAAAAQA==', 'a geometry is its bytes'],
    ],
);

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    $db->make('samples', $TABLES . $ODD_TABLE{$driver});
    $db->does('samples', q{CREATE DOMAIN even AS BIGINT CHECK (VALUE % 2 = 0);CREATE TYPE mood AS ENUM ('so so','well')}) if $driver eq 'pgsql';
    use_server(VaultTest::Server->start("each-$driver", config => $db->feed('each', 'samples', 'rows=50')));
    my $check = sub {
        my ($method, $args, $wanted, $why) = @_;
        $wanted = exists $wanted->{$driver} ? $wanted->{$driver} : $wanted->{other} if ref $wanted eq 'HASH';
        my $answer = calls_feed('each', $method, $args);
        my $sentence = $answer->{error} ? "$answer->{status}: $answer->{error}" : undef;
        return like($sentence // 'it did not fail', qr/$wanted/, "$driver, $method: $why") if ref $wanted eq 'Regexp';
        return is($sentence // json($answer->{rows}), json($wanted), "$driver, $method: $why");
    };
    $check->(@$_) for @READ;
    $check->($_->[0], $_->[1], qr/^22: .*$_->[2]/, $_->[3]) for @REFUSED;
    $check->(@$_) for @SAVED;
    is(($db->does('samples', 'SELECT count(*) FROM logs'))[0], $driver eq 'sqlite3' ? 7 : 5, "$driver: what was refused is not there");

    # Each text comes back as it went in, and is found by itself.
    my $id = 100;
    for my $text (@HOSTILE) {
        my $shown = length $text > 50 ? 'a long text' : json($text);
        $check->(save => {table => 'plain', values => {id => ++$id, v => $text}}, [{id => $id}], "$shown is saved");
        $check->(filter => {table => 'plain', where => {id => $id, v => $text}}, [{id => $id, v => $text, b => undef}], '... and found');
        $check->(filter => {table => 'plain', where => {id => $id, v__in => [$text, 'another']}}, [{id => $id, v => $text, b => undef}], '... in a list');
        next if $text eq '' || length $text > 400;
        (my $pattern = $text) =~ s/([\\%_])/\\$1/g;
        $check->(filter => {table => 'plain', where => {id => $id, v__like => $pattern}}, [{id => $id, v => $text, b => undef}], '... and by a pattern of itself');
    }
    for my $row (@{$TYPES{$driver}}) {
        my ($type, $literal, $wanted, $why) = @$row;
        my $values = $driver eq 'pgsql' ? "SELECT 1,$literal" : "VALUES(1,$literal)";
        $db->does('samples', "DROP TABLE IF EXISTS types_$id") if $id;
        $id++;
        $db->does('samples', "CREATE TABLE types_$id(id BIGINT PRIMARY KEY,v $type);INSERT INTO types_$id $values;INSERT INTO types_$id VALUES(2,NULL)");
        $check->(all => {table => "types_$id"}, [{id => 1, v => $wanted}, {id => 2, v => undef}], "$type: $why");
    }

    # New rows, by the largest key if that is said.
    my $answer = calls_feed('each', 'get_new_instances', {table => 'logs', limit => 1, ($driver eq 'sqlite3' ? () : (cursor => 'largest-key'))});
    is($answer->{rows}[0]{id} // $answer->{error}, $driver eq 'sqlite3' ? 7 : scalar(($db->does('samples', 'SELECT max(id) FROM logs'))[0]), "$driver: the newest row");
    $check->(get_new_instances => {table => 'logs', cursor => 'smallest-key'}, qr/^22: .*"cursor" takes "largest-key" only/, 'no other cursor');
    $check->(get_new_instances => {table => 'names', cursor => 'largest-key'}, qr/^22: .*cannot be distinguished from old ones/, 'no key of text');
    $check->(get_new_instances => {table => 'seen', cursor => 'largest-key'}, qr/^22: .*cannot be distinguished from old ones/, 'no view');
    $check->(get_new_instances => {table => 'logs'}, qr/^22: .*watch the table \(vaultctl watch\), or use cursor=largest-key/, 'not unless it is said')
        if $db->is_server;
    use_server(undef);
}
finish();
