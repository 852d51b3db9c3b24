# SPDX-License-Identifier: Apache-2.0
# A key of PostgreSQL that is compared in the commit: a row is inserted before another transaction has deleted the one with its key, and waits for
# that at the end. A page is told of both in their order, and goes on to show the row.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Wall;

my $path = wall_page('late', 1);

for my $db (has_database() ? databases('pgsql') : ()) {
    wall_tables($db, 'late', "INSERT INTO posts VALUES(5,1,'old');", key => 'DEFERRABLE INITIALLY DEFERRED');
    use_server(wall_server($db, 'late', 'poll=50 timeout=20'));

    my %has;
    my $page = open_page($path);
    wall_apply(\%has, $page->html);
    is($has{5}, 'old', 'the first view');
    my $poll = $page->start_poll;
    # What the feed has written before: pages have a position that its next write can be joined to.
    calls_feed('late', 'save', {table => 'posts', values => {id => 1, wall => 1, body => 'one'}});
    wall_apply(\%has, VaultTest::Page::text($page->finish_poll($poll)));
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
        wall_apply(\%has, $text);
        $poll = $page->start_poll;
    }
    is(wall_shown(\%has), '1:one 5:new 9:last', 'the page shows what the table has');
    $poll->close;
    use_server(undef);
}
finish();
