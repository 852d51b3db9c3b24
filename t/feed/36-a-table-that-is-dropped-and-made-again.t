# SPDX-License-Identifier: Apache-2.0
# On MariaDB each statement that makes a table or a trigger is for good. A table that is dropped, made again and watched again has some of its triggers
# for a moment: what these record is not told to pages of the table that was, as if nothing had happened in between. They are shown everything anew in the end.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Wall;

my $POSTS = 'CREATE TABLE posts(id {integer} PRIMARY KEY,wall {integer},body {text})';

site_file('/feed/again-name.html', '{{#rows}}{{new}};{{/rows}}');
my %PAGES = (
    collection => wall_page('again', 1, 'append="list"'),
    property => live_tag('/feed/again-name',
        '<!--#feed name="again" method="get_property_changes" entity="Profile" id="1" property="name" template="again-name.html" append="list" -->',
        '<p id="list">%s</p>'),
);

for my $db (has_database() ? databases('mysql') : ()) {
    wall_tables($db, 'again', q{INSERT INTO posts VALUES(1,1,'old');});
    use_server(wall_server($db, 'again', 'poll=100 timeout=5', size => "ServerLimit 1\n"));
    my %page = map { $_ => open_page($PAGES{$_}) } keys %PAGES;
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
        $db->does('again', "UPDATE profiles SET name='Ann $n' WHERE id=1");
        is($told->('property'), "Ann $n;", 'the tailer has read');
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
