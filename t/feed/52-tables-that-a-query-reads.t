# SPDX-License-Identifier: Apache-2.0
# The database tells which tables a query reads, and a model need not name them: behind views, in expressions, ruled out by conditions. Where it cannot be
# sure a sentence says so. Names that a model has are compared. A page is told of changes of tables that came with another view.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Wall qw(wall_shown);

# All that are watched; and one that is not.
my @TABLES = qw(bids items notes);
my $TABLES = <<'END';
CREATE TABLE bids(id {integer} PRIMARY KEY,item {integer});
CREATE TABLE items(id {integer} PRIMARY KEY,name {text});
CREATE TABLE notes(id {integer} PRIMARY KEY,body {text});
CREATE TABLE ghosts(id {integer} PRIMARY KEY);
CREATE VIEW seen AS SELECT id FROM items;
CREATE VIEW deep AS SELECT b.id FROM bids b JOIN seen s ON s.id=b.item;
INSERT INTO bids VALUES(1,1),(2,2);
INSERT INTO items VALUES(1,'one');
INSERT INTO notes VALUES(1,'first');
END
my %MORE = (
    sqlite3 => 'CREATE VIRTUAL TABLE words USING fts5(word);',
    pgsql => <<'END',
CREATE FUNCTION counted() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM items';
CREATE FUNCTION pure(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1+1';
CREATE FUNCTION same(bigint,bigint) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1 IN(SELECT id FROM items)';
CREATE OPERATOR =~= (LEFTARG=bigint,RIGHTARG=bigint,FUNCTION=same);
CREATE TABLE parted(id bigint PRIMARY KEY) PARTITION BY LIST(id);
CREATE TABLE part_one PARTITION OF parted FOR VALUES IN(1);
CREATE TABLE stock(id bigint PRIMARY KEY);
CREATE TABLE child(PRIMARY KEY(id)) INHERITS(stock);
CREATE MATERIALIZED VIEW kept AS SELECT id FROM items;
CREATE SCHEMA other; CREATE TABLE other.bids(id bigint PRIMARY KEY);
CREATE VIEW hidden AS SELECT id FROM other.bids;
CREATE VIEW by_name AS SELECT id FROM bids WHERE query_to_xml('SELECT id FROM items',true,true,'') IS NOT NULL;
CREATE TABLE ruled(id bigint PRIMARY KEY);
ALTER TABLE ruled ENABLE ROW LEVEL SECURITY;
CREATE POLICY by_items ON ruled USING (EXISTS(SELECT FROM items));
END
    mysql => <<'END',
CREATE FUNCTION counted() RETURNS BIGINT READS SQL DATA RETURN (SELECT COUNT(*) FROM items);
CREATE VIEW sums AS SELECT id,counted() AS n FROM bids;
CREATE SEQUENCE numbers;
END
);

# Name => SQL, the tables that it reads or a sentence, why.
my %QUERIES = (
    plain => ['SELECT id FROM bids', 'bids', 'a table'],
    joined => ['SELECT b.id FROM bids b JOIN items i ON i.id=b.item', 'bids items', 'two'],
    ruled_out => ['SELECT id FROM bids WHERE 1=0', 'bids', 'a condition that is never true'],
    constant => ['SELECT i.id FROM items i JOIN bids b ON b.id=i.id WHERE i.id=:p AND i.id=9', 'bids items', 'a row that is not there'],
    never => ['SELECT n.id FROM notes n JOIN bids b ON b.id=n.id WHERE n.id=1 AND n.id=:p', 'bids notes', 'conditions that contradict each other'],
    seen => ['SELECT id FROM seen', 'items', 'a view'],
    deep => ['SELECT id FROM deep', 'bids items', 'a view of a view'],
    named => ['WITH x AS (SELECT id FROM notes) SELECT b.id FROM bids b,x', 'bids notes', 'WITH'],
    united => ['SELECT id FROM bids UNION SELECT id FROM notes WHERE id>:p', 'bids notes', 'UNION'],
    within => ['SELECT id+(SELECT max(id) FROM items) AS id FROM bids WHERE EXISTS(SELECT 1 FROM notes n WHERE n.id=bids.id)', 'bids notes items', 'in expressions'],
    # The value of the parameter decides whether items are read.
    either => ['SELECT id FROM bids WHERE :p=1 OR id IN(SELECT id FROM items)', 'bids items', 'a parameter that rules a table out'],
    counted_rows => ['SELECT count(*) AS id FROM notes', 'notes', 'no column'],
    nothing => ['SELECT 1 AS id', qr/it reads no table/, 'none'],
    ghosts => ['SELECT id FROM ghosts', qr/table "ghosts" is not watched/, 'one that is not watched'],
);
my %OF = (
    sqlite3 => {
        words => ['SELECT rowid AS id FROM words', qr/because it may read a virtual table, /, 'a virtual table'],
        numbered => ['SELECT seq AS id FROM sqlite_sequence', qr/reads? no table|because it reads a table of SQLite's own/, "SQLite's own"],
        unused => ['SELECT b.id FROM bids b LEFT JOIN items i ON i.id=b.item', 'bids', 'a join that adds nothing'],
    },
    pgsql => {
        counted => ['SELECT id FROM bids WHERE id<=counted()', qr/because it calls the function "counted", which is not IMMUTABLE: name them in "tables"/, 'a function'],
        wrong => ['SELECT id FRM bids', qr/answers with error syntax error at or near "bids"/, 'no query at all'],
        pure => ['SELECT id FROM bids WHERE pure(id)>0', 'bids', 'a function that reads nothing'],
        operator => ['SELECT id FROM bids WHERE id=~=item', qr/because it calls the function "same"/, 'behind an operator'],
        part => ['SELECT id FROM part_one', qr/table "parted" is not watched/, 'a partition: its table'],
        child => ['SELECT id FROM stock', qr/it reads the table "child", which is not one of its "tables"/, 'a table that inherits', 'stock'],
        kept => ['SELECT id FROM kept', qr/because it reads "kept", whose changes are not recorded/, 'a materialized view'],
        other => ['SELECT id FROM hidden', qr/because it reads the table "bids", which is in a schema/, 'another schema'],
        by_name => ['SELECT id FROM by_name', qr/because it calls a function that reads tables by their names/, 'by a name in a text'],
        ruled => ['SELECT id FROM ruled', qr/table "ruled" is not watched/, 'a policy'],
    },
    mysql => {
        counted => ['SELECT id FROM bids WHERE id<=counted()', qr/because it calls the function "counted": name them in "tables"/, 'a function'],
        sums => ['SELECT id FROM sums', qr/because it calls the function "counted"/, 'in a view'],
        numbers => ['SELECT NEXT VALUE FOR numbers AS id', qr/because it reads "numbers", whose changes are not recorded/, 'a sequence'],
        other => ['SELECT user AS id FROM mysql.user', qr/because it reads a table of the database "mysql"/, 'another database'],
        escaped => [q{SELECT id FROM bids WHERE 'a'<>'\\''}, qr/because its text /, 'an escape'],
    },
);

sub without
{
    my ($table) = @_;
    return grep { $_ ne $table } @TABLES;
}

# Each query without names of tables, with those that it reads, with one more, and with each of them missing; or, where it cannot be certain, with a name.
sub model
{
    my ($queries) = @_;
    my %queries;
    my $add = sub {
        my ($name, $sql, @tables) = @_;
        $queries{$name} = {sql => $sql, columns => {id => 'integer'}, key => ['id'], parameters => {p => 'integer'}, @tables ? (tables => \@tables) : ()};
    };
    for my $name (keys %$queries) {
        my ($sql, $reads, $why, @tables) = @{$queries->{$name}};
        $add->($name, $sql, @tables);
        if (ref $reads) {
            $add->("$name given", $sql, 'bids');
            next;
        }
        $add->("$name given", $sql, split / /, $reads);
        $add->("$name all", $sql, @TABLES);
        $add->("$name without $_", $sql, without($_)) for split / /, $reads;
    }
    return model_file('readers', JSON::PP->new->utf8->canonical->encode({queries => \%queries}));
}

sub run_of
{
    my ($query) = @_;
    my $answer = calls_feed('readers', 'get_query_changes', {query => $query, parameters => {p => 1}});
    return $answer->{error} ? "$answer->{status}: $answer->{error}" : 'runs';
}

sub test_query
{
    my ($driver, $name, $sql, $reads, $why) = @_;
    if (ref $reads) {
        like(run_of($name), $reads, "$driver, $name: $why");
        is(run_of("$name given"), 'runs', "$driver, $name: the model says it") if $reads =~ /since/ && $name !~ /words|other|number/;
        return;
    }
    is(run_of($name), 'runs', "$driver, $name: $why");
    is(run_of("$name given"), 'runs', "... reads nothing but $reads");
    is(run_of("$name all"), 'runs', '... a name too many does not matter');
    like(run_of("$name without $_"), qr/^22: query "\Q$name\E without $_": it reads the table "$_", which is not one of its "tables"$/, "... reads $_") for split / /, $reads;
    return;
}

site_file('/feed/reads.html', '{{#added}}+{{id}};{{/added}}{{#removed}}-{{id}};{{/removed}}');
my $path = live_tag('/feed/reads', '<!--#feed name="readers" method="get_query_changes" query="deep" parameters.p="1" template="reads.html" append="list" -->', '<p id="list">%s</p>');

sub test_view
{
    my ($db) = @_;
    my $page = open_page($path);
    my $poll = $page->start_poll;
    my $told = sub {
        my ($wanted, $why) = @_;
        my $text = VaultTest::Page::text($page->finish_poll($poll));
        like($text, qr/<template>\Q$wanted\E/, $db->driver . ": $why");
        $poll = $page->start_poll;
        wait_waiting(1);
    };
    wait_waiting(1);
    $db->does('readers', q{INSERT INTO items VALUES(2,'two')});
    $told->('+2;', 'a table behind a view of a view');
    $db->does('readers', $_) for 'DROP VIEW deep', 'CREATE VIEW deep AS SELECT n.id FROM notes n';
    $db->watch('readers', 'notes');
    $told->('-2;', 'another view has its name');
    $db->does('readers', q{INSERT INTO notes VALUES(5,'fifth')});
    $told->('+5;', 'a table that only the new view reads');
    $poll->close;
    wait_waiting(0);
    return;
}

my $unit = vars('top_dir') . '/unit';
for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    my %queries = (%QUERIES, %{$OF{$driver}});
    $db->make('readers', $TABLES);
    $db->watch('readers', @TABLES);
    $db->does('readers', $_) for grep { /\S/ } split /^(?=CREATE |ALTER )/m, $MORE{$driver};
    use_server(VaultTest::Server->start("readers-$driver", config => $db->feed('readers', 'readers', 'poll=50 model=' . model(\%queries)) . live_folder('/feed')));
    test_query($driver, $_, @{$queries{$_}}) for grep { $driver ne 'pgsql' || $_ ne 'counted_rows' } sort keys %queries;
    test_view($db);
    use_server(undef);
    next if !-f $unit || !$db->is_server;
    $db->make('runs', '');
    local $ENV{VAULT_WALK_FEED} = $db->parameters('runs');
    my $said = qx('$unit' database_query 2>&1);
    is($?, 0, "$driver: changes that miss a query do not run it again") || diag($said);
}
finish();
