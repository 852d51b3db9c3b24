# SPDX-License-Identifier: Apache-2.0
# A child writes to a server of databases and is killed when its transaction is committed: when it knows that it is, when it is about to poke the
# tailer, or when it has poked it.
# Or the tailer is killed: when it has read a change, or when it is about to wake another child for it. Pages of another child show the row, once, and go
# on with what is written next, by whomever; also when the writer was the tailer. On SQLite t/unit/database_tail_test.c kills both.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $preload = vars('top_dir') . '/modules/preload_kill.so';
plan(skip_all => 'nothing can be loaded in front of httpd here') if !-f $preload || ($ENV{VAULT_SANITIZER} // 'no') ne 'no';

# As preload_kill.c has them.
my %FATES = (committed => 7777777771, poking => 7777777772, poked => 7777777773, read => 7777777774, waking => 7777777775);
my $once = vars('t_logs') . '/dies-once';

my $MODEL = <<'END';
{"entities": {"Wall": {"table": "walls", "properties": {"name": "name"}, "collections": {"posts": {"entity": "Post", "column": "wall"}}},
              "Post": {"table": "posts", "properties": {"text": "body"}}}}
END
my $TABLES = 'CREATE TABLE walls(id {integer} PRIMARY KEY,name {text});CREATE TABLE posts(id {serial},wall {integer},body {text},fate {integer});';

my %PAGES = (
    collection => ['method="get_collection_changes" entity="Wall" id="1" collection="posts"', '{{#added}}[{{text}}]{{/added}}{{#removed}}-{{/removed}}{{#changed}}={{/changed}}'],
    table => ['method="get_new_instances" table="posts"', '{{#rows}}[{{body}}]{{/rows}}'],
);
for my $name (keys %PAGES) {
    my $tag = qq(<!--#feed name="dies" $PAGES{$name}[0] template="dies-$name.html" append="list" -->);
    site_file("/feed/dies-$name.html", $PAGES{$name}[1]);
    site_file("/feed/dies-$name-new.shtml", $tag);
    live_shtml("/feed/dies-$name.shtml", "/feed/dies-$name-new.shtml", "<p>$tag</p>\n");
}
my $SIZE = "StartServers 3\nServerLimit 16\nThreadLimit 8\nThreadsPerChild 8\nMinSpareThreads 24\nMaxSpareThreads 100\nMaxRequestWorkers 128\n";
my $model = vars('t_logs') . '/dies.json';
open my $file, '>', $model or die "$model: $!\n";
print $file $MODEL;
close $file;

my ($db, %page, %poll);

sub tailer
{
    return wait_until(sub { my %now = map { $_ => 1 } children(); my $pid = wait_tailer('dies'); $now{$pid} && $pid }, 'a child is the tailer');
}

sub asks { my ($body) = @_; return {table => 'posts', values => {wall => 1, body => $body, $body =~ /kill-(\w+)/ ? (fate => $FATES{$1}) : ()}} }

# What a page is told until it has this row.
sub told
{
    my ($name, $body) = @_;
    my $text = '';
    until ($text =~ /\[\Q$body\E\]/) {
        my $answer = $page{$name}->finish_poll($poll{$name});
        die "$name: $answer->{status}\n" if $answer->{status} != 200;
        $text .= VaultTest::Page::text($answer) =~ s{</?(?:turbo-stream|template)[^>]*>}{}gr;
        $poll{$name} = $page{$name}->start_poll($poll{$name});
    }
    return $text;
}

# A writer is killed when it has written this.
sub dies
{
    my ($writer, $body) = @_;
    my $connection = connect_in($writer);
    $connection->request(GET => '/closed/call?feed=dies&method=save&args=' . VaultTest::Site::_escape(JSON::PP->new->canonical->encode(asks($body))));
    return $connection->is_closed;
}

for my $server (has_database() ? databases(qw(pgsql mysql)) : ()) {
    $db = $server;
    my $driver = $db->driver;
    $db->make('dies', $TABLES . q{INSERT INTO walls VALUES(1,'Ann')});
    $db->watch('dies', qw(walls posts));
    use_server(VaultTest::Server->start("dies-$driver", size => $SIZE, env => {LD_PRELOAD => $preload, VAULT_KILL_ONCE => $once},
        config => $db->feed('dies', 'dies', "poll=100 timeout=20 model=$model") . live_folder('/feed')));
    children(3);
    tailer();
    $page{$_} = open_page("/feed/dies-$_.shtml") for keys %PAGES;

    my $n = 0;
    for my $when (qw(read waking)) {
        my $tailer = tailer();
        my ($reader) = grep { $_ != $tailer } children(3);
        $poll{$_} = $page{$_}->start_poll(connect_in($reader)) for keys %PAGES;
        wait_waiting(2);
        $n++;
        calls_feed('dies', save => asks("before $n"), on => connect_in($reader));
        is(told($_, "before $n"), "[before $n]", "$driver: the tailer is killed, $when: a row before") for sort keys %PAGES;
        wait_waiting(2);
        open my $file, '>', $once or die "$once: $!\n";
        close $file;
        $db->does('dies', "INSERT INTO posts(wall,body,fate) VALUES(1,'kill-$when $n',$FATES{$when})");
        wait_until(sub { !-e $once }, 'the tailer is killed');
        is(told($_, "kill-$when $n"), "[kill-$when $n]", "... the page of a $_ has the row, once") for sort keys %PAGES;
        $db->does('dies', "INSERT INTO posts(wall,body) VALUES(1,'stranger $n')");
        is(told($_, "stranger $n"), "[stranger $n]", "... and what comes next, and no more: $_") for sort keys %PAGES;
        wait_waiting(2);
        $_->close for values %poll;
        wait_waiting(0);
        wait_replaced($tailer);
    }
    for my $when (qw(committed poking poked)) {
        for my $who (qw(another tailer)) {
            my $why = "$driver: $when, " . ($who eq 'tailer' ? 'by the tailer' : 'by another child');
            my $tailer = tailer();
            my ($writer) = $who eq 'tailer' ? $tailer : grep { $_ != $tailer } children(3);
            my ($reader) = grep { $_ != $writer && $_ != $tailer } children(3);
            $poll{$_} = $page{$_}->start_poll(connect_in($reader)) for keys %PAGES;
            wait_waiting(2);

            # Pages have a position in the ring.
            $n++;
            my $saved = calls_feed('dies', save => asks("before $n"), on => connect_in($reader));
            ok($saved->{rows}, "$why: a row before") || diag($saved->{error});
            is(told($_, "before $n"), "[before $n]", "... which the page of a $_ has") for keys %PAGES;
            wait_waiting(2);

            ok(dies($writer, "kill-$when $n"), '... then the writer is killed');
            my $next = calls_feed('dies', save => asks("after $n"), on => connect_in($reader));
            ok($next->{rows}, '... and another child writes') || diag($next->{error});
            for my $name (sort keys %PAGES) {
                my $text = told($name, "after $n");
                $text .= told($name, "kill-$when $n") if $text !~ /kill/;
                is(join('', sort $text =~ /\[.*?\]/g), "[after $n][kill-$when $n]", "... the page of a $name has both rows, once");
            }
            $db->does('dies', "INSERT INTO posts(wall,body) VALUES(1,'stranger $n')");
            is(told($_, "stranger $n"), "[stranger $n]", "... and what another program writes, and no more: $_") for sort keys %PAGES;
            wait_waiting(2);
            $_->close for values %poll;
            wait_waiting(0);
            wait_replaced($writer);
        }

        # No poll waits at that moment.
        my $body = "kill-$when alone";
        my ($writer) = children();
        ok(dies($writer, $body), "$driver: $when, while no poll waits: the writer is killed");
        for my $name (sort keys %PAGES) {
            $poll{$name} = $page{$name}->start_poll;
            is(told($name, $body), "[$body]", "... the row comes with the next poll of the page of a $name");
            $poll{$name}->close;
        }
        wait_replaced($writer);
    }

    # A page that begins now has the same.
    my $all = join '', map { "[$_->{body}]" } sort { $a->{id} <=> $b->{id} } rows_of('posts', 'dies');
    my ($shown) = open_page('/feed/dies-collection.shtml')->html =~ m{<p>(.*)</p>}s;
    is($shown, $all, "$driver: a page that begins has them all");
    use_server(undef);
}
announce(qr/VLT00004:/) if has_database() && databases(qw(pgsql mysql));
finish();
