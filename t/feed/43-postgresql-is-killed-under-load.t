# SPDX-License-Identifier: Apache-2.0
# PostgreSQL is killed again and again while programs and the feed write and pages wait: by SIGKILL of all processes, or
# of one, or by SIGQUIT. In the end each page shows each row that was committed, once.
#
# What is drawn depends on a seed. VAULT_CRASH_SEEDS="1 2 3" in the environment: these; "1-60": all of these.
use strict;
use warnings;
use JSON::PP ();
use Time::HiRes ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Random;
use VaultTest::Site;

use constant {ROUNDS => 3, WRITERS => 5, STATEMENTS => 25, BURNS => 100};

my @SEEDS = map { /^(\d+)-(\d+)$/ ? $1 .. $2 : $_ } split ' ', $ENV{VAULT_CRASH_SEEDS} // '1 2';
my @KILLS = qw(crash abort crash_of_one);

my $MODEL = <<'END';
{"entities": {"Wall": {"table": "walls", "properties": {"name": "name"},
                       "collections": {"posts": {"entity": "Post", "column": "wall"}}},
              "Post": {"table": "posts", "properties": {"text": "body"}}}}
END

my %PAGES = (
    'k-new' => ['method="get_new_instances" table="logs" append="list"', '{{#rows}}+{{id}}:{{line}};{{/rows}}'],
    'k-posts' => [
        'method="get_collection_changes" entity="Wall" id="1" collection="posts" append="list"',
        '{{#removed}}-{{id}}:;{{/removed}}{{#added}}+{{id}}:{{text}};{{/added}}'
            . '{{#changed}}={{id}}:{{text}};{{/changed}}',
    ],
);
my %TRUTH = ('k-new' => 'SELECT id,line FROM logs', 'k-posts' => 'SELECT id,body FROM posts WHERE wall=1');

my ($db) = has_database() ? databases('pgsql') : ();
plan(skip_all => 'there is no PostgreSQL') if !$db;

# ---------------------------------------------------------------- pages

# What a page shows: {name, page, poll, rows => {id => text}, faults => [...], taken: answers that brought something}
sub opens
{
    my ($name) = @_;
    my $page = open_page("/feed/$name.shtml");
    my $self = {name => $name, page => $page, rows => {}, faults => [], taken => 0};
    shows($self, $page->html =~ m{<p>(.*)</p>}s ? $1 : '');
    $self->{poll} = $page->start_poll;
    return $self;
}

sub shows
{
    my ($self, $text) = @_;
    my $rows = $self->{rows};
    while ($text =~ /([-+=])(\d+):(\w*);/g) {
        my ($sign, $id, $line) = ($1, $2, $3);
        push @{$self->{faults}}, "$sign$id" if $sign eq '+' ? exists $rows->{$id} : !exists $rows->{$id};
        $sign eq '-' ? delete $rows->{$id} : ($rows->{$id} = $line);
    }
    return;
}

# What has come, without waiting for it.
sub takes
{
    my ($self) = @_;
    return if $self->{poll}->is_silent;
    my $answer = $self->{page}->finish_poll($self->{poll});
    for my $update (@{$answer->{updates} || []}) {
        while ($update->{body} =~ m{<turbo-stream action="(\w+)"[^>]*><template>(.*?)</template>}sg) {
            my ($action, $text) = ($1, $2);
            $self->{rows} = {} if $action eq 'update';
            shows($self, $text);
        }
        $self->{taken}++;
    }
    $self->{poll} = $self->{page}->start_poll;
    return;
}

sub lists
{
    my ($self) = @_;
    return join ' ', map { "$_:$self->{rows}{$_}" } sort { $a <=> $b } keys %{$self->{rows}};
}

sub truth
{
    my ($name) = @_;
    return join ' ', map { s/\t/:/r } $db->does('killed', "$TRUTH{$name} ORDER BY id");
}

# ---------------------------------------------------------------- writers

my $lines = 0;

sub drawn
{
    my $dice = random(100);
    my $line = 'w' . ++$lines;
    return "INSERT INTO logs(line) VALUES('$line');" if $dice < 35;
    return "INSERT INTO posts(wall,body) VALUES(1,'$line');" if $dice < 55;
    return "UPDATE posts SET body='$line' WHERE id=(SELECT max(id) FROM posts);" if $dice < 62;
    return 'DELETE FROM posts WHERE id=(SELECT min(id) FROM posts);' if $dice < 68;
    return "BEGIN; INSERT INTO logs(line) VALUES('$line'); ROLLBACK;" if $dice < 78;
    return "BEGIN; INSERT INTO logs(line) VALUES('$line'); SELECT pg_sleep(0.0$dice);"
        . " INSERT INTO posts(wall,body) VALUES(1,'$line'); COMMIT;"
        if $dice < 86;
    return 'BEGIN; SELECT pg_current_xact_id(); ROLLBACK;';
}

# Programs that write at once.
sub writers
{
    my @sessions = map { $db->session('killed') } 1 .. WRITERS;
    for my $session (@sessions) {
        $session->sends(join "\n", map { drawn() } 1 .. STATEMENTS);
    }
    return @sessions;
}

# Take ids for nothing.
use constant BURN => join "\n", ('BEGIN; SELECT pg_current_xact_id(); ROLLBACK;') x BURNS;

