# SPDX-License-Identifier: Apache-2.0
# PostgreSQL tells the tailer of other programs' commits: also of one that comes while the tailer waits for another answer, and
# while a session holds the lock that LISTEN takes.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Wall;

my $path = wall_page('waits', 1);

for my $db (has_database() ? databases('pgsql') : ()) {
    wall_tables($db, 'waits');
    $db->does('waits', q{INSERT INTO vault_results VALUES('old','[]',0)});
    my $strange = $db->session('waits');
    $strange->does('SELECT pg_advisory_lock(119200164373870)');
    my $waits = sub {
        my ($query) = @_;
        return ($db->does('waits', "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type='Lock' AND query LIKE '$query'"))[0];
    };
    my $other = $db->session('waits');
    $other->does('BEGIN; SELECT digest FROM vault_results FOR UPDATE');
    use_server(wall_server($db, 'waits', 'poll=60000 timeout=20'));

    my %has;
    my $page = open_page($path);
    wall_apply(\%has, $page->html);
    my $poll = $page->start_poll;
    my $told = sub {
        wall_apply(\%has, VaultTest::Page::text($page->finish_poll($poll)));
        $poll = $page->start_poll;
        return wall_shown(\%has);
    };
    wait_waiting(1);
    wait_until(sub { $waits->('DELETE FROM%vault_results%') }, 'the tailer waits to remove what is old');
    $db->does('waits', q{INSERT INTO posts VALUES(1,1,'hello')});
    $other->does('COMMIT');
    is($told->(), '1:hello', 'what was committed meanwhile is shown at once');
    $db->does('waits', q{INSERT INTO posts VALUES(2,1,'hi')});
    is($told->(), '1:hello 2:hi', 'and what comes later');
    calls_feed('waits', 'save', {table => 'posts', values => {id => 3, wall => 1, body => 'own'}});
    is($told->(), '1:hello 2:hi 3:own', 'and a write of the feed');
    $poll->close;
    undef $strange;
    undef $other;
    use_server(undef);
}
finish();
