# SPDX-License-Identifier: Apache-2.0
# A writer of the feed has the tailer read, and PostgreSQL tells of the same commit: that is not read again. What another program commits, is.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

use constant WRITES => 40;

# The reads of the tailer that the log of the database has.
sub reads
{
    my ($db) = @_;
    open my $file, '<', $db->log or die $db->log . ": $!\n";
    return scalar grep { /(?:execute \S+|statement): SELECT .*FROM vault_watched AS p\)\)/ } readline $file;
}

for my $db (has_database() ? databases('pgsql') : ()) {
    $db->make('once', 'CREATE TABLE notes(id {serial},body {text});');
    $db->watch('once', 'notes');
    $db->does('once', "ALTER DATABASE once SET log_statement='all'; ALTER DATABASE once SET log_min_messages='log'");
    use_server(VaultTest::Server->start('once', size => "ServerLimit 1\n", config => $db->feed('kept', 'once', 'poll=60000')));

    wait_tailer('kept');
    my $before = reads($db);
    for my $write (1 .. WRITES) {
        calls_feed('kept', 'save', {table => 'notes', values => {body => "note $write"}});
    }
    my $after = reads($db);
    cmp_ok($after - $before, '>=', WRITES / 2, 'the tailer reads what the feed writes');

    # On a loaded machine some notifications come after the next write has begun; those are read. Without the rule all are: 2 * WRITES.
    cmp_ok($after - $before, '<', 1.9 * WRITES, '  once, for all that PostgreSQL tells of it in time');

    $before = reads($db);
    $db->does('once', "INSERT INTO notes(body) VALUES('by another program')");
    wait_until(sub { reads($db) > $before }, 'it reads what another program writes, long before it would ask');
    $db->does('once', 'ALTER DATABASE once RESET ALL');
}
finish();
