# SPDX-License-Identifier: Apache-2.0
# The change table does not grow for ever, on SQLite, PostgreSQL and MariaDB alike: the next tailer removes what is beyond
# `changes`, and positions of users beyond `keep-places`. Pages that would need what is gone are shown everything anew, others are not.
# And what a table that is emptied, or watched anew, means to open pages.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

use constant KEEP_POSITIONS => 1000;

my $SSI_ERROR = '[an error occurred while processing this directive]';

my $MODEL = <<'END';
{"entities": {"Profile": {"table": "profiles", "properties": {"name": "full_name"},
                          "collections": {"posts": {"entity": "WallPost", "column": "wall"}}},
              "WallPost": {"table": "posts", "properties": {"text": "body"}}}}
END

my $TABLES = <<'END';
CREATE TABLE logs(id {serial},line {text});
CREATE TABLE profiles(id {integer} PRIMARY KEY,full_name {text});
CREATE TABLE posts(id {integer} PRIMARY KEY,wall {integer},body {text});
INSERT INTO logs(line) VALUES('one'),('two');
INSERT INTO profiles VALUES(1,'Ann');
INSERT INTO posts VALUES(1,1,'hello'),(2,1,'hi');
END

my $LISTS = '{{#added}}+{{id}}:{{text}} {{/added}}{{#removed}}-{{id}} {{/removed}}{{#changed}}={{id}}:{{text}} {{/changed}}';
my %PAGES = (
    'p-new' => ['method="get_new_instances" table="logs" limit="2" append="list"', '{{#rows}}[{{line}}]{{/rows}}'],
    'p-one' => ['method="get_collection_changes" entity="Profile" id="1" collection="posts" append="list"', $LISTS],
    'p-row' => ['method="get_modified_instance" table="profiles" key="1" update="list"', '{{#rows}}[{{full_name}}]{{/rows}}'],
    'p-key' => ['method="get_modified_instance" table="profiles" key="007" update="list"', '{{#rows}}[{{full_name}}]{{/rows}}'],
    'p-id' => ['method="get_collection_changes" entity="Profile" id=" 9" collection="posts" append="list"', $LISTS],
);

sub config_of
{
    my ($db) = @_;
    my $model = model_file('pruned', $MODEL);
    return $db->feed('pruned', 'pruned', "rows=2000 poll=100 timeout=5 changes=1000 ring=64 keep-places=@{[KEEP_POSITIONS]} model=$model") . live_folder('/feed');
}

# The child that watches, of those that are alive.
sub tailer
{
    my ($driver) = @_;
    open my $log, '<', vars('t_logs') . "/pruned-$driver/error_log" or die "$!\n";
    my @found = map { /this child reads the changes of "[^"]*pruned/ && /\[pid (\d+)/ ? $1 : () } readline $log;
    return @found ? $found[-1] : undef;
}

# "ACTION WORD …", the words of a template in order.
sub said
{
    my ($answer) = @_;
    my ($action, $text) = VaultTest::Page::text($answer) =~ /action="(\w+)".*<template>(.*)<\/template>/s or return '';
    return join ' ', $action, sort split / /, $text;
}

for my $name (sort keys %PAGES) {
    my $tag = qq(<!--#feed name="pruned" $PAGES{$name}[0] template="$name.html" -->);
    site_file("/feed/$name.html", $PAGES{$name}[1]);
    live_tag("/feed/$name", $tag, '<p id="list">%s</p>');
}

for my $db (has_database() ? databases(split / /, $ENV{VAULT_DRIVERS} // q{}) : ()) {
    my $driver = $db->driver;
    $db->make('pruned', $TABLES);
    $db->watch('pruned', qw(logs profiles posts));
    use_server(VaultTest::Server->start("pruned-$driver", config => config_of($db)));
    my $count = sub { return ($db->does('pruned', "SELECT count(*) FROM $_[0]"))[0] };

    # What has no number yet when a page looks counts as unseen when it is pruned: here that is what tells of the watching.
    my $numberless = sub { return $count->('vault_changes WHERE pos IS NULL') };
    wait_until(sub { !$numberless->() }, 'changes have numbers') if $driver eq 'mysql';
    my %page = map { $_ => open_page("/feed/$_.shtml") } qw(p-new p-one p-row);
    $db->does('pruned', q{UPDATE posts SET body='HELLO' WHERE id=1});
    my ($long_ago, $lately) = (time - KEEP_POSITIONS - 60, time - KEEP_POSITIONS + 3600);
    $db->does('pruned', "INSERT INTO vault_subscriptions VALUES('gone','w:1',1,$long_ago),('here','w:1',1,$lately)");
    $db->does('pruned', 'INSERT INTO logs(line) VALUES' . join ',', map { "('p$_')" } 1 .. 1200);
    wait_until(sub { defined tailer($driver) }, 'a child is the tailer');
    kill KILL => tailer($driver);
    wait_until(sub { $count->('vault_changes') <= 1000 }, 'the next tailer prunes');
    wait_until(sub { $count->('vault_subscriptions') == 1 }, '... and forgets who has not come for long');
    is(($db->does('pruned', 'SELECT subscription FROM vault_subscriptions'))[0], 'here', "$driver: ... and no other user");

    my $answer = $page{'p-new'}->finish_poll($page{'p-new'}->start_poll);
    is(said($answer), 'update [p1199][p1200]', "$driver: a page that would need what is gone is shown everything anew");
    $answer = $page{'p-one'}->finish_poll($page{'p-one'}->start_poll);
    is(said($answer), 'update +1:HELLO +2:hi', '... a collection, too');
    my %poll = map { $_ => $page{$_}->start_poll } keys %page;
    wait_waiting(3);
    pass('... and a page of a table of which nothing went is not');
    my $sees = sub {
        my ($name, $wanted, $why) = @_;
        is(said($page{$name}->finish_poll($poll{$name})), $wanted, "$driver, $name: $why");
        $poll{$name} = $page{$name}->start_poll;
        wait_waiting(3);
    };
    $db->does('pruned', q{INSERT INTO logs(line) VALUES('after')});
    $sees->('p-new', 'append [after]', 'after that each change once');

    # A table is emptied without a condition.
    $db->does('pruned', 'DELETE FROM posts');
    $sees->('p-one', 'append -1 -2', 'DELETE without WHERE is seen row by row');

    # The table is watched anew: nothing has changed, but what is recorded from here on is not what the page's position is in.
    $db->does('pruned', q{INSERT INTO posts VALUES(5,1,'x')});
    $sees->('p-one', 'append +5:x', 'a row');
    $db->watch('pruned', 'posts');
    $sees->('p-one', 'update +5:x', 'watched anew, pages are shown everything anew, without a request');
    $db->does('pruned', q{UPDATE profiles SET full_name='Anna' WHERE id=1});
    $sees->('p-row', 'update [Anna]', 'the other tables are watched as before');
    $_->close for values %poll;

    # Keys that are not written as the database writes them.
    announce(qr/VLT00040: .*the key "(?:007| 9)" must be given as the database writes it: "[79]"/);
    is(text_of('/feed/p-key-new.shtml'), $SSI_ERROR, "$driver: 007 is refused, also where there is no row 7");
    is(text_of('/feed/p-id-new.shtml'), $SSI_ERROR, '... and a blank before a number');
    use_server(undef);
}
finish();
