# SPDX-License-Identifier: Apache-2.0
# PostgreSQL's triggers take columns as they come. What is written into a new one, or one that has another type now, reaches pages that
# wait, also when their child has read the table's columns a moment ago. Nor does what stays prepared, or is known of a table, outlive a change of it.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

# Name => tag's attributes, template.
my %PAGES = (
    'altered-row' => ['method="get_modified_instance" table="logs" key="1"', '{{#rows}}[{{line}} {{more}} {{status}}]{{/rows}}'],
    'altered-attribute' => ['method="get_attribute_changes" table="logs" key="1" attribute="status"', '{{#rows}}{{old}} to {{new}}{{/rows}}'],
);
for my $name (keys %PAGES) {
    my $tag = qq(<!--#feed name="altered" $PAGES{$name}[0] template="$name.html" -->);
    site_file("/feed/$name.html", $PAGES{$name}[1]);
    live_tag("/feed/$name", $tag);
}

for my $db (has_database() ? databases('pgsql') : ()) {
    $db->make('altered', q{CREATE TABLE logs(id {serial},line {text},status {integer}); INSERT INTO logs(line,status) VALUES('one',1);});
    $db->watch('altered', 'logs');
    use_server(VaultTest::Server->start('altered', config => $db->feed('altered', 'altered', 'rows=20 poll=100') . live_folder('/feed')));
    my $writer = $db->session('altered');
    my $sees = sub {
        my ($name, $sql, $wanted, $why) = @_;
        my $page = open_page("/feed/$name.shtml");
        my $poll = $page->start_poll;
        wait_waiting(1);
        calls_feed('altered', 'all', {table => 'logs'}) for 1 .. 20;    # every child has read the columns
        $writer->does("BEGIN; $sql; COMMIT");
        is(VaultTest::Page::text($page->finish_poll($poll)), $wanted, $why);
    };
    $sees->('altered-row', q{ALTER TABLE logs ADD COLUMN more TEXT; UPDATE logs SET more='more'}, '[one more 1]', 'a new column');
    $sees->('altered-attribute', q{ALTER TABLE logs ALTER COLUMN status TYPE TEXT; UPDATE logs SET status='done'}, '1 to done', 'another type');
    $sees->('altered-row', q{ALTER TABLE logs DROP COLUMN status; UPDATE logs SET line='two'}, '[two more ]', 'a column less');
    tolerate(qr{the tables of "altered" were altered meanwhile: .* does not exist});    # the column that is gone

    # What looks for others' writes stays prepared, once it has come again.
    $sees->('altered-row', "UPDATE logs SET line='line $_'", "[line $_ more ]", "write $_ of another program") for 1 .. 4;
    $sees->('altered-row', q{ALTER TABLE logs ALTER COLUMN more TYPE VARCHAR(99); UPDATE logs SET line='five'}, '[five more ]', 'another type that is shown in the same way');

    # What was recorded does not fit the table as it is now; other changes do not wait for it.
    $sees->('altered-row', q{UPDATE logs SET more='words'; ALTER TABLE logs ALTER COLUMN more TYPE INTEGER USING 7; UPDATE logs SET line='six'}, '[six 7 ]', 'a type for which nothing that was there will do');
    $sees->('altered-row', q{UPDATE logs SET line='five',more=8}, '[five 8 ]', '... and the next write');

    # A table that has other keys, but no other columns.
    my $row = sub { return calls_feed('altered', 'get_modified_instance', {table => 'logs', key => $_[0]}) };
    ok($row->('1')->{rows}, 'the row by its number') for 1 .. 20;
    $writer->does('ALTER TABLE logs DROP CONSTRAINT logs_pkey, ADD PRIMARY KEY(line)');
    $db->watch('altered', 'logs');
    is($row->('five')->{rows}[0]{line}, 'five', 'the row by its line') for 1 .. 20;
    tolerate(qr{the watched table "logs" has changes that cannot be read|the database refuses the values: error invalid input syntax});
    tolerate(qr{the watched table "logs" has other columns than when it was watched});    # the tailer, until a second later
    undef $writer;
    use_server(undef);
}
finish();
