# SPDX-License-Identifier: Apache-2.0
# On PostgreSQL a save reads in one statement what it has recorded: where the row that was given is all of it, and where that cannot be
# known, as a key of the database is compared in the commit only.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Wall;

use constant SAVES => 10;

for my $db (has_database() ? databases('pgsql') : ()) {
    for my $case (['once', '', 'its row'], ['later', 'DEFERRABLE', 'more than its row']) {
        my ($name, $key, $what) = @$case;
        my $next = 1;
        wall_tables($db, $name, '', key => $key);
        $db->does($name, "ALTER DATABASE $name SET log_statement='all'; ALTER DATABASE $name SET log_min_messages=log");
        use_server(wall_server($db, $name, 'look=50 timeout=20'));
        my $connection = connect_to();    # to one child, which has one to the database
        my $save = sub { calls_feed($name, 'save', {table => 'posts', values => {id => $next++, wall => 1, body => 'x'}}, on => $connection) };
        # The server logs a statement before it runs it.
        my $reads = sub {
            open my $log, '<', $db->log or die $db->log . ": $!\n";
            return scalar grep { /"vault_watched" AS w JOIN/ && /pg_current_xact_id/ } readline $log;
        };
        my $is_read = sub { my $before = $reads->(); $save->(); return $reads->() > $before };
        wait_until($is_read, 'somebody watches');
        $save->();
        my $before = $reads->();
        $save->() for 1 .. SAVES;
        is($reads->() - $before, SAVES, "saves that may have recorded $what");
        $connection->close;
        use_server(undef);
    }
}
finish();
