# SPDX-License-Identifier: Apache-2.0
# Random walks through the database feed (t/unit/database_walk_test.c), which the unit tests take on SQLite: here on PostgreSQL and MariaDB, where several
# connections write at once. What is wrong is said with the seed of its walk.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

# From the first seed on, for so long, one walk at a time; and then several at once.
use constant {SEED => 1, SECONDS => 4};

my $unit = vars('top_dir') . '/unit';
plan(skip_all => 'the unit tests of the feed were not built') if !-f $unit || !has_database();
plan(skip_all => 'there is no server of databases') if !databases(qw(pgsql mysql));

for my $db (databases(qw(pgsql mysql))) {
    $db->make('walk', '');
    local @ENV{qw(VAULT_WALK_FEED VAULT_WALK_SEED VAULT_WALK_SECONDS)} = ($db->parameters('walk'), SEED, SECONDS);
    my $said = qx('$unit' database_walk 2>&1);
    my $code = $?;
    is($code, 0, $db->driver . ': pages have what the database holds') || diag($said);
    my @walks = $said =~ /(\d+) walks, 0 wrong/g;
    is(scalar @walks, 2, $db->driver . ": @walks walks");
}
finish();
