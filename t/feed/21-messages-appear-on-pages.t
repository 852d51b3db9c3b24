# SPDX-License-Identifier: Apache-2.0
# Pages of users who are subscribed: history at first, then each message once, also when answers are lost, when more wait than one
# answer holds, and when what a page missed is kept no more.
use strict;
use warnings;
use VaultTest;
use VaultTest::Messages;
use VaultTest::Site;

# The page of a user: open_inbox('ann', 'chat', 'limit="2"')
sub open_inbox
{
    my ($user, $feed, $arguments) = @_;
    my $name = join '-', 'inbox', $user, $feed, ($arguments // '') =~ /(\w+)/g;
    my $tag = qq(<!--#feed name="$feed" method="get_new_messages" user="$user" @{[$arguments // '']} template="message.html" append="inbox" -->);
    site_file('/feed/message.html', '{{#rows}}[{{serial}}:{{sender}}:{{text}}]{{/rows}}');
    live_tag("/feed/$name", $tag);
    return open_page("/feed/$name.shtml");
}

# What an answer to a poll shows.
sub shown { return join '', VaultTest::Page::text($_[0]) =~ /\[.*?\]/g }

sub history { return $_[0]->html =~ m{<p>(.*?)</p>}s ? $1 : 'no history' }

sub test_live
{
    join_channel('chat', 'lobby', 'ann', 'bob');
    join_channel('chat', 'kitchen', 'bob');
    post_as('bob', 'chat', 'lobby', "m$_") for 1 .. 4;
    my $page = open_inbox('ann', 'chat', 'limit="2"');
    my $lobby = open_inbox('bob', 'chat', 'channel="lobby" limit="1"');
    is(history($page), '[3:bob:m3][4:bob:m4]', 'a page begins with the newest messages');
    my ($poll, $other) = ($page->start_poll, $lobby->start_poll);
    wait_waiting(2);
    ok($poll->is_silent, 'then it waits');
    post_as('ann', 'chat', 'lobby', 'live');
    my $answer = $page->finish_poll($poll);
    is(VaultTest::Page::text($answer), '<turbo-stream action="append" target="inbox"><template>[5:ann:live]</template></turbo-stream>', 'a message appears');
    is(shown($lobby->finish_poll($other)), '[5:ann:live]', '... on the pages of all subscribers');
    post_as('ann', 'chat', 'lobby', 'now');
    is(shown($page->poll), '[6:ann:now]', '... also when it came between two polls');
    post_as('bob', 'chat', 'kitchen', 'tea');
    ($poll, $other) = ($page->start_poll, $lobby->start_poll);
    is(shown($lobby->finish_poll($other)), '[6:ann:now]', 'a page of one channel');
    $other = $lobby->start_poll($other);
    wait_waiting(2);
    ok($other->is_silent, '... shows no other');
    ok($poll->is_silent, 'a user hears nothing of a channel that they are not subscribed to');
    post_as('bob', 'chat', 'lobby', 'last');
    is(shown($page->finish_poll($poll)), '[7:bob:last]', '... and goes on');
    is(shown($lobby->finish_poll($other)), '[8:bob:last]', '... each with a serial of their own');

    post_as('bob', 'chat', 'lobby', 'lost');
    is(shown($page->read_poll($page->start_poll)), '[8:bob:lost]', 'an answer');
    post_as('bob', 'chat', 'lobby', 'more');
    is(shown($page->poll), '[8:bob:lost][9:bob:more]', 'that was lost on the way comes again');
    $poll = $page->start_poll;
    wait_waiting(1);
    ok($poll->is_silent, '... once');
    $_->close for $poll, $other;
    wait_waiting(0);
    return;
}

# Before the user is there, and from then on.
sub test_newcomer
{
    must('ann', 'chat', 'create_channel', {channel => 'later'});
    must('ann', 'chat', 'subscribe', {channel => 'later'});
    post_as('ann', 'chat', 'later', 'before');
    my $page = open_inbox('eve', 'chat', 'limit="10"');
    is(history($page), '', 'who is not there yet has no messages');
    my $poll = $page->start_poll;
    wait_waiting(1);
    must('eve', 'chat', 'subscribe', {channel => 'later', history => 5});
    is(shown($page->finish_poll($poll)), '[1:ann:before]', 'and gets history on the page that is open');
    post_as('ann', 'chat', 'later', 'after');
    is(shown($page->poll), '[2:ann:after]', 'and what comes then');
    return;
}

sub test_parts
{
    join_channel('few', 'lobby', 'ann');
    my $page = open_inbox('ann', 'few');
    post_as('ann', 'few', 'lobby', "$_") for 1 .. 12;
    my @parts = map { shown($page->poll) } 1 .. 3;
    is_deeply([map { scalar(() = /\[/g) } @parts], [5, 5, 2], 'many messages come in parts');
    is(join('', @parts), join('', map { "[$_:ann:$_]" } 1 .. 12), '... all of them, in order');
    my $poll = $page->start_poll;
    wait_waiting(1);
    ok($poll->is_silent, '... and then no more');
    $poll->close;
    wait_waiting(0);
    is(history(open_inbox('ann', 'few')), join('', map { "[$_:ann:$_]" } 8 .. 12), 'a first view has no more than an answer');
    return;
}

sub test_too_late
{
    join_channel('short', 'lobby', 'ann', 'bob');
    join_channel('short', 'quiet', 'ann', 'bob');
    post_as('ann', 'short', 'lobby', 'seen');
    my ($page, $gone) = (open_inbox('ann', 'short', 'limit="2"'), open_inbox('bob', 'short', 'limit="2"'));
    is(history($page), '[1:ann:seen]', 'a page');
    must('bob', 'short', 'unsubscribe', {channel => 'lobby'}) if post_as('ann', 'short', 'lobby', 'unseen');
    post_as('ann', 'short', 'lobby', "m$_") for 1 .. 50;
    post_as('ann', 'short', 'quiet', 'quiet');
    my $again = $page->poll;
    is(shown($again), '[52:ann:m50][53:ann:quiet]', 'that has missed what is kept no more gets a first view');
    like(VaultTest::Page::text($again), qr/<turbo-stream action="update" target="inbox">/, '... in place of what it shows');
    is(shown($gone->poll), '[3:ann:quiet]', '... also where only the text is kept no more');
    post_as('ann', 'short', 'quiet', 'on');
    is(shown($page->poll), '[54:ann:on]', '... and goes on from there');
    is(shown($gone->poll), '[4:ann:on]', '... both');
    return;
}

# The database is put back as it was, and gives the numbers again that the page has seen.
sub test_restored
{
    my ($db) = @_;
    my $name = 'messages_pages_chat';
    # The tailer finds a server away, whose child then asks it again some time later.
    my $is_there = sub {
        wait_until(sub { !grep { /cannot be opened/ } (grep { /VLT00020: feed: the database "$name" (?:cannot be opened|can be reached)/ } error_log_lines())[-1] // '' }, 'the database can be reached');
    };
    # A feed whose statement is under way then loses its connection.
    tolerate(qr/VLT00020: feed: the database "messages_pages_\w+" cannot be (?:opened|used now)/);
    join_channel('chat', 'kept', 'zoe', 'yan');
    post_as('zoe', 'chat', 'kept', 'old');
    $db->keep($name);
    $is_there->();
    post_as('zoe', 'chat', 'kept', 'forgotten');
    my $page = open_inbox('yan', 'chat');
    is(history($page), '[1:zoe:old][2:zoe:forgotten]', 'a page that has seen what the backup does not hold');
    $db->restore($name);
    $is_there->();
    post_as('zoe', 'chat', 'kept', "new$_") for 1 .. 2;
    my $answer = $page->poll;
    is(shown($answer), '[1:zoe:old][2:zoe:new1][3:zoe:new2]', '... gets a first view');
    like(VaultTest::Page::text($answer), qr/<turbo-stream action="update" target="inbox">/, '... in place of what it shows');
    post_as('zoe', 'chat', 'kept', 'on');
    is(shown($page->poll), '[4:zoe:on]', '... and goes on from there');
    return;
}

sub test_lists
{
    join_channel('chat', 'list', 'ann');
    site_file('/feed/members.html', '{{#rows}}[{{user}}{{#own}}!{{/own}}]{{/rows}}');
    site_file('/feed/members-new.shtml', '<!--#feed name="chat" method="get_subscribers" user="ann" channel="list" template="members.html" update="who" -->');
    my $page = open_page(live_shtml('/feed/members.shtml', '/feed/members-new.shtml', '<p><!--#include virtual="/feed/members-new.shtml" --></p>'));
    is(history($page), '[ann!]', 'a list of subscribers');

    # As when the tailer announces a change that the page has read.
    my $poll = $page->start_poll;
    wait_waiting(1);
    my $before = status();
    post('/vault/notify', 'interest=messages-channel-list');
    wait_counter(Runs => $before, 1);
    wait_waiting(1);
    ok($poll->is_silent, '... is not shown again when it is the same');

    must('bob', 'chat', 'subscribe', {channel => 'list'});
    is(shown($page->finish_poll($poll)), '[ann!][bob]', '... is shown anew when a user subscribes');
    must('ann', 'chat', 'unsubscribe', {channel => 'list'});
    is(VaultTest::Page::text($page->poll), '<turbo-stream action="update" target="who"><template></template></turbo-stream>', '... and is empty for who leaves');
    return;
}

for_each_database(
    sub {
        my ($db) = @_;
        messages_server('pages', $db, {
            chat => 'anonymous=yes rate=10000',
            few => 'anonymous=yes rate=10000 rows=5',
            short => 'anonymous=yes rate=10000 keep=3',
        });
        test_live();
        test_newcomer();
        test_parts();
        test_too_late();
        test_lists();
        test_restored($db);
    }
);
finish();
