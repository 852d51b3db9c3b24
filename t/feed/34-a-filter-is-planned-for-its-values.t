# SPDX-License-Identifier: Apache-2.0
# Of PostgreSQL: few rows of a rare value are found by the index of their column, though most rows have a common one, which is better looked for in the
# order that is asked for. Also after the statement came often enough to stay prepared.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

use constant {ROWS => 20000, CALLS => 10};

my $READ = q{SELECT (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname='logs')+(SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname='logs')};

for my $db (has_database() ? databases('pgsql') : ()) {
    $db->make('planned', <<"END");
CREATE TABLE logs(id {serial},kind {integer});
CREATE INDEX logs_kind ON logs(kind);
INSERT INTO logs(kind) SELECT CASE WHEN i=@{[ROWS]} THEN 2 ELSE 1 END FROM generate_series(1,@{[ROWS]}) AS i;
ANALYZE logs;
END
    my $server = use_server(VaultTest::Server->start('planned', config => $db->feed('planned', 'planned', 'connections=1')));
    my ($before) = $db->does('planned', $READ);
    for (1 .. CALLS) {
        is_deeply(calls_feed('planned', 'filter', {table => 'logs', where => {kind => 2}, order_by => 'id', limit => 20})->{rows}, [{id => ROWS, kind => 2}], 'the rare one');
    }
    is(calls_feed('planned', 'update', {table => 'logs', where => {kind => 2}, values => {kind => 3}})->{rows}[0]{updated}, 1, '... and to write it');
    $server->stop;    # a connection that ends says what it has read
    wait_until(sub { ($db->does('planned', q{SELECT count(*) FROM pg_stat_activity WHERE datname='planned' AND backend_type='client backend'}))[0] == 1 }, 'the connections have ended');
    my ($after) = $db->does('planned', $READ);
    cmp_ok($after - $before, '<', ROWS, CALLS . ' calls read less than all rows once');
    note($after - $before . ' were read');
}
finish();
