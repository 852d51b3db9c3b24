# SPDX-License-Identifier: Apache-2.0
# VaultPageStore at a Redis that wants a password: in the address, with or without a user, or from a file. A wrong one, and none: the log says so, and
# shows no password; the server works alone.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Config;
use VaultTest::Redis;

my $module = vars('top_dir') . '/modules/mod_vault_redis.so';
plan skip_all => 'the module for Redis was not built' unless -f $module;
my $redis = VaultTest::Redis->start('password', password => 'open-sesame') or plan skip_all => 'redis-server is not installed';
$redis->ask(qw(ACL SETUSER vault on >s@lt:%y ~* +@all));

sub file
{
    my ($name, $text, $mode) = @_;
    my $path = vars('t_logs') . "/$name";
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file;
    chmod $mode // 0600, $path;
    return $path;
}
my $right = file('redis-right', "open-sesame\n");
my $wrong = file('redis-wrong', "close-sesame\n");
my $vault = file('redis-vault', "s\@lt:%y\n");
my $load = qq(LoadModule vault_redis_module "$module"\n);
my $secret = "'a text that only these servers know'";
my $port = $redis->port;

refuses("${load}VaultPageStore redis://a:b\@c $secret\nVaultPageStorePasswordFile $right\n", 'VaultPageStore redis://***@c: one password is accepted, in the address or in the file of VaultPageStorePasswordFile', 'two passwords');
refuses("${load}VaultPageStorePasswordFile $right\nVaultPageStore redis://a:b\@c $secret\n", qr/^VaultPageStore redis:\/\/\*\*\*\@c: one password is accepted/, '... in the other order');
refuses("${load}VaultPageStore redis://a:\@c $secret\n", qr/USER:PASSWORD\@HOST:PORT is accepted/, 'an empty password');
refuses("${load}VaultPageStore redis://a:%zz\@c $secret\n", qr/USER:PASSWORD\@HOST:PORT is accepted/, 'an escape that is none');
refuses("${load}VaultPageStore redis://a:b\@c/1 $secret\n", qr/USER:PASSWORD\@HOST:PORT is accepted/, 'a path');
my $open = file('redis-open', "open-sesame\n", 0644);
refuses("VaultPageStorePasswordFile $open\n", "VaultPageStorePasswordFile $open: other users can read or write the file; chmod o= makes the password a secret", 'a file that all can read');
my $empty = file('redis-empty', "\n");
refuses("VaultPageStorePasswordFile $empty\n", qr/^VaultPageStorePasswordFile \Q$empty\E: a password of 1 to 512 printable ASCII characters/, 'an empty file');

# [name, what VaultPageStore has, the file, does it work?]
my @rows = (
    ['default', "redis://:open-sesame\@127.0.0.1:$port", '', 1],
    ['file', "redis:127.0.0.1:$port", $right, 1],
    ['user', "redis://vault:s%40lt%3A%25y\@127.0.0.1:$port", '', 1],
    ['user-file', "redis://vault\@127.0.0.1:$port", $vault, 1],
    ['wrong', "redis://vault:guess\@127.0.0.1:$port", '', 0],
    ['wrong-file', "redis://127.0.0.1:$port", $wrong, 0],
    ['user-alone', "redis://vault\@127.0.0.1:$port", '', 0],
    ['none', "redis:127.0.0.1:$port", '', 0],
);
announce(qr/VLT00455/);
for my $row (@rows) {
    my ($name, $store, $file, $works) = @$row;
    my $config = "${load}VaultPageStore $store $secret\n" . ($file ? "VaultPageStorePasswordFile $file\n" : '');
    my $server = VaultTest::Server->start("pagestore-$name", config => $config);
    my $keys = $redis->keys;
    on($server, sub {
        my $page = live_page(["/test/rows?name=rows&interest=rows"]);
        text_of('/test/add?name=rows&notify=rows');
        is(VaultTest::Page::text($page->poll), "1\n", "$name: a page works");
    });
    is($redis->keys > $keys ? 1 : 0, $works, $works ? '... and is in Redis' : '... but is not in Redis');
    is(said($server, 'Permission denied: .*VLT00455: VaultPageStore redis:\S*127.0.0.1:\d+ does not answer') ? 0 : 1, $works, '... and the log says whether Redis let the server in');
    is(scalar(said($server, 'sesame|guess|s@lt|s%40')), 0, '... without a password');
}
finish();
