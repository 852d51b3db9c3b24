# SPDX-License-Identifier: Apache-2.0
# A channel belongs to the user who makes it: its owner deletes it, with its subscriptions and messages. A user owns so many channels
# and no more, also when calls meet, and an idle channel without subscribers and messages goes when another one is made.
use strict;
use warnings;
use VaultTest;
use VaultTest::Messages;
use VaultTest::Site;

use constant {HOUR => 3_600_000_000, LOOKED_AT => 32};    # microseconds; how many idle channels the feed looks at in one call

my $db;

sub in_database { my ($feed, $sql) = @_; return $db->does("messages_owners_$feed", $sql) }
sub rows_in { my ($table) = @_; return (in_database('chat', "SELECT COUNT(*) FROM vault_message_$table"))[0] }
sub channels_of { my ($feed) = @_; return map { $_->{channel} } @{must('ann', $feed, 'get_channels')} }
sub create { my ($user, $feed, $channel) = @_; return must($user, $feed, 'create_channel', {channel => $channel})->[0]{changed} ? 1 : 0 }
sub delete_it { my ($user, $feed, $channel) = @_; return must($user, $feed, 'delete_channel', {channel => $channel})->[0]{changed} ? 1 : 0 }
sub age { my ($feed, $channel, $hours) = @_; return in_database($feed, "UPDATE vault_message_channels SET used=used-" . $hours * HOUR . " WHERE name='$channel'") }

sub test_deleting
{
    join_channel('chat', 'lobby', 'ann', 'bob');
    join_channel('chat', 'kitchen', 'bob', 'ann');
    my $id = post_as('bob', 'chat', 'lobby', 'gone soon');
    post_as('bob', 'chat', 'kitchen', 'stays');
    is_deeply([map { [$_->{channel}, $_->{own} ? 1 : 0] } @{must('ann', 'chat', 'get_channels')}], [['kitchen', 0], ['lobby', 1]], 'the list says what is the reader\'s own');
    refused('bob', 'chat', 'delete_channel', {channel => 'lobby'}, qr/^channel "lobby" belongs to another user$/, 'a subscriber who is not the owner');
    refused('eve', 'chat', 'delete_channel', {channel => 'lobby'}, qr/^channel "lobby" belongs to another user$/, '... a user who is not there');
    refused('ann', 'chat', 'delete_channel', {}, qr/^argument "channel" is missing/, '... no channel');
    is(create('bob', 'chat', 'lobby'), 0, 'who asks for a channel that is there');
    refused('bob', 'chat', 'delete_channel', {channel => 'lobby'}, qr/belongs to another user/, '... does not own it');
    is_deeply([messages_of('ann', 'chat')], ['gone soon', 'stays'], 'nothing has happened until then');

    is(delete_it('ann', 'chat', 'lobby'), 1, 'the owner deletes it');
    is(delete_it('ann', 'chat', 'lobby'), 0, '... once');
    is(delete_it('bob', 'chat', 'never'), 0, 'a channel that never was');
    is_deeply([messages_of($_, 'chat')], ['stays'], "$_ has no message of it") for qw(ann bob);
    is_deeply([messages_of('bob', 'chat', limit => 1)], ['stays'], '... nor is one counted');
    is_deeply([channels_of('chat')], ['kitchen'], '... it is not in the list');
    is(rows_in('texts'), 1, '... and no text is kept');
    is(rows_in('subscriptions'), 2, '... nor a subscription');
    refused('bob', 'chat', $_, {channel => 'lobby', $_ eq 'post_message' ? (text => 'x') : ()}, qr/^there is no channel "lobby"$/, "$_ finds none") for qw(post_message subscribe unsubscribe);

    is(create('bob', 'chat', 'lobby'), 1, 'another user makes one of that name');
    refused('ann', 'chat', 'delete_channel', {channel => 'lobby'}, qr/belongs to another user/, '... which the former owner does not own');
    must('ann', 'chat', 'subscribe', {channel => 'lobby', history => 10});
    is_deeply([messages_of('ann', 'chat')], ['stays'], '... and which has no history');
    isnt(post_as('ann', 'chat', 'lobby', 'new'), $id, '... and ids of its own') if must('ann', 'chat', 'subscribe', {channel => 'lobby'});
    is_deeply([messages_of('ann', 'chat')], ['stays', 'new'], '... and goes on as any');

    in_database('chat', "UPDATE vault_message_channels SET owner_id=NULL,used=NULL WHERE name='lobby'");
    refused($_, 'chat', 'delete_channel', {channel => 'lobby'}, qr/^channel "lobby" has no owner: only the administrator may delete it \(parameter admin\)$/, "$_: no owner") for qw(ann bob root);
    is_deeply([messages_of('bob', 'chat')], ['stays'], 'what was refused has done nothing');
    return;
}

