# SPDX-License-Identifier: Apache-2.0
# Pages that show one column of all rows, or the rows of a filter, on SQLite, PostgreSQL and MariaDB alike: whichever program writes, each page is told of the rows in
# which the column changed, and of those that come into the filter, go out of it and change in it. Where that cannot be told, everything is shown anew.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $TABLES = <<'END';
CREATE TABLE items(id {integer} PRIMARY KEY,name {text},price {integer},sold {real});
INSERT INTO items VALUES(1,'pen',10,NULL),(2,'ink',20,0.5),(3,'pad',NULL,NULL);
CREATE TABLE tags(name VARCHAR(20) PRIMARY KEY,uses {integer});
INSERT INTO tags VALUES('it''s',1);
END

my $COLUMN = '{{#rows}}{{#added}}+{{/added}}{{#removed}}-{{/removed}}{{id}}:{{old}}>{{new}};{{/rows}}';

my $LISTS = '{{#reset}}anew {{/reset}}{{#added}}+{{id}}:{{price}};{{/added}}{{#removed}}-{{id}}:{{price}};{{/removed}}{{#changed}}={{id}}:{{price}};{{/changed}}';

# Name => tag's attributes and template.
my %PAGES = (
    prices => ['method="get_attribute_changes" table="items" attribute="price"', $COLUMN],
    sold => ['method="get_attribute_changes" table="items" attribute="sold" limit="2"', $COLUMN],
    uses => ['method="get_attribute_changes" table="tags" attribute="uses"', $COLUMN],
    names => ['method="get_attribute_changes" table="tags" attribute="name"', $COLUMN],
    range => ['method="get_filter_changes" table="items" where.price__gte="15" where.price__lt="100"', $LISTS],
    cheapest => ['method="get_filter_changes" table="items" where.price__isnull="false" order_by="price" limit="2"', $LISTS],
    pattern => ['method="get_filter_changes" table="items" where.name__like="p%" where.price__ne="0"', $LISTS],
    some => ['method="get_filter_changes" table="items" where.name__in="pen,ink" order_by="-price"', $LISTS],
);
for my $name (sort keys %PAGES) {
    site_file("/feed/live-$name.html", $PAGES{$name}[1]);
    live_tag("/feed/live-$name", qq(<!--#feed name="live" $PAGES{$name}[0] template="live-$name.html" -->));
}

for my $db (has_database() ? databases(split / /, $ENV{VAULT_DRIVERS} // q{}) : ()) {
    my $driver = $db->driver;
    $db->make('live', $TABLES);
    $db->watch('live', qw(items tags));
    use_server(VaultTest::Server->start("live-$driver", config => $db->feed('live', 'live', 'poll=100 timeout=20') . live_folder('/feed')));

    my (%page, %poll);
    my $open = sub {
        my ($name, $first) = @_;
        $page{$name} = open_page("/feed/live-$name.shtml");
        is($page{$name}->html =~ m{<p>(.*)</p>}s && $1 =~ s/&gt;/>/gr =~ s/&#39;/'/gr, $first, "$driver, $name: the first view");
        $poll{$name} = $page{$name}->start_poll;
        wait_waiting(scalar keys %poll);
    };
    # What a page is told next.
    my $sees = sub {
        my ($name, $wanted, $why) = @_;
        my $text = VaultTest::Page::text($page{$name}->finish_poll($poll{$name}));
        is($text =~ s/&gt;/>/gr =~ s/&#39;/'/gr, $wanted, "$driver, $name: $why");
        $poll{$name} = $page{$name}->start_poll;
    };
    $open->('prices', '+1:>10;+2:>20;+3:>;');
    $open->('sold', '+2:>0.5;+3:>;');
    $open->('uses', q{+it's:>1;});
    $open->('names', q{+it's:>it's;});

    # Another program writes: what says nothing to a page comes before what does, so a page that was told of it would show it here.
    $db->does('live', q{UPDATE items SET price=price,name='pen!' WHERE id=1});
    $db->does('live', q{UPDATE items SET price=30,sold=0.25 WHERE id=3});
    $sees->('prices', '3:>30;', 'a row whose other columns changed as well');
    $sees->('sold', '3:>0.25;', '... for each of these columns');
    $db->does('live', q{UPDATE items SET price=price+1 WHERE id<3});
    $sees->('prices', '1:10>11;2:20>21;', 'two rows at once, by their keys');
    $db->does('live', q{INSERT INTO items(id,name) VALUES(4,'nib')});
    $sees->('prices', '+4:>;', 'a new row, though the value is NULL');
    $sees->('sold', '+4:>;', '... for each column');
    $db->does('live', q{DELETE FROM items WHERE id IN(1,4)});
    $sees->('prices', '-1:11>;-4:>;', 'rows that are deleted');
    $sees->('sold', '-1:>;-4:>;', '... also one that a first view with a limit did not show');
    $db->does('live', q{UPDATE tags SET name='its'});
    $sees->('names', q{-it's:it's>;+its:>its;}, 'another key is another row');
    $sees->('uses', q{-it's:1>;+its:>1;}, '... also for a column that stays what it is');

    # The feed writes.
    calls_feed('live', 'update', {table => 'items', where => {price__gte => 21, price__lt => 30}, values => {price => 40}});
    $sees->('prices', '2:21>40;', 'an update by the feed, with a range');
    calls_feed('live', 'delete', {table => 'items', where => {id__in => '2,77'}});
    $sees->('prices', '-2:40>;', 'a deletion by the feed, with a list');
    $sees->('sold', '-2:0.5>;', '... for each column');
    $_->close for values %poll;
    %poll = ();
    wait_waiting(0);

    # Filters.
    $db->does('live', q{DELETE FROM items;INSERT INTO items VALUES(1,'pen',10,NULL),(2,'ink',20,0.5),(3,'pad',NULL,NULL)});
    $open->('range', '+2:20;');
    $open->('cheapest', '+1:10;+2:20;');
    $open->('pattern', '+1:10;');
    $open->('some', '+2:20;+1:10;');
    $db->does('live', q{INSERT INTO items(id,name,price) VALUES(4,'nib',50)});
    $sees->('range', '+4:50;', 'a row that another program inserted');
    $db->does('live', q{UPDATE items SET price=15 WHERE id=1});
    $sees->('range', '+1:15;', 'a row that comes in by an update');
    $sees->('cheapest', 'anew +1:15;+2:20;', 'a window is shown anew when a row in it changes');
    $sees->('pattern', 'anew +1:15;', 'the database decides what fits a pattern: anew');
    $sees->('some', 'anew +2:20;+1:15;', 'a row that may have another place in the order: anew');
    $db->does('live', q{UPDATE items SET price=5 WHERE id=4});
    $sees->('range', '-4:50;', 'a row that goes out');
    $sees->('cheapest', 'anew +4:5;+1:15;', 'into the window, and the last one out of it');
    $db->does('live', q{DELETE FROM items WHERE id=4});
    $sees->('cheapest', 'anew +1:15;+2:20;', 'out of it, and the next one in');
    $db->does('live', q{UPDATE items SET price=60,sold=1 WHERE id=2});
    $sees->('range', '=2:60;', 'a row that changes and stays');
    $sees->('cheapest', 'anew +1:15;+2:60;', '... in the window');
    $sees->('some', 'anew +2:60;+1:15;', '... in the order');
    calls_feed('live', 'update', {table => 'items', key => '2', values => {sold => 2}});
    $sees->('range', '=2:60;', 'the feed writes');
    $sees->('some', '=2:60;', '... and the row keeps its place') if $db->is_server;
    calls_feed('live', 'delete', {table => 'items', key => '2'});
    $sees->('range', '-2:60;', 'deleted by the feed');
    $_->close for values %poll;
    use_server(undef);
}
finish();
