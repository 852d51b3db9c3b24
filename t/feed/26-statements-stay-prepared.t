# SPDX-License-Identifier: Apache-2.0
# On PostgreSQL statements that come again stay prepared on their connection, whatever values come, and whatever happens to their tables,
# to the transaction or to the server. There is one connection here, so that each statement finds what the ones before have left.
use strict;
use warnings;
use utf8;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

# More tables than statements are kept.
use constant {TABLES => 40, KEPT => 32};

my $TABLES = <<'END';
CREATE TABLE notes(id {serial},body {text},amount {integer},share {real},kind {text} UNIQUE);
CREATE VIEW prepared AS SELECT name,statement FROM pg_prepared_statements WHERE name ~ '^mod_vault_[0-9]+$';
END
$TABLES .= join '', map { "CREATE TABLE t$_(id {serial},n {integer});INSERT INTO t$_(n) VALUES($_);" } 1 .. TABLES;

sub asks { return calls_feed('kept', @_) }
sub prepared { return map { $_->{statement} } @{asks(all => {table => 'prepared'})->{rows}} }

sub saves
{
    my (%values) = @_;
    my $saved = asks(save => {table => 'notes', values => \%values});
    return $saved->{error} if !$saved->{rows};
    return asks(filter => {table => 'notes', where => {id => $saved->{rows}[0]{id}}})->{rows}[0];
}

for my $db (has_database() ? databases('pgsql') : ()) {
    $db->make('kept', $TABLES);
    use_server(VaultTest::Server->start('kept', size => "ServerLimit 1\n", config => $db->feed('kept', 'kept', 'connections=1 timeout=5 poll=0')));

    my $texts = 0;
    # Each of these a first time, as text, and then prepared.
    for my $time (1 .. 4) {
        for my $body ('plain', q{it's "so"}, q{back\\slash \\' and \\x41}, '$1 and $body$', "line\nline\ttab", "\x{fc}\x{4e2d}\x{1f600}", 'x' x 5000, '') {
            is(saves(body => $body, amount => 7)->{body}, $body, "time $time: the text " . ++$texts);
        }
    }
    is(saves(amount => 9007199254740991)->{amount}, 9007199254740991, 'a large number');
    is(saves(share => $_)->{share}, $_, "the number $_") for 0.1, 1e300, -2.5, 0.25;
    like(saves(body => "a\0b"), qr/NUL/, 'a NUL is refused') for 1 .. 3;
    like(saves(amount => 'many'), qr/^the database refuses the values: error invalid input syntax for type bigint/, 'so is a word for a number') for 1 .. 3;
    is(saves(body => 'then', amount => 8)->{body}, 'then', '... after which all is well');
    my @kept = prepared();
    is(scalar(grep { /^INSERT INTO "notes"\("amount","body"\)/ } @kept), 1, 'one statement for all values is prepared');
    is(scalar(grep { /plain|it's/ } @kept), 0, '... which has none of them');

    # An error in a transaction.
    for my $time (1 .. 3) {
        saves(kind => 'one');
        like(saves(kind => 'one'), qr/^the database refuses the values: error duplicate key/, "time $time: a key that is there is refused");
        is(saves(kind => "other $time")->{kind}, "other $time", '... and another one is not');
    }

    # The table is altered.
    $db->does('kept', 'ALTER TABLE notes ADD COLUMN more TEXT');
    wait_until(sub { exists +(saves(body => 'wide') // {})->{more} }, 'a new column is found');
    $db->does('kept', 'ALTER TABLE notes ALTER COLUMN amount TYPE TEXT');
    wait_until(sub { my $row = saves(amount => '7 of them', body => 'x'); ref $row && $row->{amount} eq '7 of them' }, 'another type is, too');
    # Values have types as well.
    $db->does('kept', 'CREATE TABLE narrow(id INTEGER PRIMARY KEY,n INTEGER); INSERT INTO narrow VALUES(1,1)');
    my $finds = sub { asks(filter => {table => 'narrow', where => {id => $_[0]}}) };
    wait_until(sub { @{$finds->(1)->{rows} // []} == 1 }, 'a new table is found');
    $finds->(1) for 1 .. 2;
    $db->does('kept', 'ALTER TABLE narrow ALTER COLUMN id TYPE BIGINT; INSERT INTO narrow VALUES(9007199254740993,1)');
    is(scalar(@{$finds->(9007199254740993)->{rows} // []}), 1, 'a key that only the wider type can have is found at once');
    $db->does('kept', 'ALTER TABLE notes DROP COLUMN more');
    wait_until(sub { my $row = saves(body => 'x'); ref $row && !exists $row->{more} }, 'and a column less');
    $db->does('kept', 'DROP TABLE t1; CREATE TABLE t1(id BIGINT PRIMARY KEY,n TEXT); INSERT INTO t1 VALUES(1,\'new\')');
    wait_until(sub { (asks(all => {table => 't1'})->{rows} // [{}])->[0]{n} eq 'new' }, 'a table that was made anew is read');
    tolerate(qr/the tables of "kept" were altered meanwhile|the database refuses the values|VLT00040/);

    # Others that drop what is prepared, and a server that forgets it.
    $db->does('kept', 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name=\'mod_vault\'');
    is(saves(body => 'again')->{body}, 'again', 'after the end of the connection');
    is(scalar(prepared()), 0, '... on a new one, nothing is prepared');
    is(saves(body => "again $_")->{body}, "again $_", "... until it comes again") for 1 .. 3;
    cmp_ok(scalar(prepared()), '>', 0, '... and is');
    $db->stop;
    $db->start;
    is(saves(body => 'up')->{body}, 'up', 'after a restart') for 1 .. 3;

    # More than are kept.
    for my $time (1 .. 3) {
        is(join(' ', map { asks(all => {table => "t$_"})->{rows}[0]{n} } 2 .. TABLES), join(' ', 2 .. TABLES), "time $time: forty tables");
        is(join(' ', map { my $t = $_; map { asks(all => {table => "t$t"})->{rows}[0]{n} } 1 .. 2 } 2 .. TABLES), join(' ', map { ($_, $_) } 2 .. TABLES), '... each twice');
        cmp_ok(scalar(prepared()), '<=', KEPT, '... of which no more are prepared than are kept');
    }
    cmp_ok(scalar(prepared()), '>', KEPT / 2, '... and no fewer than came again');
    use_server(undef);
}
finish();
