# SPDX-License-Identifier: Apache-2.0
# An engine accepts the connection and refuses what it is for, as with wrong permissions. It is tried again once a second, not at once: each
# time costs lines in the log, and a check by every page.
use strict;
use warnings;
use VaultTest;
use VaultTest::Nats;
use Time::HiRes qw(time);

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $user = '{ user: vault, password: secret, permissions: { subscribe: { deny: "vault.all" } } }';
my $nats = VaultTest::Nats->start('refuses', config => "authorization { users: [ $user ] }\n");
my $module = vars('top_dir') . '/modules/mod_vault_nats.so';
my $url = "nats://vault:secret\@127.0.0.1:$nats->{port}";
my $begun = time;
my $server = use_server(VaultTest::Server->start('cluster-refuses', config => qq(LoadModule vault_nats_module "$module"\nVaultCluster $url\n)));
announce(qr/VLT00494/);
sub ups { return scalar grep { /VLT00493/ } $server->lines }
wait_until(sub { ups() >= 4 }, 'four connections');
my $ups = ups();
my $took = time - $begun;
ok($took > ($ups - 2), "$ups connections took $took s: one a second");
finish();
