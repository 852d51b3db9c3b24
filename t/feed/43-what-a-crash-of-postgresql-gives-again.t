# SPDX-License-Identifier: Apache-2.0
# PostgreSQL crashes, and gives ids of transactions a second time: those of transactions that left nothing on its disk,
# and, where commits do not wait for the disk (synchronous_commit=off), also those of transactions that pages have shown.
# Pages that wait show what is then written.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $MODEL = <<'END';
{"entities": {"Profile": {"table": "profiles", "properties": {"name": "full_name"},
                          "collections": {"posts": {"entity": "WallPost", "column": "wall"}}},
              "WallPost": {"table": "posts", "properties": {"text": "body"}}}}
END

my %PAGES = (
    'c-new' => ['method="get_new_instances" table="logs" append="list"', '{{#rows}}[{{line}}]{{/rows}}'],
    'c-row' => ['method="get_modified_instance" table="logs" key="1"', '{{#rows}}[{{line}}]{{/rows}}'],
    'c-posts' => [
        'method="get_collection_changes" entity="Profile" id="1" collection="posts" append="list"',
        '{{#added}}+{{text}}{{/added}}{{#removed}}-{{id}}{{/removed}}',
    ],
);

my ($db) = has_database() ? databases('pgsql') : ();
plan(skip_all => 'there is no PostgreSQL') if !$db;

my ($server, %page, %poll);

sub starts
{
    my ($case) = @_;
    $db->make('crash', <<'END');
CREATE TABLE logs(id {serial},line {text});
CREATE TABLE profiles(id {integer} PRIMARY KEY,full_name {text});
CREATE TABLE posts(id {integer} PRIMARY KEY,wall {integer},body {text});
INSERT INTO logs(line) VALUES('one');
INSERT INTO profiles VALUES(1,'Ann');
INSERT INTO posts VALUES(1,1,'hello');
END
    $db->watch('crash', qw(logs posts));
    note($case);
    # While the database is away.
    tolerate(qr/VLT00020: feed: the database "\S*" /, qr/VLT00040: feed crash, .*: the database "\S*" /,
        qr/VLT00030: method .* failed: the database "\S*" /);
    my $feed = $db->feed('crash', 'crash', 'rows=20 poll=100 timeout=5 model=' . model_file('crash', $MODEL));
    $server = VaultTest::Server->start("crash-$case", config => "VaultLongPollTimeout 10\n$feed" . live_folder('/feed'));
    return use_server($server);
}

sub waits
{
    my (@names) = @_;
    ($page{$_}, $poll{$_}) = (open_page("/feed/$_.shtml")) x 2 for @names;
    $poll{$_} = $page{$_}->start_poll for @names;
    wait_waiting(scalar @names);
    return;
}

sub leaves
{
    $_->close for values %poll;
    (%page, %poll) = ();
    wait_waiting(0);
    use_server(undef);
    $server->stop;
    return;
}

# The next poll that brings something. One that has waited long enough is answered with nothing.
sub news
{
    my ($name) = @_;
    my $text = '';
    for (1 .. 3) {
        $text = VaultTest::Page::text($page{$name}->finish_poll($poll{$name}));
        $poll{$name} = $page{$name}->start_poll;
        last if $text ne '';
    }
    return $text;
}

sub element { return qq(<turbo-stream action="$_[0]" target="list"><template>$_[1]</template></turbo-stream>) }

# The next id that a transaction would be given.
sub next_id { return ($db->does('crash', 'SELECT pg_snapshot_xmax(pg_current_snapshot())'))[0] }

# Transactions that take an id and leave nothing.
sub burns
{
    my $session = $db->session('crash');
    for (1 .. 40) {
        $session->does('BEGIN');
        $session->does('SELECT pg_current_xact_id()');
        $session->does('ROLLBACK');
    }
    return next_id();
}

sub crash_of_one { return $db->crash_of_one }

sub crash_of_all
{
    $db->crash;
    $db->start;
    return;
}

# The server crashes. Before the feed sees it again these are written, and more ids are given than had been given before.
sub crashes
{
    my ($crash, $next, @written) = @_;
    my @children = children();
    freeze(@children);
    $crash->();
    for my $sql (@written) {
        $db->does('crash', $sql);
        is_given_again($next, "an id is given again: $sql");
    }
    do { burns() } while next_id() <= $next;
    kill CONT => @children;
    return;
}

# Was this change recorded under an id that had been given before?
sub is_given_again
{
    my ($next, $why) = @_;
    my ($xid) = $db->does('crash', 'SELECT xid FROM vault_changes ORDER BY id DESC LIMIT 1');
    return cmp_ok($xid, '<', $next, "the premise: $why");
}

for my $name (sort keys %PAGES) {
    site_file("/feed/$name.html", $PAGES{$name}[1]);
    live_tag("/feed/$name", qq(<!--#feed name="crash" $PAGES{$name}[0] template="$name.html" -->));
}

# Commits wait for the disk: pages go on from where they were, each row once.
for my $case (['all', \&crash_of_all], ['one', \&crash_of_one]) {
    my ($name, $crash) = @$case;
    starts($name);
    $db->stop_walwriter;
    my $next = burns();
    waits(sort keys %PAGES);
    crashes($crash, $next, q{INSERT INTO logs(line) VALUES('two')}, q{UPDATE logs SET line='changed' WHERE id=1},
        q{INSERT INTO posts VALUES(2,1,'again')});
    is(news('c-new'), element(append => '[two]'), "$name: new rows are shown, once");
    is(news('c-row'), '[changed]', 'so is a row that changed');
    is(news('c-posts'), element(append => '+again'), 'and an element of a collection');
    $db->does('crash', q{INSERT INTO logs(line) VALUES('three')});
    is(news('c-new'), element(append => '[three]'), 'pages go on');
    leaves();
}

# Commits do not wait for the disk: a crash takes back what pages have shown. They are shown everything anew.
for my $case (['off-all', \&crash_of_all], ['off-one', \&crash_of_one]) {
    my ($name, $crash) = @$case;
    starts($name);
    waits('c-new');
    $db->does('crash', q{SET synchronous_commit=off; INSERT INTO logs(line) VALUES('early')});
    is(news('c-new'), element(update => '[one][early]'), "$name: after the first such commit positions are of another kind");
    $db->does('crash', q{INSERT INTO logs(line) VALUES('kept')});
    is(news('c-new'), element(append => '[kept]'), '... with which pages go on');
    $db->stop_walwriter;
    $db->does('crash', q{SET synchronous_commit=off; INSERT INTO logs(line) VALUES('lost')});
    is(news('c-new'), element(append => '[lost]'), 'a row is shown');
    crashes($crash, next_id(), q{INSERT INTO logs(line) VALUES('later')});
    my @rows = $db->does('crash', 'SELECT line FROM logs ORDER BY id');
    is_deeply(\@rows, [qw(one early kept later)], 'the premise: a crash takes it back');
    is(news('c-new'), element(update => '[one][early][kept][later]'), 'all is shown anew, with what has its id now');
    leaves();
}
finish();
