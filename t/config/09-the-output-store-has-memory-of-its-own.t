# SPDX-License-Identifier: Apache-2.0
# The store of outputs has its own memory beside VaultSharedMemory, and a folder, of which it removes its own files; both are as they were made
# until the next stop and start.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Config;

my $root = vars('t_logs') . '/kept-outputs';
mkdir $root or -d $root or die "$root: $!\n";
sub put { open my $file, '>', "$root/$_[0]" or die "$root/$_[0]: $!\n" }
sub wrong { return JSON::PP::decode_json(text_of('/vault/status?check'))->{Wrong} }

my $server = use_server(VaultTest::Server->start('no-outputs', config => "VaultCacheMemory 0\n"));
my $pages_have = status()->{HeapSize};
is_deeply(wrong(), [], 'VaultCacheMemory 0: all is well');
announce(qr/VLT00393: VaultCacheMemory, VaultCacheMemoryMax, VaultCacheRoot and VaultCacheRootSize count from the next stop and start on/);
$server->reconfigure("VaultCacheMemory 1M\n");
$server->reconfigure("VaultCacheMemory 0\n");
is_deeply(wrong(), [], '... and a restart makes no store');

put($_) for 'vault-output-1-2a.plain', 'vault-output-1-2a.gz.part', 'vault-output-of-the-admin';
my $config = "VaultCacheMemory 32M\nVaultCacheMemoryMax 2K\nVaultCacheRoot \"$root\"\nVaultCacheRootSize 1M\n";
$server = use_server(VaultTest::Server->start('outputs', config => $config));
is(status()->{HeapSize}, $pages_have, 'pages have the same memory with a store');
is_deeply(wrong(), [], '... and all is well');
is_deeply([sort map { s{.*/}{}r } glob "$root/*"], ['vault-output-of-the-admin'], 'files that an earlier server left are removed, others are not');
$server->reconfigure($config);
is_deeply(wrong(), [], 'a restart with the same values says nothing');
for my $other ('VaultCacheMemory 16M', 'VaultCacheMemoryMax 4K', 'VaultCacheRootSize 2M', 'VaultCacheRoot "' . vars('t_logs') . '"') {
    announce(qr/VLT00393/);
    $server->reconfigure("$config$other\n");
    is(get('/test/pid')->{status}, 200, "$other after a restart");
}

SKIP: {
    skip 'root may do everything', 3 unless $>;
    chmod 0500, $root;
    announce(qr/VLT00394: the user of the children may not use VaultCacheRoot \S+: outputs above VaultCacheMemoryMax are not kept/);
    use_server(VaultTest::Server->start('read-only', config => $config));
    is(get('/test/pid')->{status}, 200, 'a folder that is read-only is said');
    use_server();
    chmod 0, $root;
    starts_not($config, qr/\[vault:emerg\] .*VLT00392: the output store of VaultCacheMemory 32768K cannot be made, with VaultCacheRoot/, 'a folder that cannot be read');
    chmod 0700, $root;
}
use_server();
unlink "$root/vault-output-of-the-admin";

finish();
