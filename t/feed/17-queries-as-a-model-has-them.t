# SPDX-License-Identifier: Apache-2.0
# Named queries of a model, on SQLite, PostgreSQL and MariaDB alike: literals, quoted names and comments, parameters of each type, the
# order that was asked for, and a table that is not watched.
use strict;
use warnings;
use utf8;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);

my $TABLES = <<'END';
CREATE TABLE items(id {integer} PRIMARY KEY,name {text},price {real});
CREATE TABLE bids(id {integer} PRIMARY KEY,item {integer},amount {integer},bidder {text});
CREATE TABLE notes(id {integer} PRIMARY KEY,body {text});
INSERT INTO items VALUES(1,'it''s "one"',1.5),(2,'two',2.5);
INSERT INTO bids VALUES(5,1,10,'x'),(3,1,30,'y'),(9,1,20,NULL),(7,2,40,'z');
END

# Name => SQL, types of its parameters. Each gives ids.
my %QUERIES = (
    literal => [q{SELECT id FROM items WHERE name LIKE '%:o%' OR name='two' -- :no parameter}],
    quoted => [q{SELECT b."id" FROM bids AS b /* 'as it is' */ WHERE b.amount>25 ORDER BY b."id"}],
    falling => ['SELECT id FROM bids ORDER BY amount DESC'],
    joined => ['SELECT b.id FROM bids b JOIN items i ON i.id=b.item WHERE i.name=:name ORDER BY b.id DESC', name => 'text'],
    within => ['SELECT id FROM bids WHERE id IN(SELECT * FROM (SELECT id FROM bids ORDER BY id LIMIT 3) AS first) ORDER BY amount DESC'],
    named => ['WITH high AS (SELECT id FROM bids WHERE amount>15) SELECT id FROM high ORDER BY id DESC'],
    cut => ['SELECT id FROM bids ORDER BY amount DESC LIMIT :most', most => 'integer'],
    dear => ['SELECT id FROM items WHERE price>:price', price => 'real'],
    high => ['SELECT id FROM bids WHERE (amount>25)=:high ORDER BY id', high => 'boolean'],
    wrong => ['SELECT id FROM bids WHERE FROM'],
    lost => ['SELECT b.id FROM bids b JOIN losses l ON l.id=b.id'],
    noted => ['SELECT i.id FROM items i LEFT JOIN notes n ON n.id=i.id'],
    whose => ['SELECT id FROM bids WHERE bidder=:whose OR (bidder IS NULL AND :whose IS NULL)', whose => 'text'],
);

# Query, parameters, ids in their order or a sentence, why.
my @ROWS = (
    [literal => {}, '2', 'a literal, a comment'],
    [quoted => {}, '3 7', 'a quoted name, a comment between'],
    [falling => {}, '7 3 9 5', 'in the order that it asks for'],
    [joined => {name => q{it's "one"}}, '9 5 3', 'a text with quotes, a join, an order'],
    [joined => {name => q{two' OR '1'='1}}, '', 'SQL in a text'],
    [joined => {name => q{\\' OR 1=1 -- }}, '', 'SQL after a backslash'],
    [joined => {name => ':name'}, '', 'what looks like a parameter'],
    [joined => {name => ['two']}, qr/^22: argument "parameters.name" is not of the type text/, 'a list'],
    [within => {}, '7 3 5', 'a limit within'],
    [named => {}, '9 7 3', 'WITH'],
    [cut => {most => '2'}, '7 3', 'a limit that is a parameter'],
    [cut => {most => '2 OFFSET 1'}, qr/^22: argument "parameters.most" is not of the type integer/, 'SQL in a number'],
    [dear => {price => '2.0'}, '2', 'a real'],
    [dear => {price => 2}, '2', 'a whole number as a real'],
    [high => {high => 'true'}, '3 7', 'true'],
    [high => {high => JSON::PP::false}, '5 9', 'false'],
    [whose => {whose => 'x'}, '5', 'a parameter that stands there twice'],
    [whose => {whose => undef}, '9', 'null'],
    [wrong => {}, qr/^\d+: query "wrong": the database "\S+" answers with error .*FROM/, 'which query is wrong'],
    [lost => {}, qr/^\d+: query "lost": the (?:database|tables) .* error .*losses/, 'a column that does not exist'],
    [noted => {}, qr/^22: query "noted": table "notes" is not watched, so its changes are not known: vaultctl watch notes/, 'no page would be notified of its changes'],
);

sub model
{
    my ($driver) = @_;
    my %queries;
    for my $name (keys %QUERIES) {
        my ($sql, %types) = @{$QUERIES{$name}};
        $sql =~ tr/"/`/ if $driver eq 'mysql';
        my @tables = grep { $sql =~ /\b$_\b/ } qw(items bids notes);
        $queries{$name} = {sql => $sql, tables => \@tables, columns => {id => 'integer'}, key => ['id'], parameters => \%types};
    }
    return model_file("queries-$driver", JSON::PP->new->utf8->canonical->encode({queries => \%queries}));
}

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    $db->make('queries', $TABLES);
    $db->watch('queries', qw(items bids));
    use_server(VaultTest::Server->start("queries-$driver", config => $db->feed('queries', 'queries', 'rows=20 model=' . model($driver))));
    for my $row (@ROWS) {
        my ($query, $parameters, $wanted, $why) = @$row;
        my $answer = calls_feed('queries', 'get_query_changes', {query => $query, parameters => $parameters});
        my $got = $answer->{error} ? "$answer->{status}: $answer->{error}" : join ' ', map { $_->{id} } @{$answer->{rows}{added}};
        ref $wanted ? like($got, $wanted, "$driver, $query: $why") : is($got, $wanted, "$driver, $query: $why");
    }
    $db->vaultctl('queries', unwatch => qw(items bids));
    wait_until(sub { (calls_feed('queries', 'get_query_changes', {query => 'falling'})->{error} // '') =~ /^query "falling": (?:its tables are|table "bids" is) not watched/ },
        "$driver: a query of theirs is refused");
    use_server(undef);
}
finish();
