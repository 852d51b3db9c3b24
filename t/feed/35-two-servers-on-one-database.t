# SPDX-License-Identifier: Apache-2.0
# Two httpd servers whose feeds watch the same tables of one database: pages at each of them show what is written through it, through the other
# one and by another program, each row once and in the order of the commits, while one of the servers is restarted, or both.
use strict;
use warnings;
use Time::HiRes ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

use constant {ROUNDS => 4, WRITES => 9};

my $MODEL = <<'END';
{"entities": {"Wall": {"table": "walls", "properties": {"name": "name"}, "collections": {"posts": {"entity": "Post", "column": "wall"}}},
              "Post": {"table": "posts", "properties": {"text": "body"}}}}
END
my $TABLES = q{CREATE TABLE walls(id {integer} PRIMARY KEY,name {text});CREATE TABLE posts(id {serial},wall {integer},body {text});INSERT INTO walls VALUES(1,'Ann')};

# Changes of a collection may be found without the database, those of a table are read there.
my %PAGES = (
    collection => ['method="get_collection_changes" entity="Wall" id="1" collection="posts"', '{{#added}}[{{text}}]{{/added}}{{#removed}}[-{{text}}]{{/removed}}{{#changed}}[={{text}}]{{/changed}}'],
    table => ['method="get_new_instances" table="posts"', '{{#rows}}[{{body}}]{{/rows}}'],
);
for my $name (keys %PAGES) {
    my $tag = qq(<!--#feed name="twin" $PAGES{$name}[0] template="twin-$name.html" -->);
    site_file("/feed/twin-$name.html", $PAGES{$name}[1]);
    site_file("/feed/twin-$name-new.shtml", $tag);
    live_shtml("/feed/twin-$name.shtml", "/feed/twin-$name-new.shtml", "<p>$tag</p>\n");
}
my $model = vars('t_logs') . '/twin.json';
open my $file, '>', $model or die "$model: $!\n";
print $file $MODEL;
close $file;

my ($db, @servers, @pages, @written);

# By one of the servers, or by another program.
sub writes
{
    my ($who) = @_;
    my $body = 'n' . (1 + @written);
    if ($who == 2) {
        $db->does('twin', "INSERT INTO posts(wall,body) VALUES(1,'$body')");
    }
    else {
        use_server($servers[$who]);
        my $saved = calls_feed('twin', save => {table => 'posts', values => {wall => 1, body => $body}});
        die "$body was not saved: $saved->{error}\n" if !$saved->{rows};
    }
    push @written, $body;
    take_shown($_) for @pages;
    return;
}

sub resumed { use_server($_[0]); return scalar grep { /resuming normal operations/ } error_log_lines() }

for my $server (has_database() ? databases(qw(pgsql mysql)) : ()) {
    $db = $server;
    my $driver = $db->driver;
    $db->make('twin', $TABLES);
    $db->watch('twin', qw(walls posts));
    @servers = map { VaultTest::Server->start("twin$_-$driver", config => $db->feed('twin', 'twin', "rows=50 poll=100 timeout=20 model=$model") . live_folder('/feed')) } 0, 1;
    @written = @pages = ();
    for my $i (0, 1) {
        use_server($servers[$i]);
        for my $name (sort keys %PAGES) {
            my $page = open_page("/feed/twin-$name.shtml");
            push @pages, {page => $page, poll => $page->start_poll, server => $servers[$i], shown => [], what => "$driver: the page of a $name at server $i"};
        }
        wait_waiting(2);
    }

    my $seen = sub {
        my ($when) = @_;
        wait_until(sub { take_shown($_) for @pages; !grep { @{$_->{shown}} < @written } @pages }, "$driver: all rows come: $when");
        is("@{$_->{shown}}", "@written", "$_->{what}: $when") for @pages;
    };
    writes($_ % 3) for 1 .. WRITES;
    $seen->('each row once, in order');
    for my $round (1 .. ROUNDS) {
        my @restarted = $round % 3 == 0 ? @servers : $servers[$round % 2];
        my @before = map { resumed($_) } @restarted;
        kill USR1 => map { $_->pid } @restarted;
        my $n = 0;
        # Until they have restarted, and then some more.
        until ($n > WRITES && !grep { resumed($restarted[$_]) <= $before[$_] } 0 .. $#restarted) {
            writes(($n++ * 2 + $round) % 3);
        }
        $seen->('while ' . (@restarted > 1 ? 'both servers are' : 'server ' . ($round % 2) . ' is') . ' restarted');
    }

    # A row that changes, and goes.
    use_server($servers[0]);
    calls_feed('twin', update => {table => 'posts', where => {body => 'n1'}, values => {body => 'first'}});
    use_server($servers[1]);
    calls_feed('twin', update => {table => 'posts', where => {body => 'first'}, values => {body => 'second'}});
    $db->does('twin', q{DELETE FROM posts WHERE body='second'});
    for my $at (grep { $_->{what} =~ /collection/ } @pages) {
        wait_until(sub { take_shown($at); $at->{shown}[-1] =~ /^-/ }, "$at->{what}: the row goes");
        my @rest = @{$at->{shown}}[scalar @written .. $#{$at->{shown}}];
        like("@rest", qr/^(?:=first )?(?:=second )?-(?:n1|first|second)$/, "$at->{what}: a row that both servers change, and another program removes");
    }
    for my $i (0, 1) {
        use_server($servers[$i]);
        wait_waiting(2);
        ok($_->{poll}->is_silent, "$_->{what}: there is nothing more") for grep { $_->{server} == $servers[$i] } @pages;
    }
    $_->{poll}->close for @pages;
    use_server(undef);
}
finish();
