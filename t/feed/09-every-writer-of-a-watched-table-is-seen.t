# SPDX-License-Identifier: Apache-2.0
# Tables watched by vaultctl, on SQLite, PostgreSQL and MariaDB alike: what any program writes reaches the pages, once, also when
# transactions commit in another order than they began; the child that looks may be killed, the database restarted.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $TABLES = <<'END';
CREATE TABLE logs(id {serial},line {text},status {integer},took {real});
CREATE TABLE profiles(id {integer} PRIMARY KEY,full_name {text});
CREATE TABLE posts(id {integer} PRIMARY KEY,wall {integer},body {text});
INSERT INTO logs(line,status) VALUES('one',1);
INSERT INTO profiles VALUES(1,'Ann'),(2,'Bob');
INSERT INTO posts VALUES(1,1,'hello'),(2,2,'hi');
END

my $MODEL = <<'END';
{"entities": {"Profile": {"table": "profiles", "properties": {"name": "full_name"},
                          "collections": {"posts": {"entity": "WallPost", "column": "wall"}}},
              "WallPost": {"table": "posts", "properties": {"text": "body"}}},
 "queries": {"wall": {"sql": "SELECT p.id, p.body, o.full_name FROM posts p JOIN profiles o ON o.id = p.wall WHERE p.wall = :wall",
                      "tables": ["posts", "profiles"], "columns": {"id": "integer", "body": "text", "full_name": "text"},
                      "key": ["id"], "parameters": {"wall": "integer"}}}}
END

my $LISTS = '{{#added}}+{{id}}:{{text}}{{body}} {{/added}}{{#removed}}-{{id}}:{{text}}{{body}} {{/removed}}{{#changed}}={{id}}:{{text}}{{body}}{{full_name}} {{/changed}}';

# Name => tag's attributes and template.
my %PAGES = (
    'w-new' => ['method="get_new_instances" table="logs" limit="2"', '{{#rows}}[{{line}}]{{/rows}}'],
    'w-row' => ['method="get_modified_instance" table="logs" key="1"', '{{#rows}}[{{line}} {{status}}]{{/rows}}'],
    'w-attribute' => ['method="get_attribute_changes" table="logs" key="1" attribute="status"', '{{#rows}}{{old}}>{{new}}{{/rows}}'],
    'w-property' => ['method="get_property_changes" entity="Profile" id="1" property="name"', '{{#rows}}{{old}}>{{new}}{{/rows}}'],
    'w-one' => ['method="get_collection_changes" entity="Profile" id="1" collection="posts"', $LISTS],
    'w-two' => ['method="get_collection_changes" entity="Profile" id="2" collection="posts"', $LISTS],
    'w-query' => ['method="get_query_changes" query="wall" parameters.wall="1"', $LISTS],
);

sub feed_of
{
    my ($db) = @_;
    my $model = model_file('watched', $MODEL);
    return $db->feed('watched', 'watched', "rows=20 poll=100 timeout=5 model=$model") . live_folder('/feed');
}

