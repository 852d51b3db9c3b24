# SPDX-License-Identifier: Apache-2.0
# On MariaDB each statement that makes a table or a trigger is for good. A table that is dropped, made again and watched again has some of its triggers
# for a moment: what these record is not told to pages of the table that was, as if nothing had happened in between. They are shown everything anew in the end.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $MODEL = <<'END';
{"entities": {"Wall": {"table": "walls", "properties": {"name": "name"}, "collections": {"posts": {"entity": "Post", "column": "wall"}}},
              "Post": {"table": "posts", "properties": {"text": "body"}}}}
END
my $POSTS = 'CREATE TABLE posts(id {integer} PRIMARY KEY,wall {integer},body {text})';

my %PAGES = (
    collection => ['method="get_collection_changes" entity="Wall" id="1" collection="posts"', '{{#added}}+{{id}}:{{text}};{{/added}}{{#removed}}-{{id}};{{/removed}}{{#changed}}={{id}}:{{text}};{{/changed}}'],
    property => ['method="get_property_changes" entity="Wall" id="1" property="name"', '{{#rows}}{{new}};{{/rows}}'],
);
for my $name (keys %PAGES) {
    my $tag = qq(<!--#feed name="again" $PAGES{$name}[0] template="again-$name.html" append="list" -->);
    site_file("/feed/again-$name.html", $PAGES{$name}[1]);
    site_file("/feed/again-$name-new.shtml", $tag);
    live_shtml("/feed/again-$name.shtml", "/feed/again-$name-new.shtml", qq(<p id="list">$tag</p>\n));
}

for my $db (has_database() ? databases('mysql') : ()) {
    $db->make('again', "CREATE TABLE walls(id {integer} PRIMARY KEY,name {text});$POSTS;INSERT INTO walls VALUES(1,'Ann');INSERT INTO posts VALUES(1,1,'old')");
    $db->watch('again', qw(walls posts));
    my $model = vars('t_logs') . '/again.json';
    open my $file, '>', $model or die "$model: $!\n";
    print $file $MODEL;
    close $file;
    use_server(VaultTest::Server->start('again', size => "ServerLimit 1\n", config => $db->feed('again', 'again', "look=100 timeout=5 model=$model") . live_folder('/feed')));
    my %page = map { $_ => open_page("/feed/again-$_.shtml") } keys %PAGES;
    my %poll = map { $_ => $page{$_}->start_poll } keys %PAGES;
    wait_waiting(2);
    my $told = sub {
        my ($name) = @_;
        my ($text) = VaultTest::Page::text($page{$name}->finish_poll($poll{$name})) =~ /<template>(.*)<\/template>/s;
        $poll{$name} = $page{$name}->start_poll;
        return $text;
    };
    my $n = 0;
    # Who watches has looked since: a row of another table says so.
    my $looks = sub {
        $n++;
        $db->does('again', "UPDATE walls SET name='Ann $n'");
        is($told->('property'), "Ann $n;", 'the watcher has looked');
        wait_waiting(2);
    };
    # Each time of another watching.
    my $statements = sub {
        my @command = (vars('top_dir') . '/vaultctl', 'watch', '--dry-run', split(/ /, $db->parameters('again')), 'posts');
        my $said = qx(@command);
        my @statements = $said =~ /(.*?);\n/sg;
        is(scalar(grep { /TRIGGER `vault_posts_/ } @statements), 3, 'the statements that vaultctl runs') || diag($said);
        return @statements;
    };
    my $session = $db->session('again');
    my $is_watched = sub { return ($db->does('again', q{SELECT COUNT(*) FROM vault_watched WHERE tbl='posts'}))[0] };

    # One that has its triggers is watched all the time.
    for my $statement ($statements->()) {
        $session->does("DELIMITER //\n$statement//\nDELIMITER ;");
        $is_watched->() or fail("watched anew, and not watched after: $statement");
    }
    like($told->('collection'), qr/^\+1:old;$/, 'a table that is watched anew: its page is shown everything anew');
    wait_waiting(2);

    $db->does('again', "DROP TABLE posts;$POSTS");
    for my $statement ($statements->()) {
        $session->does("DELIMITER //\n$statement//\nDELIMITER ;");
        next if $statement !~ /TRIGGER `vault_posts_insert`/;
        $db->does('again', q{INSERT INTO posts VALUES(1,1,'new')});
        $looks->();
        ok($poll{collection}->is_silent, 'what the first trigger of the table records is not told as one more row');
        is($is_watched->(), 0, '... since the table is not watched before it has them all');
    }
    is($told->('collection'), '+1:new;', 'then its page is shown everything anew');
    $db->does('again', q{UPDATE posts SET body='newer'});
    is($told->('collection'), '=1:newer;', '... and what happens next');
    $_->close for values %poll;
    undef $session;
    use_server(undef);
}
finish();
