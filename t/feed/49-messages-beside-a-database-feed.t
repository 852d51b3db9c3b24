# SPDX-License-Identifier: Apache-2.0
# A messages feed and a database feed on one database: both are told of one transaction, each removes old changes of its own tables
# only, and the messages of a database that an earlier feed has made are told of once their changes are recorded. A user of the
# database who may not have them recorded is told which right is missing.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Messages;
use VaultTest::Site;

my $object = vars('top_dir') . '/modules/vault_feed_messages.so';
my $name = 'messages_beside';

sub server
{
    my ($db, $with) = @_;
    my $config = $db->feed('site', $name, 'timeout=20 poll=50') . $db->feed('chat', $name, 'anonymous=yes timeout=60 poll=50', $object);
    return use_server(VaultTest::Server->start("messages-beside$with-" . $db->driver, config => $config . live_folder('/feed')));
}

sub count_of { my ($db, $where) = @_; return ($db->does($name, "SELECT count(*) FROM vault_changes WHERE $where"))[0] }

sub test_told
{
    my ($db, $why) = @_;
    my @pages = map { open_page("/feed/beside-$_.shtml") } qw(items channels);
    my @polls = map { $_->start_poll } @pages;
    $db->does($name, "BEGIN;INSERT INTO items(name) VALUES('$why');INSERT INTO vault_message_channels(name,created,serial) VALUES('$why',5,0);COMMIT");
    for my $i (0, 1) {
        # All pages look when a tailer begins, and the list of channels is shown then.
        my $text = VaultTest::Page::text($pages[$i]->finish_poll($polls[$i]));
        $text = VaultTest::Page::text($pages[$i]->poll) until $text =~ /\[$why\]/;
        pass($db->driver . ": a page of " . (qw(items channels))[$i] . " is told: $why");
        $polls[$i]->close;
    }
    return;
}

# Children that begin to read remove first what is old: the messages feed what is older than an hour, the database feed than a day.
sub test_pruning
{
    my ($db) = @_;
    $db->does($name, "UPDATE vault_changes SET at=at-CASE WHEN tbl='items' AND op='W' THEN 100000 ELSE 7200 END");
    $db->does($name, "INSERT INTO vault_message_channels(name,created,serial) VALUES('kept',5,0)");
    my $server = server($db, '-old');
    wait_until(sub { count_of($db, "tbl='items'") == 1 && count_of($db, "tbl LIKE 'vault%'") == 1 }, 'each feed removes what is old of its own tables');
    is(join(' ', sort $db->does($name, 'SELECT tbl FROM vault_changes')), 'items vault_message_channels', $db->driver . ': ... and leaves what the other one keeps');
    $server->stop;
    return;
}

# What an earlier feed has left: its tables are complete, and their changes are not recorded.
sub test_earlier
{
    my ($db) = @_;
    $db->vaultctl($name, unwatch => 'items');
    if ($db->driver eq 'pgsql') {
        $db->does($name, "DROP TRIGGER $_->[1] ON $_->[0]") for map { my $table = $_; map { [$table, $_] } qw(vault_change vault_truncate) } qw(vault_message_channels vault_message_subscriptions);
    }
    else {
        $db->does($name, "DROP TRIGGER IF EXISTS vault_vault_message_$_->[0]_$_->[1]") for map { my $table = $_; map { [$table, $_] } qw(insert update delete rename) } qw(channels subscriptions);
    }
    $db->does($name, "DROP TABLE $_") for qw(vault_watched vault_changes);
    $db->watch($name, 'items');
    my $server = server($db, '-earlier');
    wait_until(sub { grep { /the tables of the messages were set up to have their changes recorded/ } error_log_lines() }, 'changes are recorded');
    test_told($db, 'earlier');
    $server->stop;
    return;
}

sub test_rights
{
    my ($db) = @_;
    my $is_pgsql = $db->driver eq 'pgsql';
    my $web = $is_pgsql ? 'web' : 'web@localhost';
    $db->make($name, 'CREATE TABLE items(id {serial},name {text})');
    $db->watch($name, 'items');
    $db->does($name, $is_pgsql ? 'DROP ROLE IF EXISTS web' : "DROP USER IF EXISTS $web");
    $db->does($name, $is_pgsql ? 'CREATE ROLE web LOGIN' : "CREATE USER $web");
    $db->grant($name, $is_pgsql ? "GRANT CREATE,USAGE ON SCHEMA public TO web;\nGRANT SELECT,INSERT,UPDATE,DELETE ON ALL TABLES IN SCHEMA public TO web;\n"
        : "GRANT CREATE,ALTER,INDEX,SELECT,INSERT,UPDATE,DELETE ON $name.* TO $web;\n");
    my $config = $db->feed('chat', $name, 'anonymous=yes timeout=20 poll=50', $object) =~ s/user=vault/user=web/r;
    tolerate(qr/VLT00020: feed: the database "$name" (?:says|cannot|answers)/, qr/VLT00020: feed: .*(?:must be owner of|command denied)/);
    my $server = use_server(VaultTest::Server->start('messages-rights-' . $db->driver, config => $config));
    wait_until(sub { grep { /must be owner of table vault_changes|TRIGGER command denied/ } error_log_lines() }, 'the log says which right is missing');
    ok(as('ann', 'chat', 'create_channel', {channel => 'lobby'})->{error}, $db->driver . ': a feed that cannot have changes recorded refuses calls');
    $db->grant($name, $is_pgsql ? "GRANT vault TO web;\n" : "GRANT TRIGGER ON $name.* TO $web;\n");
    wait_until(sub { !as('ann', 'chat', 'create_channel', {channel => 'lobby'})->{error} }, 'it goes on when it has the right');
    $server->stop;
    use_server(undef);
    $db->does($name, $is_pgsql ? 'DROP OWNED BY web; DROP ROLE web' : "DROP USER $web");
    return;
}

site_file('/feed/beside.html', '{{#rows}}[{{name}}]{{/rows}}');
site_file('/feed/beside-list.html', '{{#rows}}[{{channel}}]{{/rows}}');
live_tag('/feed/beside-items', '<!--#feed name="site" method="get_new_instances" table="items" template="beside.html" append="list" -->');
live_tag('/feed/beside-channels', '<!--#feed name="chat" method="get_channels" user="bob" template="beside-list.html" update="list" -->');

for_each_database(
    sub {
        my ($db) = @_;
        $db->make($name, 'CREATE TABLE items(id {serial},name {text})');
        $db->watch($name, 'items');
        my $server = server($db, '');
        test_told($db, 'both');
        $server->stop;
        use_server(undef);
        test_pruning($db);
        use_server(undef);
        test_earlier($db);
        use_server(undef);
        test_rights($db) if $db->is_server;
    }
);
finish();