for my $name (sort keys %PAGES) {
    my $tag = qq(<!--#feed name="watched" $PAGES{$name}[0] template="$name.html" -->);
    site_file("/feed/$name.html", $PAGES{$name}[1]);
    live_tag("/feed/$name", $tag);
}

for my $db (has_database() ? databases(split / /, $ENV{VAULT_DRIVERS} // q{}) : ()) {
    my $driver = $db->driver;
    $db->make('watched', $TABLES);
    $db->watch('watched', qw(logs profiles posts));
    use_server(VaultTest::Server->start("watched-$driver", config => feed_of($db)));

    my (%page, %poll, %seen);
    my $waiting = 0;
    my $open = sub {
        my ($name, $first) = @_;
        $page{$name} = open_page("/feed/$name.shtml");
        is($page{$name}->html =~ m{<p>(.*)</p>}s && $1 =~ s/&gt;/>/gr, $first, "$driver, $name: the first view");
        $poll{$name} = $page{$name}->start_poll;
        wait_waiting(++$waiting);
    };
    # What a page is told next.
    my $sees = sub {
        my ($name, $wanted, $why) = @_;
        my $text = VaultTest::Page::text($page{$name}->finish_poll($poll{$name}));
        # A poll that had waited long enough: a server of databases may take its time to start.
        for (1 .. 5) {
            last if $text ne '';
            $text = VaultTest::Page::text($page{$name}->finish_poll($page{$name}->start_poll));
        }
        is($text =~ s/&gt;/>/gr, $wanted, "$driver, $name: $why");
        $poll{$name} = $page{$name}->start_poll;
    };
    $open->('w-new', '[one]');
    $open->('w-row', '[one 1]');
    $open->('w-attribute', '>1');

    # Another program writes.
    $db->does('watched', q{INSERT INTO logs(line) VALUES('outside')});
    $sees->('w-new', '[outside]', 'a row that another program inserted');
    $db->does('watched', q{UPDATE logs SET status=2 WHERE id=1});
    $sees->('w-row', '[one 2]', 'a row that another program changed');
    $sees->('w-attribute', '1>2', '... and its attribute');
    $_->close for values %poll;
    wait_waiting($waiting = 0);

    # Objects.
    $open->('w-property', '>Ann');
    $open->('w-one', '+1:hello ');
    $open->('w-two', '+2:hi ');
    $open->('w-query', '+1:hello ');
    $db->does('watched', q{UPDATE profiles SET full_name='Anna' WHERE id=1});
    $sees->('w-property', 'Ann>Anna', 'a property');
    $sees->('w-query', '=1:helloAnna ', '... which a query joins');
    $db->does('watched', q{INSERT INTO posts VALUES(3,1,'new')});
    $sees->('w-one', '+3:new ', 'inserted by its foreign key');
    $sees->('w-query', '+3:new ', '... and in the query');
    $db->does('watched', q{UPDATE posts SET wall=2 WHERE wall=1 AND id=3});
    $sees->('w-one', '-3:new ', 'moved away');
    $sees->('w-two', '+3:new ', 'moved here');
    $sees->('w-query', '-3:new ', '... and out of the query');
    $db->does('watched', q{UPDATE posts SET body='bulk'});
    $sees->('w-one', '=1:bulk ', 'a bulk update');
    $sees->('w-two', '=2:bulk =3:bulk ', '... row by row');
    $sees->('w-query', '=1:bulkAnna ', '... and in the query');

    # The feed writes.
    calls_feed('watched', 'update', {table => 'posts', key => '2', values => {wall => 1}});
    $sees->('w-one', '+2:bulk ', 'moved by the feed');
    $sees->('w-two', '-2:bulk ', '... and away');
    $sees->('w-query', '+2:bulk ', '... and in the query');
    calls_feed('watched', 'delete', {table => 'posts', where => {wall => 1}});
    $sees->('w-one', '-1:bulk -2:bulk ', 'a delete with a condition');
    $sees->('w-query', '-1:bulk -2:bulk ', '... and in the query');

    $_->close for values %poll;
    wait_waiting($waiting = 0);
    $open->('w-new', '[one][outside]');

    # A row for each dialect's rarer statements: another key, a change of nothing, everything at once.
    $db->does('watched', q{UPDATE logs SET line=line});
    $db->does('watched', q{UPDATE logs SET id=id+1000 WHERE line='outside'});
    $sees->('w-new', '[outside]', 'another key is another row; an update that changes nothing is none');
    $db->does('watched', join ';', map { "INSERT INTO logs(line) VALUES('p$_')" } 1 .. 45);
    my $parts = '';
    $parts .= VaultTest::Page::text($page{'w-new'}->finish_poll($poll{'w-new'})), $poll{'w-new'} = $page{'w-new'}->start_poll
        until $parts =~ /\[p45\]/;
    is($parts, join('', map { "[p$_]" } 1 .. 45), "$driver: more than one answer holds comes in parts");
    if ($driver eq 'pgsql') {
        $db->does('watched', q{SET session_replication_role=replica; INSERT INTO logs(line) VALUES('replicated')});
        $sees->('w-new', '[replicated]', 'what logical replication writes');
        $db->does('watched', 'INSERT INTO posts VALUES(70,1,\'x\')');
        my $gone = open_page('/feed/w-one.shtml');
        $db->does('watched', 'TRUNCATE posts');
        is(VaultTest::Page::text($gone->finish_poll($gone->start_poll)), '-70:x ', 'TRUNCATE is seen row by row');
    }

    # Transactions that commit in another order than they began. SQLite has one writer.
    if ($db->is_server) {
        my ($first, $second) = map { $db->session('watched') } 1, 2;
        $_->does($driver eq 'pgsql' ? 'BEGIN' : 'START TRANSACTION') for $first, $second;
        $first->does(q{INSERT INTO logs(line) VALUES('early')});
        $second->does(q{INSERT INTO logs(line) VALUES('late')});
        $second->does('COMMIT');
        $sees->('w-new', '[late]', 'what began later and committed first');
        $first->does(q{INSERT INTO logs(line) VALUES('early too')});
        $first->does('COMMIT');
        $sees->('w-new', '[early][early too]', 'what began first and committed later: smaller ids that come after larger ones');
        $first->does($driver eq 'pgsql' ? 'BEGIN' : 'START TRANSACTION');
        $first->does(q{INSERT INTO logs(line) VALUES('never')});
        $first->does('ROLLBACK');
        $second->does(q{INSERT INTO logs(line) VALUES('after')});
        $sees->('w-new', '[after]', 'what was rolled back is not seen');
    }

    # The child that looks is killed: another one goes on where it was.
    open my $log, '<', vars('t_logs') . "/watched-$driver/error_log" or die "$!\n";
    my ($tailer) = map { /this child reads the changes of "[^"]*watched/ && /\[pid (\d+)/ ? $1 : () } readline $log;
    kill KILL => $tailer;
    $db->does('watched', q{INSERT INTO logs(line) VALUES('while nobody looked')});
    $poll{'w-new'}->close;
    $poll{'w-new'} = $page{'w-new'}->start_poll;
    $sees->('w-new', '[while nobody looked]', 'no change is missed when the child that is the tailer is killed');

    # The database is restarted.
    if ($driver ne 'sqlite3') {
        wait_waiting(1);
        announce(qr/VLT00020: feed: the database "watched" /);
        # The page may look while it is away: the child that was killed is noticed some time later, and then all pages look.
        tolerate(qr/VLT00040: feed watched, .*: the database "watched" cannot be /, qr/VLT00030: method .* failed: the database "watched" cannot be /);
        $db->crash;
        $db->start;
        $db->does('watched', q{INSERT INTO logs(line) VALUES('restarted')});
        $sees->('w-new', '[restarted]', 'nor when the database is restarted');
    }
    $poll{'w-new'}->close;
    use_server(undef);
    $db->vaultctl('watched', unwatch => qw(logs profiles posts));
    is(($db->does('watched', 'SELECT count(*) FROM vault_changes'))[0], 0, "$driver: unwatch forgets");
    $db->does('watched', q{INSERT INTO logs(line) VALUES('x')});
    is(($db->does('watched', 'SELECT count(*) FROM vault_changes'))[0], 0, '... and nothing is recorded any more');
}
finish();
