# SPDX-License-Identifier: Apache-2.0
# The methods of the messages feed, called outside of pages: who gets what, and what is refused with which sentence.
use strict;
use warnings;
use utf8;
use VaultTest;
use VaultTest::Messages;
use VaultTest::Site;

binmode $_, ':encoding(UTF-8)' for map { Test::More->builder->$_ } qw(output failure_output todo_output);

sub test_posting
{
    my $made = must('ann', 'chat', 'create_channel', {channel => 'lobby'});
    is_deeply($made, [{channel => 'lobby', changed => JSON::PP::true()}], 'a channel is made');
    $made = must('bob', 'chat', 'create_channel', {channel => 'lobby'});
    ok(!$made->[0]{changed}, '... once, whichever user makes it');
    ok(must('amy', 'chat', 'create_user')->[0]{changed}, 'a user is made');
    ok(!must($_, 'chat', 'create_user')->[0]{changed}, "$_: ... once, also by making a channel") for qw(amy ann);
    ok(must('ann', 'chat', 'subscribe', {channel => 'lobby'})->[0]{changed}, 'a user subscribes');
    ok(!must('ann', 'chat', 'subscribe', {channel => 'lobby'})->[0]{changed}, '... once');
    ok(must('bob', 'chat', 'subscribe', {channel => 'lobby'})->[0]{changed}, 'who was not made before is made by that');
    join_channel('chat', 'kitchen', 'bob');

    my $id = post_as('ann', 'chat', 'lobby', 'hello');
    like($id, qr/^\d+-1$/, 'a message has an id');
    post_as('bob', 'chat', 'kitchen', 'tea?');
    post_as('bob', 'chat', 'lobby', 'hi');
    is_deeply([messages_of('ann', 'chat')], ['hello', 'hi'], 'a subscriber gets what was posted');
    is_deeply([messages_of('bob', 'chat')], ['hello', 'tea?', 'hi'], '... of all channels, in the order of the posts');
    is_deeply([messages_of('bob', 'chat', channel => 'lobby')], ['hello', 'hi'], '... or of one');
    is_deeply([messages_of('bob', 'chat', channel => 'nowhere')], [], '... or of none');
    is_deeply([messages_of('bob', 'chat', limit => 2)], ['tea?', 'hi'], 'the newest, when the first view is limited');
    is_deeply([messages_of('nobody', 'chat')], [], 'a user who is not there has no messages');

    my ($first, $second) = @{must('ann', 'chat', 'get_new_messages')};
    like(delete $first->{time}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'each has a time');
    is_deeply($first, {id => $id, serial => 1, channel => 'lobby', sender => 'ann', text => 'hello', own => JSON::PP::true()},
        '... and says whose it is');
    ok(!$second->{own}, '... and whether it is the reader\'s own');
    is(must('bob', 'chat', 'get_new_messages')->[0]{id}, $id, 'the id is the same for all');

    ok(must('bob', 'chat', 'unsubscribe', {channel => 'lobby'})->[0]{changed}, 'a user leaves');
    ok(!must('bob', 'chat', 'unsubscribe', {channel => 'lobby'})->[0]{changed}, '... once');
    post_as('ann', 'chat', 'lobby', 'gone?');
    is_deeply([messages_of('bob', 'chat')], ['hello', 'tea?', 'hi'], '... and keeps what came before, and gets nothing more');
    refused('bob', 'chat', 'post_message', {channel => 'lobby', text => 'x'}, qr/^"bob" is not subscribed to channel "lobby"$/, 'and cannot post');
    must('bob', 'chat', 'subscribe', {channel => 'lobby', history => 10});
    is_deeply([messages_of('bob', 'chat')], ['hello', 'tea?', 'hi', 'gone?'], 'who comes back with history gets what was missed, and that only');
    must('cid', 'chat', 'subscribe', {channel => 'lobby', history => 2});
    is_deeply([messages_of('cid', 'chat')], ['hi', 'gone?'], 'who comes with history gets the newest');
    must('dan', 'chat', 'subscribe', {channel => 'lobby'});
    is_deeply([messages_of('dan', 'chat')], [], 'who comes without gets none');
    return;
}

sub test_once
{
    join_channel('chat', 'once', 'ann', 'bob');
    my $say = sub { must($_[0], 'chat', 'post_message', {channel => 'once', text => $_[2], once => $_[1]})->[0] };
    my $first = $say->('ann', 'a1', 'first');
    my $again = $say->('ann', 'a1', 'first, again');
    is($again->{id}, $first->{id}, 'a post that is repeated is not posted again');
    ok(!$again->{changed} && $first->{changed}, '... and says so');
    isnt($say->('bob', 'a1', 'of bob')->{id}, $first->{id}, 'another user may say the same');
    isnt($say->('ann', 'a2', 'second')->{id}, $first->{id}, 'another post is another');
    is_deeply([messages_of('bob', 'chat', channel => 'once')], ['first', 'of bob', 'second'], 'each was delivered once');
    return;
}

