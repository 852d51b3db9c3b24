# SPDX-License-Identifier: Apache-2.0
# vaultctl unwatch forgets tables that were dropped, renamed, or have lost their key meanwhile; and what watches anew on MariaDB, where each statement
# is for good, never leaves a table without a trigger.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $vaultctl = vars('top_dir') . '/vaultctl';

sub vaultctl
{
    my ($db, $command, @words) = @_;
    my $said = join ' ', map { "'$_'" } $vaultctl, $command, split(/ /, $db->parameters('gone')), @words;
    $said = qx($said 2>&1);
    return ($? >> 8, $said);
}

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    $db->make('gone', join '', map { "CREATE TABLE $_(id {integer} NOT NULL,v {text},PRIMARY KEY(id));" } qw(dropped renamed keyless kept));
    my ($code, $said) = vaultctl($db, 'unwatch', '-y', 'kept');
    is("$code $said", "1 vaultctl: kept: the table is not watched\n", "$driver: nothing was ever watched");
    ($code, $said) = vaultctl($db, 'watch', '-y', qw(dropped renamed keyless kept));
    is($code, 0, "$driver: watched") || diag($said);
    $db->does('gone', 'DROP TABLE dropped');
    $db->does('gone', 'ALTER TABLE renamed RENAME TO other');
    $db->does('gone', $driver eq 'pgsql' ? 'ALTER TABLE keyless DROP CONSTRAINT keyless_pkey' : 'ALTER TABLE keyless DROP PRIMARY KEY') if $db->is_server;
    ($code, $said) = vaultctl($db, 'unwatch', '-y', qw(dropped renamed keyless));
    is("$code $said", "0 dropped: watched no more\nrenamed: watched no more\nkeyless: watched no more\n", "$driver: unwatch forgets them");
    is((vaultctl($db, 'watched'))[1], "kept\n", '... and the other is still watched');
    $db->does('gone', "INSERT INTO other VALUES(1,'x')");
    $db->does('gone', "INSERT INTO keyless VALUES(1,'x')");
    $db->does('gone', "INSERT INTO kept VALUES(1,'x')");
    # Of PostgreSQL a trigger goes with its table, by whatever name.
    is(($db->does('gone', q{SELECT count(*) FROM vault_changes WHERE op<>'W'}))[0], $driver eq 'pgsql' ? 2 : 1, '... it alone is recorded');
    ($code, $said) = vaultctl($db, 'unwatch', '-y', 'dropped');
    is("$code $said", "1 vaultctl: dropped: the table is not watched\n", '... and what is forgotten is not watched');
    ($code, $said) = vaultctl($db, 'unwatch', '-y', '');
    is("$code $said", "1 vaultctl: : the table is not watched\n", '... nor is a table without a name');
    ($code, $said) = vaultctl($db, 'watch', '--dry-run', 'kept');
    like($said, $driver eq 'mysql' ? qr/^(?!.*DROP TRIGGER).*CREATE OR REPLACE TRIGGER.*REPLACE INTO vault_watched/s : qr/DROP TRIGGER.*CREATE TRIGGER/s, "$driver: triggers are replaced");
    ($code, $said) = vaultctl($db, 'watch', '-y', 'kept');
    is($code, 0, "$driver: watched anew") || diag($said);
    next if $driver ne 'mysql';
    # Changes are numbered from here on, and pages go by these numbers.
    $db->does('gone', 'UPDATE vault_changes SET pos=5000 LIMIT 1; DROP TABLE vault_watched');
    ($code, $said) = vaultctl($db, 'watch', '-y', 'kept');
    is($code, 0, "$driver: watched again, when vault_watched was dropped") || diag($said);
    is(($db->does('gone', q{SELECT pruned FROM vault_watched WHERE tbl=''}))[0], 6000, '... new changes come after those that there are, and after all positions');
}
finish();