sub next_id { return ($_[0]->does('SELECT pg_snapshot_xmax(pg_current_snapshot())'))[0] }

# The feed writes as well: one row after the other, as long as this is called. What has no answer may be written.
my $saving;

sub saves
{
    return if $saving && $saving->is_silent;
    eval { $saving->response } if $saving;
    $saving = connect_to();
    my $args = JSON::PP::encode_json({table => 'logs', values => {line => 'f' . ++$lines}});
    my $escaped = $args =~ s/([^\w:,])/sprintf '%%%02X', ord $1/ger;
    $saving->request(GET => "/closed/call?feed=killed&method=save&args=$escaped");
    return;
}

# ---------------------------------------------------------------- a run

sub look_at_all
{
    my ($pages, $quietly) = @_;
    saves() unless $quietly;
    takes($_) for @$pages;
    return;
}

# In some rounds the disk is slow; in some PostgreSQL ends when pages have all that was written, and others take ids for nothing; in some
# httpd stands still until PostgreSQL has given as many ids as before.
sub one_round
{
    my ($pages) = @_;
    my ($slow, $quiet, $still) = map { random(2) } 1 .. 3;
    my ($wanted, $kill) = (1 + random(40), $KILLS[random(scalar @KILLS)]);
    my $before = taken($pages);
    my @children = $still ? children() : ();
    $db->stop_walwriter if $slow;
    my @sessions = writers();
    wait_until(sub { look_at_all($pages); taken($pages) >= $before + $wanted }, "pages have $wanted answers");
    my $last = comes_to_rest($pages, $quiet ? @sessions : ());
    freeze(@children);
    $db->$kill;
    $db->start;
    my @again = writers();
    my $session = $db->session('killed');
    $session->does(BURN) while $still && next_id($session) <= $last;
    kill CONT => @children;
    return $kill;
}

# These have written all, and take ids. @return the next one, when no page has more to look at
sub comes_to_rest
{
    my ($pages, @sessions) = @_;
    my $session = $db->session('killed');
    $_->answers for @sessions;
    $_->sends(BURN) for @sessions;
    wait_until(sub { look_at_all($pages, 1); !@sessions || status()->{Waiting} == @$pages }, 'all pages wait');
    return next_id($session);
}

sub taken
{
    my ($pages) = @_;
    my $taken = 0;
    $taken += $_->{taken} for @$pages;
    return $taken;
}

# All that writes has ended; then each page comes to what the database has.
sub compares
{
    my ($pages, $seed) = @_;
    $_->answers for writers();
    $saving->response;
    undef $saving;
    my %truth = map { $_ => truth($_) } keys %TRUTH;
    my $end = Time::HiRes::time() + PATIENCE / 2;
    while (Time::HiRes::time() < $end && grep { lists($_) ne $truth{$_->{name}} } @$pages) {
        takes($_) for @$pages;
        Time::HiRes::sleep(0.01);    # between two looks at a fact
    }
    my $wrong = 0;
    for my $page (@$pages) {
        my $shown = lists($page);
        next if $shown eq $truth{$page->{name}} && !@{$page->{faults}};
        $wrong++;
        my %shown = map { $_ => 1 } split ' ', $shown;
        my %wanted = map { $_ => 1 } split ' ', $truth{$page->{name}};
        my @missing = grep { !$shown{$_} } sort keys %wanted;
        my @gone = grep { !$wanted{$_} } sort keys %shown;
        diag("seed $seed: $page->{name} misses: @missing; has too: @gone; twice, or of no row: @{$page->{faults}}");
    }
    return $wrong;
}

sub run
{
    my ($seed) = @_;
    begin_random($seed);
    $db->make('killed', <<'END');
CREATE TABLE logs(id {serial},line {text});
CREATE TABLE walls(id {integer} PRIMARY KEY,name {text});
CREATE TABLE posts(id {serial},wall {integer},body {text});
INSERT INTO walls VALUES(1,'Ann');
END
    $db->watch('killed', qw(logs posts));
    my $feed = $db->feed('killed', 'killed', 'rows=5000 poll=100 timeout=5 model=' . model_file('killed', $MODEL));
    my $server = use_server(VaultTest::Server->start("killed-$seed", config => $feed . live_folder('/feed')));
    my @pages = map { opens($_) } ('k-new') x 4, ('k-posts') x 3;
    my @kills = map { one_round(\@pages) } 1 .. ROUNDS;
    my $wrong = compares(\@pages, $seed);
    is($wrong, 0, "seed $seed, @kills: " . @pages . ' pages show ' . (keys %{$pages[0]{rows}}) . ' rows, each once');
    $_->{poll}->close for @pages;
    wait_waiting(0);
    use_server(undef);
    $server->stop;
    return;
}

for my $name (sort keys %PAGES) {
    site_file("/feed/$name.html", $PAGES{$name}[1]);
    live_tag("/feed/$name", qq(<!--#feed name="killed" $PAGES{$name}[0] template="$name.html" -->));
}
tolerate(qr/VLT00020: feed: /, qr/VLT00040: feed killed, /, qr/VLT00030: method .* failed: /, qr/VLT00011: /);
$SIG{PIPE} = 'IGNORE';    # of programs whose database is gone
run($_) for @SEEDS;
finish();