sub test_lists
{
    my $channels = must('bob', 'chat', 'get_channels');
    is_deeply([map { $_->{channel} } @$channels], [qw(kitchen lobby once)], 'the channels');
    is_deeply([map { $_->{subscribers} } @$channels], [1, 4, 2], '... how many are subscribed');
    is_deeply([map { $_->{subscribed} ? 1 : 0 } @{must('ann', 'chat', 'get_channels')}], [0, 1, 1], '... and whether the reader is');
    my $users = must('ann', 'chat', 'get_subscribers', {channel => 'lobby'});
    is_deeply([map { $_->{user} } @$users], [qw(ann bob cid dan)], 'the subscribers of a channel');
    is_deeply([map { $_->{own} ? 1 : 0 } @$users], [1, 0, 0, 0], '... and which the reader is');
    is_deeply(must('ann', 'chat', 'get_subscribers', {channel => 'kitchen'}), [], 'are not for those who are not');
    return;
}

# Names and texts are data, whatever is in them.
sub test_hostile
{
    my @hostile = ("'; DROP TABLE vault_message_users; --", '" OR ""="', "\\' OR 1=1 -- ", '%s%d{u.id}', 'a select (b', '{{text}}<b>', "Ünï ©ode 日本 🎉",
        "x'41'", '${user}', '--', '/*', 'a,b;c', '1; SELECT 1', "\$\$", "_utf8mb4'x'", 'Ann', 'null');
    for my $name (@hostile) {
        (my $trimmed = $name) =~ s/^ +| +$//g;
        must($trimmed, 'chat', 'create_channel', {channel => $trimmed});
        must($trimmed, 'chat', 'subscribe', {channel => $trimmed});
        must($trimmed, 'chat', 'post_message', {channel => $trimmed, text => "$name\n\t'", once => $trimmed});
        my $rows = must($trimmed, 'chat', 'get_new_messages', {channel => $trimmed});
        is_deeply([map { [@$_{qw(channel sender text)}] } @$rows], [[$trimmed, $trimmed, "$name\n\t'"]], "as it was given: $name");
    }
    is_deeply([messages_of('Ann', 'chat')], ["Ann\n\t'"], 'upper and lower case are two users');
    must($_, 'chat', 'create_user') for 'é', 'e', "e\x{301}";
    join_channel('chat', 'é', 'é');
    refused('e', 'chat', 'post_message', {channel => 'é', text => 'x'}, qr/not subscribed/, 'and so are letters with and without an accent');

    for my $argument (qw(user channel)) {
        my $call = sub { my ($value, $sentence, $why) = @_; refused(undef, 'chat', 'subscribe', {user => 'ann', channel => 'lobby', $argument => $value}, qr/^argument "$argument" $sentence/, $why) };
        $call->('', 'takes a name of 1 to 180 bytes', "an empty $argument");
        $call->('x' x 181, 'takes a name of 1 to 180 bytes', "a long $argument");
        $call->('日' x 61, 'takes a name of 1 to 180 bytes', '... bytes, not characters');
        $call->("a\0b", 'has a NUL', 'NUL');
        $call->("a$_->[0]b", 'has an invisible character', $_->[1])
            for ["\n", 'a new line'], ["\x7f", 'DEL'], ["\x{85}", 'a control character beyond ASCII'], ["\x{202e}", 'right to left'],
            ["\x{200b}", 'no width'], ["\x{feff}", 'a byte order mark'], ["\x{e0041}", 'a tag'], ["\x{a0}", 'a blank that is none'],
            ["\x{2003}", 'a wide one'], ["\x{3000}", 'a wider one'], ["\x{205f}", 'one of formulas'], ["\x{2800}", 'no dots of Braille'], ["\x{34f}", 'a joiner'];
        $call->(' a', 'begins or ends with a blank', 'a blank before');
        $call->('a ', 'begins or ends with a blank', 'a blank behind');
        $call->($_, 'takes a name', 'no text') for 7, ['a'], {a => 1}, undef;
    }
    must('x' x 180, 'chat', 'create_channel', {channel => '日' x 60});

    my $text = sub { my ($value, $sentence, $why) = @_; refused('ann', 'chat', 'post_message', {channel => 'lobby', text => $value}, $sentence, $why) };
    $text->($_, qr/^argument "text" is missing/, 'nothing said') for '', ' ', "\r\n\t ";
    $text->('x' x 101, qr/^argument "text" has 101 bytes; a message has at most 100$/, 'a long text');
    $text->('é' x 51, qr/has 102 bytes/, '... in bytes');
    $text->("a\0b", qr/has a NUL/, 'NUL');
    $text->("a\x1bb", qr/has a control character/, 'a control character');
    $text->(7, qr/takes a text/, 'a number');
    post_as('ann', 'chat', 'lobby', 'é' x 50);
    refused('ann', 'chat', 'post_message', {channel => 'lobby'}, qr/"text" is missing/, 'no text');
    refused('ann', 'chat', 'post_message', {text => 'x'}, qr/^argument "channel" is missing: the name of a channel/, 'no channel');
    refused('ann', 'chat', 'post_message', {channel => 'lobby', text => 'x', serial => 1}, qr/^argument "serial" is unknown; there are user, channel, text, once$/, 'an unknown argument');
    refused('ann', 'chat', 'post_message', {channel => 'elsewhere', text => 'x'}, qr/^there is no channel "elsewhere"$/, 'an unknown channel');
    refused('ann', 'chat', 'subscribe', {channel => 'elsewhere'}, qr/^there is no channel/, '... to subscribe to');
    refused('ann', 'chat', 'get_new_messages', {limit => $_}, qr/^argument "limit" takes a whole number from 1 to 500/, "limit $_") for 0, -1, 501, '1x', '1e2';
    refused('ann', 'chat', 'subscribe', {channel => 'lobby', history => 'all'}, qr/^argument "history" takes/, 'history');
    refused(undef, 'chat', 'get_new_messages', {}, qr/^argument "user" is missing/, 'no user');
    refused('ann', 'closed', 'get_new_messages', {}, qr/^this is for users who have logged in \(parameter anonymous\)$/, 'a feed that is not for anonymous use');
    return;
}

