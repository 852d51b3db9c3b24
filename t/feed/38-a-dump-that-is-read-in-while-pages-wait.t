# SPDX-License-Identifier: Apache-2.0
# A dump is read in, or the table of changes is emptied, while httpd stays connected: no page is shown what its children have kept of deleted rows, and
# each row that is written from then on is told once, also when it gets the number of one that was written before.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Wall;

my $path = wall_page('dumped', 1);

# The test ends the connections of the feed, one of which may be in the midst of a statement.
tolerate(qr/VLT00020: feed: the database "dumped" cannot be used now: error 2013/);

for my $db (has_database() ? databases('mysql') : ()) {
    wall_tables($db, 'dumped');
    use_server(wall_server($db, 'dumped', 'poll=100 timeout=5', size => "ServerLimit 1\n"));
    my $page = open_page($path);
    my $poll = $page->start_poll;
    my $told = sub {
        my $text = VaultTest::Page::text($page->finish_poll($poll));
        $poll = $page->start_poll;
        return $text;
    };
    # By the feed; until the page has been told.
    my $id = 0;
    my $saves = sub {
        my ($body) = @_;
        $id++;
        my $saved = calls_feed('dumped', save => {table => 'posts', values => {id => $id, wall => 1, body => $body}});
        ok($saved->{rows}, "$body is saved") || diag($saved->{error});
        return is($told->(), "+$id:$body;", '... and told, once');
    };
    my $are_numbered = sub { wait_until(sub { !($db->does('dumped', 'SELECT COUNT(*) FROM vault_changes WHERE pos IS NULL'))[0] }, 'changes have got their numbers') };

    $saves->("kept $_") for 1 .. 3;
    $are_numbered->();
    my @names = qw(posts vault_changes vault_watched);
    $db->does('dumped', join ';', map { "CREATE TABLE dump_$_ AS SELECT * FROM $_" } @names);
    # As a dump does, which has no trigger while its rows come in: what triggers record here goes with the rest. Then ids are given again.
    my $reads_in = sub {
        my (@then) = @_;
        $db->does('dumped', join ';', 'BEGIN', (map { ("DELETE FROM $_", "INSERT INTO $_ SELECT * FROM dump_$_") } @names), @then, 'COMMIT', 'ALTER TABLE vault_changes AUTO_INCREMENT=1');
        return;
    };
    # What another program writes is told by the tailer: it has seen then what was there.
    my $is_watched = sub {
        $id++;
        $db->does('dumped', "INSERT INTO posts VALUES($id,1,'strange $id')");
        return is($told->(), "+$id:strange $id;", 'the tailer has read');
    };
    for my $numbers ('with', 'without') {
        $saves->("lost $_") for 1 .. 6;
        $is_watched->();
        $are_numbered->() if $numbers eq 'with';
        $reads_in->();
        is($told->(), '+1:kept 1;+2:kept 2;+3:kept 3;', "a dump is read in after changes $numbers numbers: the page is shown what there is");
        $id = 3;
        $saves->("other $_") for 1 .. 8;
        $is_watched->();
        $reads_in->();
        is($told->(), '+1:kept 1;+2:kept 2;+3:kept 3;', '... and once more');
        $id = 3;
    }
    # Before the tailer looks, another program writes as many rows as were lost: with numbers these would be what the tailer has seen.
    my $ends = sub { map { "KILL $_" } $db->does('dumped', q{SELECT id FROM information_schema.processlist WHERE db='dumped' AND id<>CONNECTION_ID()}) };
    for my $case (['connected' => sub { () }], ['not connected' => $ends]) {
        my ($how, $then) = @$case;
        $saves->("lost $_") for 1 .. 6;
        $is_watched->();
        $are_numbered->();
        my @others = 4 .. $id;
        $reads_in->((map { "INSERT INTO posts VALUES($_,1,'instead $_')" } @others), 'COMMIT', $then->());
        is($told->(), join('', (map { "+$_:kept $_;" } 1 .. 3), map { "+$_:instead $_;" } @others),
            "as many rows are written as were lost, and httpd stays $how: the page is shown what there is");
        $is_watched->();
        $reads_in->();
        is($told->(), '+1:kept 1;+2:kept 2;+3:kept 3;', '... and once more');
        $id = 3;
    }
    $are_numbered->();
    $db->does('dumped', 'TRUNCATE vault_changes');
    $saves->("after $_") for 1 .. 9;
    $is_watched->();
    $poll->close;
    use_server(undef);
}
finish();
