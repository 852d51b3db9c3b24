# SPDX-License-Identifier: Apache-2.0
# Messages that are posted through two httpd servers on one database, and by plain SQL as the manual has it: pages at each of
# the servers show each message once, in the order of its user's serials, also when the tailer is killed. What is rolled back
# is never shown. Subscriptions and channels that other programs change are shown in lists.
use strict;
use warnings;
use VaultTest;
use VaultTest::Messages;
use VaultTest::Site;

use constant ROUNDS => 4;

my $manual = $ENV{VAULT_MANUAL} || vars('top_dir') . '/docs/messages.md';
my ($db, $database, @servers, @pages, @posted);

# The manual's transaction for this database, without its ends.
sub sql_post
{
    my ($text) = @_;
    my $text_of_manual = read_file($manual);
    my ($sql) = $text_of_manual =~ /^```sql\nBEGIN;\n(UPDATE vault_message_channels.*?)^COMMIT;\n```/ms or die "the manual posts nothing by SQL\n";
    my %now = $text_of_manual =~ /^\| (PostgreSQL|MariaDB|SQLite) \| `([^`]*1000000[^`]*)` \|/mg;
    my $now = $now{{pgsql => 'PostgreSQL', mysql => 'MariaDB', sqlite3 => 'SQLite'}->{$db->driver}};
    $sql =~ s/\Q$now{PostgreSQL}\E/$now/ or die "the manual's post has no time\n";
    $sql =~ s/^SELECT [^;]*FOR UPDATE;\n//m unless $db->is_server;
    $sql =~ s/'The backup is done\.'/'$text'/ or die "the manual's post has no text\n";
    my ($channel) = $db->does($database, "SELECT id FROM vault_message_channels WHERE name='lobby'");
    $sql =~ s/(channel_id|id)=3\b/$1=$channel/g;
    return $sql;
}

sub begin { return $db->is_server ? 'BEGIN;' : 'BEGIN IMMEDIATE;' }

sub open_at
{
    my ($server, $name) = @_;
    use_server($server);
    my $page = open_page("/feed/others-$name.shtml");
    return {page => $page, poll => $page->start_poll, server => $server, shown => [], what => $db->driver . ": $name at server " . ($server == $servers[0] ? 0 : 1)};
}

sub all_see
{
    my ($why) = @_;
    wait_until(sub { take_shown($_) for @pages; !grep { @{$_->{shown}} < @posted } @pages }, $db->driver . ": all messages come: $why");
    is("@{$_->{shown}}", join(' ', map { $_ + 1 . ":$posted[$_]" } 0 .. $#posted), "$_->{what}: $why") for @pages;
    return;
}

# Through one of the servers, or by another program.
sub posts
{
    my ($who) = @_;
    my $text = 'm' . (1 + @posted);
    if ($who == 2) {
        $db->does($database, begin() . sql_post($text) . 'COMMIT');
    }
    else {
        use_server($servers[$who]);
        post_as('ann', 'chat', 'lobby', $text);
    }
    push @posted, $text;
    take_shown($_) for @pages;
    return;
}

sub test_rolled_back
{
    my ($first, $second) = map { $db->session($database) } 0, 1;
    $first->does($_) for begin(), split /;\n/, sql_post('never');
    take_shown($_) for @pages;
    is(scalar(grep { @{$_->{shown}} != @posted } @pages), 0, $db->driver . ': what is not committed is not shown');
    $first->does('ROLLBACK');
    $second->does($_) for begin(), split(/;\n/, sql_post('m' . (1 + @posted))), 'COMMIT';
    push @posted, 'm' . (1 + @posted);
    all_see('what is rolled back is never shown');
    return;
}

# At each server; both have the tailer in one of their children.
sub test_kills
{
    for my $server (@servers) {
        use_server($server);
        my ($tailer) = map { /this child reads the changes of / && /\[pid (\d+)/ ? $1 : () } reverse error_log_lines();
        kill KILL => $tailer;
        $db->does($database, begin() . sql_post('m' . (1 + @posted)) . 'COMMIT');
        push @posted, 'm' . (1 + @posted);
        # A poll that waited in that child has ended.
        for my $at (grep { $_->{server} == $server } @pages) {
            $at->{poll}->close;
            $at->{poll} = $at->{page}->start_poll;
        }
    }
    all_see('nothing is passed over when the tailer is killed');
    return;
}

# In one transaction: who leaves keeps the message, and is shown it.
sub test_lists
{
    my @lists = map { open_at($_, 'channels') } @servers;
    my $sees = sub {
        my ($expected, $why) = @_;
        wait_until(sub { take_shown($_) for @lists, @pages; !grep { ($_->{shown}[-1] // '') ne $expected } @lists }, $db->driver . ": lists: $why");
        pass($db->driver . ": $why");
    };
    my $of = sub { return "SELECT c.id,u.id FROM vault_message_channels c,vault_message_users u WHERE c.name='lobby' AND u.name='$_[0]'" };
    $db->does($database, 'INSERT INTO vault_message_subscriptions(channel_id,user_id) ' . $of->('cid'));
    $sees->('lobby 3 ', 'a subscription that another program makes');
    $db->does($database, "INSERT INTO vault_message_channels(name,created,serial) VALUES('a porch',5,0)");
    $sees->('a porch 0 lobby 3 ', 'a channel that another program makes');
    my $text = 'm' . (1 + @posted);
    $db->does($database, begin() . sql_post($text) . "DELETE FROM vault_message_subscriptions WHERE user_id=(SELECT id FROM vault_message_users WHERE name='bob');COMMIT");
    push @posted, $text;
    all_see('a message to a user who has left when the tailer reads it');
    $sees->('a porch 0 lobby 2 ', 'a subscription that another program ends');
    use_server($_->{server}), $_->{poll}->close for @lists;
    return;
}

for_each_database(
    sub {
        ($db) = @_;
        $database = 'messages_others';
        @posted = ();
        $db->make($database, '');
        my $config = $db->feed('chat', $database, 'timeout=60 anonymous=yes rate=10000 poll=100', vars('top_dir') . '/modules/vault_feed_messages.so');
        @servers = map { VaultTest::Server->start("messages-others$_-" . $db->driver, config => $config . live_folder('/feed')) } 0, 1;
        site_file('/feed/others.html', '{{#rows}}[{{serial}}:{{text}}]{{/rows}}');
        live_tag('/feed/others-messages', '<!--#feed name="chat" method="get_new_messages" user="bob" template="others.html" append="list" -->');
        site_file('/feed/others-channels.html', '[{{#rows}}{{channel}} {{subscribers}} {{/rows}}]');
        live_tag('/feed/others-channels', '<!--#feed name="chat" method="get_channels" user="bob" template="others-channels.html" update="list" -->');
        use_server($servers[0]);
        join_channel('chat', 'lobby', 'ann', 'bob');
        must('cid', 'chat', 'create_user');
        @pages = map { open_at($_, 'messages') } @servers;
        for my $server (@servers) {
            use_server($server);
            wait_waiting(1);
        }

        posts($_ % 3) for 0 .. 3 * ROUNDS - 1;
        all_see('each message once, in order');
        test_rolled_back();
        test_kills();
        test_lists();
        for my $at (@pages) {
            use_server($at->{server});
            wait_waiting(1);
            ok($at->{poll}->is_silent, "$at->{what}: there is nothing more");
            $at->{poll}->close;
        }
    }
);
finish();
