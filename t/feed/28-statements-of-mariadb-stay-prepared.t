# SPDX-License-Identifier: Apache-2.0
# On MariaDB statements that come again stay prepared on their connection, whatever values come, and whatever happens to their tables
# or to the server. There is one connection here, so that each statement finds what the ones before have left.
use strict;
use warnings;
use utf8;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

# More tables than statements are kept.
use constant {TABLES => 40, KEPT => 32};

my $TABLES = 'CREATE TABLE notes(id {serial},body {text},amount {integer},share {real},kind VARCHAR(20) UNIQUE,bytes {blob});';
$TABLES .= join '', map { "CREATE TABLE t$_(id {serial},n {integer});INSERT INTO t$_(n) VALUES($_);" } 1 .. TABLES;

my $db;

sub asks { return calls_feed('again', @_) }

# How many statements are prepared, how many such were run.
sub counted { return ($db->does('again', "SHOW GLOBAL STATUS LIKE '$_[0]'"))[0] =~ /(\d+)$/ ? $1 : die }
sub prepared { return counted('Prepared_stmt_count') }
sub executed { return counted('Com_execute_sql') }

sub saves
{
    my (%values) = @_;
    my $saved = asks(save => {table => 'notes', values => \%values});
    return $saved->{error} if !$saved->{rows};
    return asks(filter => {table => 'notes', where => {id => $saved->{rows}[0]{id}}})->{rows}[0];
}

# How many rows were updated.
sub raises
{
    my ($table, $where, $values) = @_;
    my $answer = asks(update => {table => $table, where => $where, values => $values});
    return $answer->{rows} ? $answer->{rows}[0]{updated} : $answer->{error};
}

for my $mysql (has_database() ? databases('mysql') : ()) {
    $db = $mysql;
    $db->make('again', $TABLES);
    use_server(VaultTest::Server->start('again', size => "ServerLimit 1\n", config => $db->feed('again', 'again', 'connections=1 timeout=5 poll=0')));

    # Each of these a first time, as text, and then prepared.
    for my $time (1 .. 4) {
        for my $body ('plain', q{it's "so"}, q{back\\slash \\' and \\x41}, '? and ?', "line\nline\ttab", "\x{fc}\x{4e2d}\x{1f600}", 'x' x 5000, '', '007') {
            is(saves(body => $body, amount => 7)->{body}, $body, "time $time: " . (length $body > 40 ? 'a long text' : "the text <$body>"));
        }
    }
    my $before = executed();
    is(saves(body => 'counted', amount => 7)->{body}, 'counted', 'a row');
    is(executed() - $before, 2, '... is saved and read by prepared statements');
    is(saves(amount => 9007199254740991)->{amount}, 9007199254740991, 'a large number');
    is(saves(amount => $_)->{amount}, 8, 'a number, or a text') for 8, '8', 8, '8';
    is(saves(share => $_)->{share}, $_, "the number $_") for 0.1, 1e300, -2.5, 0.25;
    like(saves(body => "a\0b"), qr/NUL/, 'a NUL is refused') for 1 .. 3;
    like(saves(amount => 'many'), qr/is not a number/, 'so is a word for a number') for 1 .. 3;
    like(saves(amount => '99999999999999999999'), qr/^the database refuses the values: error 1264/, '... and one that is too large') for 1 .. 3;
    is(saves(body => 'then', amount => 8)->{body}, 'then', '... after which all is well');

    # An error in a transaction.
    for my $time (1 .. 3) {
        saves(kind => 'one');
        like(saves(kind => 'one'), qr/^the database refuses the values: error 1062/, "time $time: a key that is there is refused");
        is(saves(kind => "other $time")->{kind}, "other $time", '... and another one is not');
    }

    # A statement that takes too long, and one that waits for a lock, end as others do.
    my $other = $db->session('again');
    $other->does('BEGIN; SELECT * FROM notes FOR UPDATE');
    like(raises('notes', {id => 1}, {amount => 1}), qr/locked|took longer/, 'a lock');
    $other->does('ROLLBACK');
    is(raises('notes', {id => 1}, {amount => $_}), 1, '... is gone') for 2 .. 4;

    # The table is altered.
    $db->does('again', 'ALTER TABLE notes ADD COLUMN more TEXT');
    wait_until(sub { my $row = saves(body => 'wide'); ref $row && exists $row->{more} }, 'a new column is found');
    $db->does('again', 'ALTER TABLE notes MODIFY amount TEXT');
    wait_until(sub { my $row = saves(amount => '7 of them', body => 'x'); ref $row && $row->{amount} eq '7 of them' }, 'another type is, too');
    $db->does('again', 'ALTER TABLE notes DROP COLUMN more');
    wait_until(sub { my $row = saves(body => 'x'); ref $row && !exists $row->{more} }, 'and a column less');
    $db->does('again', q{DROP TABLE t1; CREATE TABLE t1(id BIGINT PRIMARY KEY,n TEXT); INSERT INTO t1 VALUES(1,'new')});
    wait_until(sub { (asks(all => {table => 't1'})->{rows} // [{}])->[0]{n} eq 'new' }, 'a table that was made anew is read');

    # Connections that end, a server that forgets, or that prepares no more.
    undef $other;
    # One of them may end by itself meanwhile.
    my @idle = grep { $_ } $db->does('again', q{SELECT id FROM information_schema.PROCESSLIST WHERE command='Sleep' AND db='again'});
    for my $id (@idle) {
        eval { $db->does('again', "KILL $id"); 1 } or note("connection $id has ended: $@");
    }
    is(saves(body => "again $_")->{body}, "again $_", 'after the end of the connection') for 1 .. 3;
    $db->stop;
    $db->start;
    is(saves(body => 'up')->{body}, 'up', 'after a restart') for 1 .. 3;
    cmp_ok(prepared(), '>', 0, '... statements are prepared again');
    $db->_must_as_root('SET GLOBAL max_prepared_stmt_count=0');
    is(raises('notes', {body => 'up', amount => undef}, {share => $_}), 3, 'where none may be prepared') for 1 .. 4;
    $db->_must_as_root('SET GLOBAL max_prepared_stmt_count=16382');

    # More than are kept.
    for my $time (1 .. 3) {
        is(join('', map { raises("t$_", {id => 1}, {n => $_ + $time}) } 2 .. TABLES), '1' x (TABLES - 1), "time $time: forty tables");
        is(join('', map { my $t = $_; map { raises("t$t", {id => 1}, {n => $_}) } 1 .. 3 } 2 .. TABLES), '1' x (3 * (TABLES - 1)), '... each three times');
        cmp_ok(prepared(), '<=', KEPT, '... of which no more are prepared than are kept');
    }
    cmp_ok(prepared(), '>', KEPT / 2, '... and no fewer than came again');
    tolerate(qr/the tables of "again" were altered meanwhile|the database refuses the values|VLT00040/);
    use_server(undef);
}
finish();