sub test_limits
{
    join_channel('strict', 'one', 'ann', 'bob');
    join_channel('strict', 'two', 'ann');
    refused('ann', 'strict', 'create_channel', {channel => 'four'}, qr/^there are 3 channels already: no more are accepted$/, 'too many channels')
        if must('bob', 'strict', 'create_channel', {channel => 'three'});
    refused('ann', 'strict', 'subscribe', {channel => 'three'}, qr/^"ann" is subscribed to 2 channels already/, 'too many channels of a user');
    refused('cid', 'strict', 'subscribe', {channel => 'one'}, qr/^channel "one" has 2 subscribers already/, 'too many subscribers');
    is_deeply(must('ann', 'strict', 'get_subscribers', {channel => 'one'}), [map { {user => $_, own => $_ eq 'ann' ? JSON::PP::true() : JSON::PP::false()} } qw(ann bob)],
        'who was refused is not there');
    must('cid', 'strict', 'create_user');
    refused('dan', 'strict', 'create_user', {}, qr/^there are 3 users already/, 'too many users');
    refused('dan', 'strict', 'subscribe', {channel => 'three'}, qr/^there are 3 users already/, '... also by subscribing');

    # A minute of the clock may end in between.
    my @answers = map { as('ann', 'strict', 'post_message', {channel => 'two', text => "t$_"}) } 1 .. 9;
    my @errors = grep { $_ } map { $_->{error} } @answers;
    cmp_ok(scalar(@errors), '>=', 1, 'more posts than the rate are refused');
    like($_, qr/^"ann" has posted messages, or made or left channels, 4 times in this minute: no more are accepted$/, '... with a sentence') for @errors;
    my @posted = messages_of('ann', 'strict');
    is_deeply(\@posted, [map { "t$_" } grep { !$answers[$_ - 1]{error} } 1 .. 9], 'what was refused was not delivered');
    return;
}

sub test_keep
{
    join_channel('short', 'a', 'ann', 'bob');
    join_channel('short', 'b', 'ann');
    must('ann', 'short', 'create_channel', {channel => 'empty'});
    post_as('ann', 'short', 'a', "a$_") for 1 .. 100;
    is_deeply([messages_of('bob', 'short')], ['a98', 'a99', 'a100'], 'only the newest are kept for a channel');
    post_as('ann', 'short', 'b', "b$_") for 1 .. 2;
    is_deeply([messages_of('ann', 'short')], ['a98', 'a99', 'a100', 'b1', 'b2'], '... each');
    post_as('ann', 'short', 'b', "b$_") for 3 .. 100;
    is_deeply([messages_of('ann', 'short')], ['b98', 'b99', 'b100'], '... and for a user');
    is_deeply([messages_of('bob', 'short')], ['a98', 'a99', 'a100'], 'the others keep theirs');
    must('cid', 'short', 'subscribe', {channel => 'a', history => 50});
    is_deeply([messages_of('cid', 'short')], ['a98', 'a99', 'a100'], 'history is what is kept');
    return;
}

for_each_database(
    sub {
        my ($db) = @_;
        messages_server('calls', $db, {
            chat => 'anonymous=yes message_bytes=100 rate=10000 rows=500',
            closed => '',
            strict => 'anonymous=yes rate=4 users=3 channels=3 user_channels=2 subscribers=2',
            short => 'anonymous=yes keep=3 rate=10000',
        });
        test_posting();
        test_once();
        test_lists();
        test_hostile();
        test_limits();
        test_keep();
    }
);
finish();