# A user whose only channel goes, and who comes back to others.
sub test_only_channel
{
    join_channel('chat', 'only', 'one', 'two');
    post_as('one', 'chat', 'only', "t$_") for 1 .. 3;
    delete_it('one', 'chat', 'only');
    is_deeply([messages_of($_, 'chat')], [], "$_ has nothing left") for qw(one two);
    join_channel('chat', 'next', 'two', 'one');
    post_as('one', 'chat', 'next', 'again');
    is_deeply([messages_of($_, 'chat')], ['again'], '... and gets what comes then') for qw(one two);
    return;
}

sub test_limit_of_a_user
{
    is(create('ann', 'tight', $_), 1, "ann makes $_") for qw(a1 a2);
    refused('ann', 'tight', 'create_channel', {channel => 'a3'}, qr/^"ann" owns 2 channels already: no more are accepted$/, 'one more than a user may own');
    is(create('ann', 'tight', 'a2'), 0, '... is not counted where it is there');
    is(create('bob', 'tight', 'b1'), 1, 'another user may');
    is(create('cid', 'tight', 'c1'), 1, '... and another one');
    refused('cid', 'tight', 'create_channel', {channel => 'c2'}, qr/^there are 4 channels already: no more are accepted$/, 'the limit in all');
    is(delete_it('ann', 'tight', 'a1'), 1, 'an owner who deletes');
    is(create('ann', 'tight', 'a3'), 1, '... may make another one');
    refused('ann', 'tight', 'create_channel', {channel => 'a4'}, qr/^"ann" owns 2 channels already/, '... and no more');
    delete_it('ann', 'tight', $_) for qw(a2 a3);
    delete_it('bob', 'tight', 'b1');
    return;
}

# Calls of one user, in several children: each counts what the others have made.
sub test_limit_when_calls_meet
{
    my @calls = map { connect_to() } 1 .. 12;
    $calls[$_]->request(GET => "/closed/call?feed=many&method=create_channel&args=%7B%22user%22%3A%22ann%22%2C%22channel%22%3A%22m$_%22%7D") for 0 .. $#calls;
    my @answers = map { $_->response->{body} } @calls;
    is(scalar(grep { /"changed":true/ } @answers), 5, 'of twelve calls at once five make a channel') or diag(@answers);
    is(scalar(grep { /owns 5 channels already/ } @answers), 7, '... and the others are told why');
    return if !$db->is_server;

    delete_it('ann', 'many', (channels_of('many'))[0]);
    my $holder = $db->session('messages_owners_many');
    $holder->does($_) for 'BEGIN', "SELECT serial FROM vault_message_users WHERE name='ann' FOR UPDATE";
    my @two;
    for my $child ((children(2))[0, 1]) {
        push @two, connect_in($child);    # which is used at once: a busy child closes connections that idle
        $two[-1]->request(GET => "/closed/call?feed=many&method=create_channel&args=%7B%22user%22%3A%22ann%22%2C%22channel%22%3A%22two$#two%22%7D");
    }
    wait_until(sub { transactions_waiting('many') == 2 }, 'both calls wait for the row of their user');
    $holder->does('COMMIT');
    is(join(' ', sort map { $_->response->{body} =~ /"changed":true/ ? 'made' : 'refused' } @two), 'made refused', 'of two calls that meet one makes the last channel');
    return;
}

sub transactions_waiting
{
    my ($feed) = @_;
    my %waiting = (
        pgsql => "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type='Lock' AND datname=current_database()",
        # MariaDB shows innodb_trx as it was for as long as it is read more often than every 100 ms.
        mysql => "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME='INNODB_ROW_LOCK_CURRENT_WAITS'",
    );
    return (in_database($feed, $waiting{$db->driver}))[0];
}

# `idle` is an hour here.
sub test_idle
{
    create('ann', 'idle', $_) for qw(young idle full written left free asked);
    must('bob', 'idle', 'subscribe', {channel => $_}) for qw(full written left);
    post_as('bob', 'idle', 'written', 'x');
    age('idle', $_, 2) for qw(idle full written left);
    age('idle', 'young', 0.9);
    age('idle', 'asked', 0.9);
    in_database('idle', "UPDATE vault_message_channels SET created=0,owner_id=NULL,used=NULL WHERE name='free'");
    must('bob', 'idle', 'unsubscribe', {channel => $_}) for qw(written left);
    age('idle', 'written', 2);
    create('bob', 'idle', 'asked');
    age('idle', 'asked', 0.9);

    my @all = channels_of('idle');
    is(create('bob', 'idle', 'young'), 0, 'who asks for a channel that is there');
    is_deeply([channels_of('idle')], \@all, '... removes none');
    is(create('bob', 'idle', 'bobs'), 1, 'who makes one');
    is_deeply([channels_of('idle')], [grep { $_ ne 'idle' } sort @all, 'bobs'], '... removes what is idle and empty: not what is young, has a subscriber or a message, was left or asked for lately, or has no owner');
    is(create('bob', 'idle', 'bobs2'), 1, 'one more');
    is(scalar(channels_of('idle')), @all + 1, '... and nothing more has gone');
    return;
}

