# SPDX-License-Identifier: Apache-2.0
# Two servers on one database. The tailer of each finds the changes of a watched table, so rows reach the pages of both once, and no notify
# crosses. A table that is not watched crosses, and one that has just been watched does not any more.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Database;
use VaultTest::Nats;
use VaultTest::Site;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my @databases = databases(qw(sqlite3 pgsql));
plan skip_all => 'there is no database' unless @databases;

my $feeds = live_folder('/feed');
for my $db (@databases) {
    my $feed = $db->driver;
    $db->make($feed, join ';', map { "CREATE TABLE ${feed}_$_(id {serial},line {text})" } qw(logs notes));
    $db->watch($feed, "${feed}_logs");
    $feeds .= $db->feed($feed, $feed, 'rows=20 poll=50 timeout=20');
    site_file("/feed/$feed.html", '{{#rows}}[{{line}}]{{/rows}}');
    live_tag("/feed/$feed-$_->[0]", qq(<!--#feed name="$feed" method="get_new_instances" table="${feed}_$_->[0]" $_->[1] template="$feed.html" -->))
        for ['logs', 'limit="2"'], ['notes', 'cursor="largest-key" limit="2"'];
}
my $nats = VaultTest::Nats->start('tables');
my @servers = map { cluster_server("tables-$_", [$nats], config => $feeds) } 1, 2;
wait_said($_, 'VLT00493', 1) for @servers;

# [sent, received] of both servers.
sub crossed { return join ' ', map { on($_, sub { my $now = status(); "$now->{NotifiesSent}-$now->{NotifiesReceived}" }) } @servers }

# A page at each server. The engine has their subscriptions, this many of them since now.
sub pages
{
    my ($feed, $table, $new) = @_;
    return map {
        on($_, sub {
            my $before = status();
            my $page = open_page("/feed/$feed-$table.shtml");
            my $poll = $page->start_poll;
            wait_counter('EngineInterests', $before, $new);
            wait_waiting(1);
            return {server => $_[0], page => $page, poll => $poll, shown => ''};
        })
    } @servers;
}

# What the pages show, once they show as many rows.
sub shows
{
    my ($rows, @pages) = @_;
    for my $i (0 .. $#servers) {
        my $at = $pages[$i];
        on($servers[$i], sub {
            until (($at->{shown} =~ tr/[//) >= $rows) {
                $at->{shown} .= VaultTest::Page::text($at->{page}->finish_poll($at->{poll}));
                $at->{poll} = $at->{page}->start_poll;
            }
        });
    }
    return join ' ', map { $_->{shown} =~ s/\s//gr } @pages;
}

sub saves
{
    my ($feed, $table, $line) = @_;
    return on($servers[0], sub { calls_feed($feed, save => {table => "${feed}_$table", values => {line => $line}}) });
}

for my $db (@databases) {
    my $feed = $db->driver;

    # More rows than a method returns at once: then the feed notifies the page itself.
    my @pages = pages($feed, 'logs', 1);
    my $before = crossed();
    $db->does($feed, join ';', map { "INSERT INTO ${feed}_logs(line) VALUES('$_')" } 1 .. 5);
    is(shows(5, @pages), '[1][2][3][4][5] [1][2][3][4][5]', "$feed: rows of another program reach the pages of both servers once");
    saves($feed, 'logs', 6);
    is(shows(6, @pages), '[1][2][3][4][5][6] [1][2][3][4][5][6]', '... and so does one of the feed');
    is(crossed(), $before, '... and no notify crosses');
    ok(!grep({ !$_->{poll}->is_silent } @pages), '... and nothing comes twice');
    $_->{poll}->close for @pages;

    my @others = pages($feed, 'notes', 1);
    my ($sent, $received) = map { my $i = $_; on($servers[$i], sub { status()->{$i ? 'NotifiesReceived' : 'NotifiesSent'} }) } 0, 1;
    saves($feed, 'notes', 1);
    is(shows(1, @others), '[1] [1]', "$feed: a row of a table that is not watched reaches both");
    cmp_ok(on($servers[0], sub { status()->{NotifiesSent} }), '>', $sent, '... and its notify was sent');
    cmp_ok(on($servers[1], sub { status()->{NotifiesReceived} }), '>', $received, '... and received');

    $_->{poll}->close for @others;

    $db->watch($feed, "${feed}_notes");
    @others = pages($feed, 'notes', 0);
    $before = crossed();
    $db->does($feed, "INSERT INTO ${feed}_notes(line) VALUES('2')");
    is(shows(1, @others), '[2] [2]', "$feed: a row reaches both when the table is watched, too");
    is(crossed(), $before, '... and no notify crosses any more');
    $_->{poll}->close for @others;
}
finish();
