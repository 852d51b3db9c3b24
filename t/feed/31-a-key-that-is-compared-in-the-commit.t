# SPDX-License-Identifier: Apache-2.0
# A key of PostgreSQL that is compared in the commit: a row is inserted before another transaction has deleted the one with its key, and waits for
# that at the end. A page is told of both in their order, and goes on to show the row.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $MODEL = <<'END';
{"entities": {"Profile": {"table": "profiles", "properties": {"name": "name"},
                          "collections": {"posts": {"entity": "WallPost", "column": "wall"}}},
              "WallPost": {"table": "posts", "properties": {"text": "body"}}}}
END

my $TABLES = <<'END';
CREATE TABLE profiles(id {integer} PRIMARY KEY,name {text});
CREATE TABLE posts(id {integer} PRIMARY KEY DEFERRABLE INITIALLY DEFERRED,wall {integer},body {text});
INSERT INTO profiles VALUES(1,'Ann');
INSERT INTO posts VALUES(5,1,'old');
END

site_file('/feed/late.html', '{{#added}}+{{id}}:{{text}};{{/added}}{{#removed}}-{{id}}:{{text}};{{/removed}}{{#changed}}={{id}}:{{text}};{{/changed}}');
my $tag = '<!--#feed name="late" method="get_collection_changes" entity="Profile" id="1" collection="posts" template="late.html" -->';
site_file('/feed/late-new.shtml', $tag);
live_shtml('/feed/late.shtml', '/feed/late-new.shtml', "<p>$tag</p>\n");

for my $db (has_database() ? databases('pgsql') : ()) {
    $db->make('late', $TABLES);
    $db->watch('late', 'posts', 'profiles');
    my $model = vars('t_logs') . '/late.json';
    open my $file, '>', $model or die "$model: $!\n";
    print $file $MODEL;
    close $file;
    use_server(VaultTest::Server->start('late', config => $db->feed('late', 'late', "look=50 timeout=20 model=$model") . live_folder('/feed')));

    my %has;
    my $apply = sub {
        my ($text) = @_;
        while ($text =~ /([-+=])(\d+):([^;]*);/g) {
            $has{$2} = $3;
            delete $has{$2} if $1 eq '-';
        }
    };
    my $page = open_page('/feed/late.shtml');
    $apply->($page->html);
    is($has{5}, 'old', 'the first view');
    my $poll = $page->start_poll;
    # What the feed has written before: pages have a place that its next write can be joined to.
    calls_feed('late', 'save', {table => 'posts', values => {id => 1, wall => 1, body => 'one'}});
    $apply->(VaultTest::Page::text($page->finish_poll($poll)));
    is($has{1}, 'one', 'a write of the feed');

    my $other = $db->session('late');
    $other->does('BEGIN; DELETE FROM posts WHERE id=5');
    my $writer = connect_to();
    $writer->request(GET => '/closed/call?feed=late&method=save&args=%7B%22table%22:%22posts%22,%22values%22:%7B%22id%22:5,%22wall%22:1,%22body%22:%22new%22%7D%7D');
    wait_until(sub { ($db->does('late', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type='Lock' AND query='COMMIT'}))[0] }, 'the writer waits in its commit');
    $poll = $page->start_poll;
    wait_waiting(1);
    $other->does('COMMIT');
    like($writer->response->{body}, qr/"rows"/, 'the row is saved');
    calls_feed('late', 'save', {table => 'posts', values => {id => 9, wall => 1, body => 'last'}});
    while (!$has{9}) {
        my $text = VaultTest::Page::text($page->finish_poll($poll));
        last if $text eq '';
        $apply->($text);
        $poll = $page->start_poll;
    }
    is(join(' ', map { "$_:$has{$_}" } sort keys %has), '1:one 5:new 9:last', 'the page shows what the table has');
    $poll->close;
    use_server(undef);
}
finish();
