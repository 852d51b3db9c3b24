# SPDX-License-Identifier: Apache-2.0
# The feed and other programs write to the same rows, in transactions that overlap, some of which are undone. What the feed has written
# lately its pages may find without the database: after each commit each page shows what the table has, each row once.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Random;
use VaultTest::Site;
use VaultTest::Wall;

use constant {STEPS => 160, STRANGERS => 4, SEED => 20261122};

wall_page('mixed', $_) for 1, 2;

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    begin_random(SEED);
    wall_tables($db, 'mixed', "INSERT INTO posts VALUES(1,1,'hello'),(2,2,'hi');");
    use_server(wall_server($db, 'mixed', 'poll=50 timeout=5'));

    my %rows = (1 => [1, 'hello'], 2 => [2, 'hi']);    # as committed
    my $next = 3;
    my @wrong;
    my @pages = map { {wall => $_, page => open_page("/feed/mixed-$_.shtml"), has => {}} } 1, 2, 1;
    my $apply = sub {
        my ($page, $text) = @_;
        push @wrong, map { "$_ on wall $page->{wall}" } wall_apply($page->{has}, $text);
    };
    my $wanted = sub {
        my ($wall) = @_;
        return wall_shown({map { $_ => $rows{$_}[1] } grep { $rows{$_}[0] == $wall } keys %rows});
    };
    for my $page (@pages) {
        $apply->($page, $page->{page}->html);
        $page->{poll} = $page->{page}->start_poll;
    }
    # Until each page shows what there is. A poll that is not answered for long has missed something.
    my $converge = sub {
        for my $page (@pages) {
            while (wall_shown($page->{has}) ne $wanted->($page->{wall})) {
                my $text = VaultTest::Page::text($page->{page}->finish_poll($page->{poll}));
                $apply->($page, $text);
                $page->{poll} = $page->{page}->start_poll;
                return 0 if $text eq '';
            }
        }
        return 1;
    };

    # SQLite has one writer at a time.
    my @strangers = map { {session => $db->session('mixed'), change => undef} } 1 .. ($db->is_server ? STRANGERS : 1);
    my %locked;
    # What is to be done, to a row that no other writer has changed: [id, wall, body]; without a wall it is to go.
    my $draw = sub {
        my @free = sort { $a <=> $b } grep { !$locked{$_} } keys %rows;
        my $what = random(5);
        return [$next++, 1 + random(2), 'new ' . random(1000)] if $what < 2 || !@free;
        my $id = $free[random(scalar @free)];
        return [$id] if $what == 4 && @free > 4;
        return [$id, $what == 2 ? $rows{$id}[0] : 1 + random(2), 'other ' . random(1000)];
    };
    my $sql = sub {
        my ($id, $wall, $body) = @{$_[0]};
        return "DELETE FROM posts WHERE id=$id" if !defined $wall;
        return $rows{$id} ? "UPDATE posts SET wall=$wall,body='$body' WHERE id=$id" : "INSERT INTO posts VALUES($id,$wall,'$body')";
    };
    my $call = sub {
        my ($id, $wall, $body) = @{$_[0]};
        return calls_feed('mixed', 'delete', {table => 'posts', key => "$id"}) if !defined $wall;
        return calls_feed('mixed', 'update', {table => 'posts', key => "$id", values => {wall => $wall, body => $body}}) if $rows{$id};
        return calls_feed('mixed', 'save', {table => 'posts', values => {id => $id, wall => $wall, body => $body}});
    };
    my $commit = sub {
        my ($id, $wall, $body) = @{$_[0]};
        $rows{$id} = [$wall, $body];
        delete $rows{$id} if !defined $wall;
    };

    my $write = sub {
        my ($change) = @_;
        my $answer = $call->($change);
        push @wrong, "row $change->[0]: $answer->{error}" if $answer->{error};
        $commit->($change);
    };

    my $good = 1;
    for my $step (1 .. STEPS) {
        my $stranger = $strangers[random(scalar @strangers)];
        my $turn = random(3);
        if ($turn == 0 && !$stranger->{change}) {
            $stranger->{change} = $draw->();
            $locked{$stranger->{change}[0]} = 1;
            $stranger->{session}->does('BEGIN; ' . $sql->($stranger->{change}));
        }
        elsif ($stranger->{change} && ($turn < 2 || !$db->is_server)) {
            my $undone = random(4) == 0;
            $stranger->{session}->does($undone ? 'ROLLBACK' : 'COMMIT');
            my $change = delete $stranger->{change};
            $commit->($change) if !$undone;
            delete $locked{$change->[0]};
            # What is written next to this row comes last, whichever page is told of it first.
            $write->([$change->[0], 1 + random(2), 'at once ' . random(1000)]) if random(2) && $rows{$change->[0]};
        }
        else {
            $write->($draw->());
        }
        $good = $converge->() if random(3) > 0;
        last if !$good;
    }
    $_->{session}->does('ROLLBACK') for grep { $_->{change} } @strangers;
    ok($good && $converge->(), "$driver: pages show what the table has");
    is(wall_shown($pages[0]{has}), $wanted->(1), '... on the first wall');
    is(wall_shown($pages[1]{has}), $wanted->(2), '... on the second');
    is("@wrong", '', '... and each row once');
    $_->{poll}->close for @pages;
    undef @strangers;
    use_server(undef);
}
finish();
