# SPDX-License-Identifier: Apache-2.0
# The feed works on libdbi's connections with the client library of the database. If libdbi's module is linked with another one, that would end the
# process some day, so nothing is begun.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;

my $preload = vars('top_dir') . '/modules/preload_library.so';
my $vaultctl = vars('top_dir') . '/vaultctl';
plan(skip_all => 'nothing can be loaded in front of vaultctl here') if !-f $preload || !-x $vaultctl || ($ENV{VAULT_SANITIZER} // 'no') ne 'no';

for my $driver (map { $_->driver } databases()) {
    my $said = `LD_PRELOAD=$preload $vaultctl watch --yes driver=$driver database=/nowhere/library.db things 2>&1`;
    is($? >> 8, 1, "$driver: vaultctl ends with 1");
    like($said, qr/libdbi's module uses another client library of the database than the feed is linked with$/m, '  and a sentence');
}
finish();
