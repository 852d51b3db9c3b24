# SPDX-License-Identifier: Apache-2.0
# Two posters in two children, whose transactions meet at the users that both their channels have; pages that poll all the while, and
# some of their answers lost: each page shows each message once, in the order of its user's serials, which have no gap.
use strict;
use warnings;
use feature 'current_sub';
use VaultTest;
use VaultTest::Messages;
use VaultTest::Site;

use constant POSTS => 60;    # of each poster

my @readers = qw(ann bob cid);
my %channels = (left => [qw(ann bob)], right => [qw(bob cid)], both => [qw(ann bob cid)]);

sub post_path
{
    my ($user, $channel, $text) = @_;
    return "/closed/call?feed=chat&method=post_message&args=%7B%22user%22%3A%22$user%22%2C%22channel%22%3A%22$channel%22%2C%22text%22%3A%22$text%22%2C%22once%22%3A%22$text%22%7D";
}

sub open_inbox
{
    my ($user) = @_;
    my $tag = qq(<!--#feed name="chat" method="get_new_messages" user="$user" template="race-message.html" append="inbox" -->);
    site_file('/feed/race-message.html', '{{#rows}}[{{serial}}:{{channel}}:{{text}}]{{/rows}}');
    live_tag("/feed/race-$user", $tag);
    return open_page("/feed/race-$user.shtml");
}

sub race
{
    join_channel('chat', $_, @{$channels{$_}}) for sort keys %channels;
    my @children = (children(2))[0, 1];
    my @posters = map { connect_in($_) } @children;
    my @of = (['ann', 'left', 'both'], ['cid', 'right', 'both']);
    my @pages = map { open_inbox($_) } @readers;
    my @polls = map { $_->start_poll } @pages;
    my @shown = ('') x @pages;
    my @answers = (0) x @pages;
    my $lost = 0;

    # The first answer to each page is lost, and some of the later ones, however few there are.
    my $next = sub {
        my ($i) = @_;
        my $lose = $answers[$i]++ % (5 + $i) == 0;
        my $answer = $lose ? $pages[$i]->read_poll($polls[$i]) : $pages[$i]->finish_poll($polls[$i]);
        $lost++ if $lose && $answer->{status} == 200;
        $shown[$i] .= VaultTest::Page::text($answer) unless $lose;
        $polls[$i]->close;
        $polls[$i] = $pages[$i]->start_poll;
    };
    # httpd ends idle connections when it is busy: then the client does not know whether it was posted, so it sends it again.
    my $finish = sub {
        my ($p, $path) = @_;
        my $answer = eval { $posters[$p]->response };
        return like($answer->{body}, qr/"id":"\d+-\d+"/, 'posted') if $answer && $answer->{body} !~ /"id":"\d+-\d+"/;
        return if $answer;
        die $@ if $@ !~ /ended before an answer: ""/;
        $posters[$p] = connect_in($children[$p]);
        $posters[$p]->request(GET => $path);
        return __SUB__->($p, $path);
    };
    for my $n (1 .. POSTS) {
        my @paths = map { post_path($of[$_][0], $of[$_][1 + $n % 2], "$of[$_][0]$n") } 0, 1;
        $posters[$_]->request(GET => $paths[$_]) for 0, 1;
        $finish->($_, $paths[$_]) for 0, 1;
        for my $i (0 .. $#pages) {
            $next->($i) unless $polls[$i]->is_silent;
        }
    }
    for my $i (0 .. $#pages) {
        my @rows = @{must($readers[$i], 'chat', 'get_new_messages')};
        is_deeply([map { $_->{serial} } @rows], [1 .. @rows], "$readers[$i]: serials without a gap");
        $next->($i) while (() = $shown[$i] =~ /\[/g) < @rows;
        is_deeply([$shown[$i] =~ /\[(.*?)\]/g], [map { "$_->{serial}:$_->{channel}:$_->{text}" } @rows], "$readers[$i]: each message once, in order");
        my %expected = map { $_ => 1 } map { my $p = $_; map { "$of[$p][0]$_" } grep { my $channel = $of[$p][1 + $_ % 2]; grep { $_ eq $readers[$i] } @{$channels{$channel}} } 1 .. POSTS } 0, 1;
        is_deeply([sort map { $_->{text} } @rows], [sort keys %expected], "$readers[$i]: all that was posted for them");
    }
    cmp_ok($lost, '>', 0, "answers were lost on the way: $lost");
    wait_waiting(scalar @pages);
    ok($polls[$_]->is_silent, "$readers[$_] has nothing more to see") for 0 .. $#pages;
    $_->close for @polls;
    wait_waiting(0);
    return;
}

# The tables are made by whichever child comes first, once.
sub begin_together
{
    my @connections = map { connect_to() } 1 .. 12;
    for my $i (0 .. $#connections) {
        $connections[$i]->request(GET => "/closed/call?feed=chat&method=create_channel&args=%7B%22user%22%3A%22ann%22%2C%22channel%22%3A%22c$i%22%7D");
    }
    my @answers = map { $_->response->{body} } @connections;
    is(scalar(grep { /"changed":true/ } @answers), @answers, 'calls that come at the same time') or diag(@answers);
    is(scalar(grep { /the tables of the messages were made/ } error_log_lines()), 1, '... make the tables once');
    return;
}

# How many transactions wait for a lock.
my %waiting = (
    pgsql => "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type='Lock' AND datname=current_database()",
    # MariaDB shows innodb_trx as it was for as long as it is read more often than every 100 ms.
    mysql => "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME='INNODB_ROW_LOCK_CURRENT_WAITS'",
);

# Both have begun, both wait for the row of bob, whom another program holds; neither is seen before it has ended.
sub meet
{
    my ($db) = @_;
    my $name = 'messages_race_chat';
    my @pages = map { open_inbox($_) } @readers;
    my @polls = map { $_->start_poll } @pages;
    wait_waiting(3);
    my $holder = $db->session($name);
    $holder->does($_) for 'BEGIN', "SELECT serial FROM vault_message_users WHERE name='bob' FOR UPDATE";
    my @posts = map { connect_to() } 1, 2;
    $posts[0]->request(GET => post_path('ann', 'left', 'meets'));
    $posts[1]->request(GET => post_path('cid', 'right', 'meets'));
    wait_until(sub { ($db->does($name, $waiting{$db->driver}))[0] == 2 }, 'both posts wait');
    ok($_->is_silent, 'no page sees what is not committed') for @polls;
    $holder->does('COMMIT');
    like($_->response->{body}, qr/"changed":true/, 'posted') for @posts;
    my $text = sub { my ($i) = @_; return VaultTest::Page::text($pages[$i]->finish_poll($polls[$i])) };
    like($text->(0), qr/\d+:left:meets/, 'ann sees one');
    like($text->(2), qr/\d+:right:meets/, 'cid the other');
    my $both = $text->(1);
    $both .= VaultTest::Page::text($pages[1]->poll) until (() = $both =~ /:meets/g) == 2;
    my ($one, $two) = $both =~ /(\d+):\w+:meets/g;
    is($two, $one + 1, 'bob sees both, in the order of their serials');
    $_->close for @polls;
    wait_waiting(0);
    return;
}

for_each_database(
    sub {
        my ($db) = @_;
        messages_server('race', $db, {chat => 'anonymous=yes rate=10000'});
        begin_together();
        race();
        meet($db) if $db->is_server;
        $db->does('messages_race_chat', 'DROP TABLE vault_message_deliveries');
        wait_until(sub { !as('ann', 'chat', 'post_message', {channel => 'left', text => 'again', once => 'again'})->{error} }, 'tables that are gone are made again');
        is_deeply([messages_of('bob', 'chat')], ['again'], 'and take messages');
    }
);
finish();
