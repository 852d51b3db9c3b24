# SPDX-License-Identifier: Apache-2.0
# Tables that an earlier messages feed has made, without owners of channels, with what is in them: they are extended once, though two
# servers find them at the same time, and an earlier feed may go on to use them.
use strict;
use warnings;
use VaultTest;
use VaultTest::Messages;
use VaultTest::Site;

my $TABLES = <<'END';
CREATE TABLE vault_message_users (id {serial},name VARCHAR(180) NOT NULL UNIQUE,created BIGINT NOT NULL,serial BIGINT NOT NULL,pruned BIGINT NOT NULL,rate_minute BIGINT NOT NULL,rate_posts BIGINT NOT NULL);
CREATE TABLE vault_message_channels (id {serial},name VARCHAR(180) NOT NULL UNIQUE,created BIGINT NOT NULL,serial BIGINT NOT NULL);
CREATE TABLE vault_message_subscriptions (channel_id BIGINT NOT NULL,user_id BIGINT NOT NULL,PRIMARY KEY(channel_id,user_id),UNIQUE(user_id,channel_id));
CREATE TABLE vault_message_texts (channel_id BIGINT NOT NULL,serial BIGINT NOT NULL,sender VARCHAR(180) NOT NULL,body {text} NOT NULL,posted BIGINT NOT NULL,once VARCHAR(180),PRIMARY KEY(channel_id,serial));
CREATE TABLE vault_message_deliveries (user_id BIGINT NOT NULL,serial BIGINT NOT NULL,channel_id BIGINT NOT NULL,message BIGINT NOT NULL,PRIMARY KEY(user_id,serial));
INSERT INTO vault_message_users(name,created,serial,pruned,rate_minute,rate_posts) VALUES('ann',5,1,0,0,0);
INSERT INTO vault_message_channels(name,created,serial) VALUES('old',5,1),('empty',5,0);
INSERT INTO vault_message_subscriptions VALUES(1,1);
INSERT INTO vault_message_texts VALUES(1,1,'ann','kept',5000000,NULL);
INSERT INTO vault_message_deliveries VALUES(1,1,1,1);
END

sub extended { return scalar grep { /the tables of the messages were extended by owners of channels/ } error_log_lines() }

for_each_database(
    sub {
        my ($db) = @_;
        my $name = 'messages_earlier';
        $db->make($name, $TABLES);
        my $config = $db->feed('chat', $name, 'timeout=60 anonymous=yes idle=1 owner_channels=20', vars('top_dir') . '/modules/vault_feed_messages.so');
        my @servers = map { VaultTest::Server->start("messages-earlier$_-" . $db->driver, config => $config) } 0, 1;
        my @calls;
        for my $server (@servers) {
            use_server($server);
            push @calls, map { connect_to() } 1 .. 6;
        }
        $calls[$_]->request(GET => "/closed/call?feed=chat&method=create_channel&args=%7B%22user%22%3A%22ann%22%2C%22channel%22%3A%22n$_%22%7D") for 0 .. $#calls;
        my @answers = map { $_->response->{body} } @calls;
        is(scalar(grep { /"changed":true/ } @answers), 12, 'two servers find them at once: each call goes well') or diag(@answers);
        my $extended = 0;
        for my $server (@servers) {
            use_server($server);
            $extended += extended();
        }
        is($extended, 1, '... and one of them has extended the tables');

        is_deeply([messages_of('ann', 'chat')], ['kept'], 'messages of before');
        ok((grep { $_->{channel} eq 'empty' && !$_->{own} } @{must('ann', 'chat', 'get_channels')}), 'a channel of before has no owner, and stays though it is empty');
        refused('ann', 'chat', 'delete_channel', {channel => 'old'}, qr/^channel "old" has no owner/, '... so no user deletes it');
        $db->does($name, "INSERT INTO vault_message_channels(name,created,serial) VALUES('of the other',5,0)");
        is(must('bob', 'chat', 'subscribe', {channel => 'of the other'})->[0]{changed} ? 1 : 0, 1, 'an earlier feed goes on to make channels');

        $db->does($name, "UPDATE vault_message_channels SET owner_id=(SELECT id FROM vault_message_users WHERE name='ann') WHERE name='old'");
        is(must('ann', 'chat', 'delete_channel', {channel => 'old'})->[0]{changed} ? 1 : 0, 1, 'a channel that an administrator gives an owner is the owner\'s');
        is_deeply([messages_of('ann', 'chat')], [], '... to delete');
        use_server($servers[0]);
        use_server();
    }
);
finish();
