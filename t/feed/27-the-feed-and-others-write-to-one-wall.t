# SPDX-License-Identifier: Apache-2.0
# The feed and other programs write to the same rows, in transactions that overlap, some of which are undone. What the feed has written
# lately its pages may find without the database: after each commit each page shows what the table has, each row once.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

use constant {STEPS => 160, STRANGERS => 4, SEED => 20261122};

my $MODEL = <<'END';
{"entities": {"Profile": {"table": "profiles", "properties": {"name": "name"},
                          "collections": {"posts": {"entity": "WallPost", "column": "wall"}}},
              "WallPost": {"table": "posts", "properties": {"text": "body"}}}}
END

my $TABLES = <<'END';
CREATE TABLE profiles(id {integer} PRIMARY KEY,name {text});
CREATE TABLE posts(id {integer} PRIMARY KEY,wall {integer},body {text});
INSERT INTO profiles VALUES(1,'Ann'),(2,'Bob');
INSERT INTO posts VALUES(1,1,'hello'),(2,2,'hi');
END

site_file('/feed/both.html', '{{#added}}+{{id}}:{{text}};{{/added}}{{#removed}}-{{id}}:{{text}};{{/removed}}{{#changed}}={{id}}:{{text}};{{/changed}}');
for my $wall (1, 2) {
    my $tag = qq(<!--#feed name="mixed" method="get_collection_changes" entity="Profile" id="$wall" collection="posts" template="both.html" -->);
    site_file("/feed/both-$wall-new.shtml", $tag);
    live_shtml("/feed/both-$wall.shtml", "/feed/both-$wall-new.shtml", "<p>$tag</p>\n");
}

# The same each time, on each machine.
my $random = SEED;

sub random
{
    my ($below) = @_;
    $random = ($random * 1103515245 + 12345) & 0x7fffffff;
    return ($random >> 8) % $below;
}

sub shown
{
    my ($rows) = @_;
    return join ' ', map { "$_:$rows->{$_}" } sort { $a <=> $b } keys %$rows;
}

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    $random = SEED;
    $db->make('mixed', $TABLES);
    $db->watch('mixed', 'posts', 'profiles');
    my $model = vars('t_logs') . '/both.json';
    open my $file, '>', $model or die "$model: $!\n";
    print $file $MODEL;
    close $file;
    use_server(VaultTest::Server->start("both-$driver", config => $db->feed('mixed', 'mixed', "look=50 timeout=5 model=$model") . live_folder('/feed')));

    my %rows = (1 => [1, 'hello'], 2 => [2, 'hi']);    # as committed
    my $next = 3;
    my @wrong;
    my @pages = map { {wall => $_, page => open_page("/feed/both-$_.shtml"), has => {}} } 1, 2, 1;
    my $apply = sub {
        my ($page, $text) = @_;
        while ($text =~ /([-+=])(\d+):([^;]*);/g) {
            my ($sign, $id, $body) = ($1, $2, $3);
            push @wrong, "$sign$id:$body on wall $page->{wall}" if ($sign eq '+') == exists $page->{has}{$id};
            $page->{has}{$id} = $body;
            delete $page->{has}{$id} if $sign eq '-';
        }
    };
    my $wanted = sub {
        my ($wall) = @_;
        return shown({map { $_ => $rows{$_}[1] } grep { $rows{$_}[0] == $wall } keys %rows});
    };
    for my $page (@pages) {
        $apply->($page, $page->{page}->html =~ m{<p>(.*)</p>}s ? $1 : '');
        $page->{poll} = $page->{page}->start_poll;
    }
    # Until each page shows what there is. A poll that nobody answers for long has missed something.
    my $converge = sub {
        for my $page (@pages) {
            while (shown($page->{has}) ne $wanted->($page->{wall})) {
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
    # What is to be done, to a row that nobody else has changed: [id, wall, body]; without a wall it is to go.
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
            # What is written next to this row comes last, whoever is told of it first.
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
    is(shown($pages[0]{has}), $wanted->(1), '... on the first wall');
    is(shown($pages[1]{has}), $wanted->(2), '... on the second');
    is("@wrong", '', '... and each row once');
    $_->{poll}->close for @pages;
    undef @strangers;
    use_server(undef);
}
finish();
