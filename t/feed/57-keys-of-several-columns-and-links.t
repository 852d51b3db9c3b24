# SPDX-License-Identifier: Apache-2.0
# Rows with a key of several columns, and collections through a table of links, on SQLite, PostgreSQL and MariaDB: live pages see what the feed and
# other programs write, whatever characters are in a key.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $TABLES = <<'END';
CREATE TABLE people(shop VARCHAR(20),code CHAR(6),name VARCHAR(20),PRIMARY KEY(code,shop));
CREATE TABLE clubs(id INTEGER PRIMARY KEY,title VARCHAR(20));
CREATE TABLE members(club INTEGER,code CHAR(6),since VARCHAR(20),shop VARCHAR(20),PRIMARY KEY(club,shop,code));
INSERT INTO people VALUES('a,b','x','Ann'),('c','y','Bob');
INSERT INTO clubs VALUES(1,'chess'),(2,'choir');
INSERT INTO members VALUES(1,'x','','a,b');
END

my $model = model_file('links', <<'END');
{"entities": {
  "Person": {"table": "people", "properties": {"name": "name"}, "collections": {
    "clubs": {"entity": "Club", "through": {"table": "members", "column": ["code", "shop"], "element": "club"}}}},
  "Club": {"table": "clubs", "properties": {"title": "title"}, "collections": {
    "people": {"entity": "Person", "through": {"table": "members", "column": "club", "element": ["code", "shop"]}}}}}}
END

# Name of the page, its tag, and a template; a list shows its elements with a sign.
my $DELTA = '{{#added}}+{{id}}:{{name}}{{title}} {{/added}}{{#removed}}-{{id}}:{{name}}{{title}} {{/removed}}{{#changed}}={{id}}:{{name}}{{title}} {{/changed}}';
my %PAGES = (
    row => ['method="get_modified_instance" table="people" key="x,a\\,b"', '{{#rows}}{{name}}{{/rows}}{{^rows}}none{{/rows}}'],
    clubs => ['method="get_collection_changes" entity="Person" id="x,a\\,b" collection="clubs"', $DELTA],
    people => ['method="get_collection_changes" entity="Club" id="1" collection="people"', $DELTA],
);
for my $name (sort keys %PAGES) {
    my ($tag, $template) = @{$PAGES{$name}};
    site_file("/feed/links-$name.html", $template);
    live_tag("/feed/links-$name", qq(<!--#feed name="links" $tag template="links-$name.html" update="it" -->));
}

# What is done, by SQL or by the feed, and what each page is told; a page that is not named is told nothing.
my @STEPS = (
    [q{INSERT INTO members VALUES(2,'x','','a,b')}, {clubs => '+2:choir '}, 'a link was added'],
    [[save => {table => 'members', values => {club => 1, shop => 'c', code => 'y', since => ''}}], {people => '+y,c:Bob '}, 'by the feed'],
    [q{UPDATE people SET name='Anna' WHERE name='Ann'}, {row => 'Anna', people => '=x,a\\,b:Anna '}, 'an element changed'],
    [[update => {table => 'clubs', key => 1, values => {title => 'CHESS'}}], {clubs => '=1:CHESS '}, 'on the other side'],
    [[update => {table => 'members', key => '2,a\\,b,x', values => {club => 1, shop => 'd'}}], {clubs => '-2:choir '}, 'a link was moved to a row that does not exist'],
    [q{INSERT INTO people VALUES('d','x','Dan')}, {people => '+x,d:Dan '}, 'who comes after it'],
    [[delete => {table => 'members', key => '1,a\\,b,x'}], {clubs => '-1:CHESS ', people => '-x,a\\,b:Anna '}, 'a link was removed, by its key of three columns'],
    [q{UPDATE people SET shop='e' WHERE name='Anna'}, {row => 'none'}, 'another key'],
);

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    $db->make('links', $TABLES);
    $db->watch('links', qw(people clubs members));
    use_server(VaultTest::Server->start("links-$driver", config => $db->feed('links', 'links', "poll=50 timeout=20 model=$model") . live_folder('/feed')));

    my %page = map { $_ => open_page("/feed/links-$_.shtml") } sort keys %PAGES;
    like($page{row}->html, qr{<p>Ann</p>}, "$driver: a row by its key of two columns");
    like($page{clubs}->html, qr{<p>\+1:chess </p>}, '... its collection through links');
    like($page{people}->html, qr{<p>\+x,a\\,b:Ann </p>}, '... and the other way round');
    my %poll = map { $_ => $page{$_}->start_poll } keys %page;
    for my $step (@STEPS) {
        my ($does, $told, $why) = @$step;
        wait_waiting(scalar keys %poll);
        ref $does ? is(ref calls_feed('links', @$does), 'HASH', "$driver: $why") : $db->does('links', $does);
        for my $name (sort keys %$told) {
            my $text = VaultTest::Page::text($page{$name}->finish_poll($poll{$name}));
            is($text =~ m{<template>(.*)</template>}s ? $1 : $text, $told->{$name}, "... $why: $name");
            $poll{$name} = $page{$name}->start_poll;
        }
    }
    my $refused = calls_feed('links', 'get_modified_instance', {table => 'people', key => 'x'});
    like($refused->{error} // '', qr/"x" is not 2 values \(code,shop\) separated by commas/, '... half a key is refused');
    use_server(undef);
}
finish();
