# SPDX-License-Identifier: Apache-2.0
# What the tests of the messages feed share: a server with feeds on each kind of database that is there, and calls by users.
#
#     for_each_database(sub {
#         my ($db) = @_;                    # of VaultTest::Database
#         messages_server('calls', $db, {chat => 'anonymous=yes', strict => 'keep=2'});
#         ...
#     });
package VaultTest::Messages;
use strict;
use warnings;
use Exporter 'import';
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

our @EXPORT = qw(as for_each_database has_messages join_channel messages_of messages_server must post_as refused);

sub has_messages { return -f vars('top_dir') . '/modules/vault_feed_messages.so' }

# Nothing where the feed was not built.
sub for_each_database
{
    my ($code) = @_;
    return note('the messages feed was not built') unless has_messages();
    for my $db (databases()) {
        note('on ' . $db->driver);
        $code->($db);
        use_server();
    }
    return;
}

# A server of three children with these feeds: {NAME => PARAMETERS}, each on a database of its own.
sub messages_server
{
    my ($name, $db, $feeds, %with) = @_;
    my $object = vars('top_dir') . '/modules/vault_feed_messages.so';
    my $config = join '', map { $db->make("messages_${name}_$_")->feed($_, "messages_${name}_$_", "timeout=60 $feeds->{$_}", $object) } sort keys %$feeds;
    my $pages = sprintf <<'END', vars('documentroot');
AddType text/html .shtml .html
SSIErrorMsg "[ssi error]"
<Directory "%s">
    Options +Includes
    AddOutputFilter INCLUDES .shtml
    VaultLongPoll On
</Directory>
END
    return use_server(
        VaultTest::Server->start("messages-$name-" . $db->driver, size => "StartServers 3\nMinSpareThreads 24\nMaxRequestWorkers 24\n",
            config => $config . $pages . ($with{config} || '')));
}

# as(USER, FEED, METHOD, {ARGUMENTS}): the call's answer, for an anonymous user of this name
sub as
{
    my ($user, $feed, $method, $args, %with) = @_;
    return calls_feed($feed, $method, {%{$args || {}}, defined $user ? (user => $user) : ()}, %with);
}

# The same, and it must go well: the rows.
sub must
{
    my ($user, $feed, $method, $args, %with) = @_;
    my $answer = as($user, $feed, $method, $args, %with);
    die "$method as $user: $answer->{error}\n" if $answer->{error};
    return $answer->{rows};
}

sub join_channel
{
    my ($feed, $channel, @users) = @_;
    must($users[0], $feed, 'create_channel', {channel => $channel});
    must($_, $feed, 'subscribe', {channel => $channel}) for @users;
    return;
}

sub post_as
{
    my ($user, $feed, $channel, $text, %with) = @_;
    return must($user, $feed, 'post_message', {channel => $channel, text => $text}, %with)->[0]{id};
}

# The texts that a user would see at first.
sub messages_of
{
    my ($user, $feed, %args) = @_;
    return map { $_->{text} } @{must($user, $feed, 'get_new_messages', {%args}) || []};
}

# refused(USER, FEED, METHOD, {ARGUMENTS}, qr/SENTENCE/, why)
sub refused
{
    my ($user, $feed, $method, $args, $sentence, $why) = @_;
    my $answer = as($user, $feed, $method, $args);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return like($answer->{error} // 'it was accepted', $sentence, $why) && is($answer->{status}, 22, "... $method answers APR_EINVAL");
}

1;