# What is idle makes room, for its owner and for all; also behind many that are in use, and though the call itself is refused.
sub test_idle_makes_room
{
    delete_it('cid', 'tight', 'c1');
    create('ann', 'tight', $_) for qw(i1 i2);
    age('tight', 'i1', 2);
    is(create('ann', 'tight', 'i3'), 1, 'an idle channel does not count for its owner');
    create('cid', 'tight', $_) for qw(i4 i5);
    age('tight', 'i4', 2);
    is(create('bob', 'tight', 'i6'), 1, '... nor for all');

    my $old = LOOKED_AT;
    create('ann', 'full', "used$_") for 1 .. $old;
    must('bob', 'full', 'subscribe', {channel => "used$_"}) for 1 .. $old;
    create('bob', 'full', 'empty');
    in_database('full', 'UPDATE vault_message_channels SET used=used-' . 3 * HOUR . " WHERE name<>'empty'");
    age('full', 'empty', 2);
    refused('cid', 'full', 'create_channel', {channel => 'new'}, qr/^there are @{[$old + 1]} channels already/, 'a call that finds as many in use as it looks at');
    is(create('cid', 'full', 'new'), 1, '... lets the next one find what is idle');
    is((in_database('full', "SELECT COUNT(*) FROM vault_message_channels WHERE name='empty'"))[0], 0, '... which has gone');
    return;
}

# A user subscribes while the channel is about to be removed.
sub test_subscribed_meanwhile
{
    return if !$db->is_server;
    create('ann', 'idle', 'wanted');
    age('idle', 'wanted', 2);
    my $holder = $db->session('messages_owners_idle');
    $holder->does($_) for 'BEGIN', "SELECT id FROM vault_message_channels WHERE name='wanted' FOR UPDATE",
        "INSERT INTO vault_message_subscriptions(channel_id,user_id) SELECT c.id,u.id FROM vault_message_channels AS c,vault_message_users AS u WHERE c.name='wanted' AND u.name='bob'";
    my $call = connect_to();
    $call->request(GET => '/closed/call?feed=idle&method=create_channel&args=%7B%22user%22%3A%22cid%22%2C%22channel%22%3A%22other%22%7D');
    wait_until(sub { transactions_waiting('idle') == 1 }, 'the call waits for the channel that it found idle');
    $holder->does('COMMIT');
    like($call->response->{body}, qr/"changed":true/, 'the call goes on');
    is_deeply([grep { $_->{channel} eq 'wanted' } @{must('bob', 'idle', 'get_channels')}],
        [{channel => 'wanted', subscribers => 1, subscribed => JSON::PP::true(), own => JSON::PP::false()}], 'and the channel has its subscriber');
    return;
}

# The first calls of a user come at once, as from the tabs of a browser.
sub test_new_users
{
    my @calls = map { connect_to() } 1 .. 8;
    my @wrong;
    for my $user (map { "new$_" } 1 .. 10) {
        $_->request(GET => "/closed/call?feed=chat&method=create_user&args=%7B%22user%22%3A%22$user%22%7D") for @calls;
        push @wrong, grep { !/"user":"$user"/ } map { $_->response->{body} } @calls;
    }
    is("@wrong", '', 'calls of a new user that come at once all go well');
    return;
}

# In MariaDB's index of names the place of a channel that was deleted lately lies beside that of another one: who makes the one anew may
# wait for who has locked the other, and must not hold what that one wants next, the row of a subscriber.
sub test_neighbours
{
    return if $db->driver ne 'mysql';
    join_channel('many', 'lobby', 'eve', 'bob');
    my ($keeper, $poster) = map { $db->session('messages_owners_many') } 1, 2;
    $keeper->does('START TRANSACTION WITH CONSISTENT SNAPSHOT');    # nothing is purged
    create('bob', 'many', 'lobbx');
    delete_it('bob', 'many', 'lobbx');
    $poster->does($_) for 'BEGIN', "SELECT id FROM vault_message_channels WHERE name='lobby' FOR UPDATE";
    my $call = connect_to();
    $call->request(GET => '/closed/call?feed=many&method=create_channel&args=%7B%22user%22%3A%22bob%22%2C%22channel%22%3A%22lobbx%22%7D');
    wait_until(sub { transactions_waiting('many') == 1 }, 'a channel is made beside one that is locked');
    $poster->does($_) for "SELECT id FROM vault_message_users WHERE name='bob' FOR UPDATE", 'COMMIT';
    like($call->response->{body}, qr/"changed":true/, '... and neither ends the other');
    return;
}

# Who makes and deletes channels, or leaves and joins one, without end, would have each page that lists channels look again and again.
sub test_rate
{
    join_channel('seldom', 'lobby', 'ann', 'bob', 'cid');
    # A minute of the clock may end in between.
    my @answers = map { (as('bob', 'seldom', 'unsubscribe', {channel => 'lobby'}), as('bob', 'seldom', 'subscribe', {channel => 'lobby'})) } 1 .. 9;
    my @errors = grep { $_->{error} } @answers;
    cmp_ok(scalar(@errors), '>=', 1, 'who leaves and joins more often than the rate is refused');
    like($_->{error}, qr/^"bob" has posted messages, or made or left channels, 4 times in this minute: no more are accepted$/, '... with a sentence') for @errors;
    cmp_ok(scalar(grep { $_->{rows} && $_->{rows}[0]{changed} } @answers), '<=', 16, '... and changes nothing any more');
    is(scalar(@{must('cid', 'seldom', 'get_subscribers', {channel => 'lobby'})}), 3, '... and stays subscribed');
    @errors = grep { $_->{error} } map { (as('cid', 'seldom', 'create_channel', {channel => 'c'}), as('cid', 'seldom', 'delete_channel', {channel => 'c'})) } 1 .. 9;
    cmp_ok(scalar(@errors), '>=', 1, 'who makes channels more often than the rate is refused');
    is($_->{error}, '"cid" has posted messages, or made or left channels, 4 times in this minute: no more are accepted', '... too') for @errors;
    is(scalar(@{must('cid', 'seldom', 'get_channels')}), 1, '... and has made none');
    return;
}

# A user who has reached the rate is refused before anything is done: also while a subscriber is locked, whom a message would have to wait for.
sub test_refused_at_once
{
    return if !$db->is_server;
    my $holder = $db->session('messages_owners_seldom');
    my $told;
    do {
        my $minute = int(time / 60);
        in_database('seldom', "UPDATE vault_message_users SET rate_minute=$minute,rate_posts=4 WHERE name='cid'");
        $holder->does($_) for 'BEGIN', "SELECT serial FROM vault_message_users WHERE name='ann' FOR UPDATE";
        my $call = connect_to();
        $call->request(GET => '/closed/call?feed=seldom&method=post_message&args=%7B%22user%22%3A%22cid%22%2C%22channel%22%3A%22lobby%22%2C%22text%22%3A%22x%22%7D');
        wait_until(sub { !$call->is_silent || transactions_waiting('seldom') }, 'the call is answered, or waits');
        my $waits = $call->is_silent;
        $holder->does('COMMIT');
        my $answer = $call->response->{body};
        $told = $waits ? 'it waits' : $answer if int(time / 60) == $minute;    # else the count may have begun anew meanwhile
    } until $told;
    like($told, qr/4 times in this minute/, 'who has reached the rate waits for no subscriber');
    return;
}

# The connection of a call that was refused is used again.
sub test_refused_cheaply
{
    return if $db->driver ne 'mysql';
    my $connections = sub { return ((in_database('seldom', "SHOW GLOBAL STATUS LIKE 'Connections'"))[0] =~ /(\d+)$/)[0] };
    my $before = $connections->();
    my $refused = grep { ($_->{error} // '') =~ /times in this minute/ } map { as('cid', 'seldom', 'post_message', {channel => 'lobby', text => 'x'}) } 1 .. 30;
    my $made = $connections->() - $before;
    cmp_ok($refused, '>=', 20, 'posts of a user who has reached the rate');
    cmp_ok($made, '<', 15, "... make no connection each: $made in all");
    return;
}

for_each_database(
    sub {
        ($db) = @_;
        messages_server('owners', $db, {
            chat => 'anonymous=yes rate=10000 admin=root',
            tight => 'anonymous=yes owner_channels=2 channels=4 idle=1',
            many => 'anonymous=yes owner_channels=5',
            idle => 'anonymous=yes idle=1',
            seldom => 'anonymous=yes rate=4',
            full => 'anonymous=yes idle=1 owner_channels=100 channels=' . (LOOKED_AT + 1),
        });
        test_deleting();
        test_only_channel();
        test_limit_of_a_user();
        test_limit_when_calls_meet();
        test_new_users();
        test_neighbours();
        test_rate();
        test_refused_at_once();
        test_refused_cheaply();
        test_idle();
        test_idle_makes_room();
        test_subscribed_meanwhile();
    }
);
finish();
