# SPDX-License-Identifier: Apache-2.0
# A value that is not accepted stops the start with one sentence: the directive, the value, what is accepted.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;

accepts('', 'the module alone');

# Directive, smallest and largest value.
my @numbers = (
    ['VaultLongPollTimeout', 1, 600], ['VaultStreamTimeout', 0, 86400], ['VaultMaxMethods', 1, 100], ['VaultMaxPages', 1, 1000000], ['VaultMaxPagesPerClient', 1, 1000000], ['VaultMaxWaitingPerClient', 1, 1000000], ['VaultMaxInterestsPerClient', 1, 10000000],
    ['VaultMaxInterests', 16, 10000000], ['VaultPageTimeout', 1, 86400], ['VaultMaxWaiting', 1, 1000000],
    ['VaultLongPollThreads', 0, 10000], ['VaultMaxPageInterests', 1, 1024], ['VaultNotifyRate', 0, 1000000], ['VaultLongPollRuns', 1, 10000],
);
accepts(join('', map { "$_->[0] $_->[1]\n" } @numbers), 'the smallest values');
accepts(join('', map { "$_->[0] $_->[2]\n" } @numbers), 'the largest values');
for my $number (@numbers) {
    my ($name, $min, $max) = @$number;
    my $range = "a whole number from $min to $max is accepted";
    for my $value ($min - 1, $max + 1, 'many', '5s', '0x10', '1.5', '99999999999999999999') {
        refuses("$name $value\n", qr/^\Q$name $value: $range\E$/, "$name $value");
    }
    refuses("$name \"\"\n", qr/^\Q$name takes one argument\E/, "$name with nothing");
    refuses("$name\n", qr/^\Q$name takes one argument\E/, "$name without a value");
}

my @sizes = (['VaultMaxOutput', 1024, 1 << 30], ['VaultMaxAnswer', 1024, 1 << 30], ['VaultMaxUnsentPerClient', 64 << 10, 64 << 30], ['VaultSharedMemory', 1 << 20, 64 << 30], ['VaultMaxMemoryPerClient', 1 << 16, 64 << 30], ['VaultMaxPollBody', 4096, 1 << 20],
    ['VaultCacheMemory', 1 << 20, 64 << 30, '; or 0, to keep no outputs'], ['VaultCacheMemoryMax', 1 << 10, 256 << 10], ['VaultCacheRootSize', 1 << 20, 64 << 30]);
accepts("VaultMaxOutput 1024\nVaultMaxAnswer 1K\nVaultMaxUnsentPerClient 64K\nVaultSharedMemory 1M\nVaultMaxPollBody 4K\nVaultCacheMemory 1M\nVaultCacheMemoryMax 1K\nVaultCacheRootSize 1M\n", 'the smallest sizes');
accepts("VaultMaxOutput 1G\nVaultMaxAnswer 1G\nVaultMaxUnsentPerClient 64G\nVaultSharedMemory 64G\nVaultMaxPollBody 1M\nVaultCacheMemory 64G\nVaultCacheMemoryMax 256K\nVaultCacheRootSize 64G\n", 'the largest sizes');
accepts("VaultMaxOutput 64k\nVaultSharedMemory 2097152\n", 'small letters, and bytes');
accepts("VaultCacheMemory 0\n", 'no output store');
for my $size (@sizes) {
    my ($name, $min, $max, $or) = (@$size, '');
    my $range = "a size from $min to $max bytes is accepted, as a whole number with or without K, M or G$or";
    for my $value ($min - 1, $max + 1, '65G', '8589934593G', '1T', '1MB', '-1', 'M', '1.5M', 'big') {
        refuses("$name $value\n", qr/^\Q$name $value: $range\E$/, "$name $value");
    }
}

my $log = vars('t_logs');
accepts("VaultCacheRoot \"$log\"\n", 'a folder');
refuses("VaultCacheRoot $_\n", qr{^VaultCacheRoot \Q$_\E: an existing folder is accepted$}, "VaultCacheRoot $_") for '/nonexistent/folder', '/etc/passwd';

for my $path ('vault', '/', '/vault/', '/va ult', '/vault?x', '/va"ult', "/va'ult", '/<vault>', '/vault#x', '/a&b', 'http://x/vault') {
    (my $quoted = $path) =~ s/"/\\"/g;
    refuses("VaultPath \"$quoted\"\n", qr/^VaultPath \Q$path\E: a URL path is accepted that begins with a slash, does not end with one/,
        "VaultPath \"$path\"");
}
accepts("VaultPath /a/b-c_d.e~f\n", 'a long path');

for my $origin ('www.example.org', 'https://', 'https://www.example.org/', 'https://www.example.org/a', 'ftp://example.org', 'https://u@example.org',
    'https://example.org:', 'https://example.org:x', 'https://example.org?x', 'null', 'https://*.example.org', 'https://a,b', "https://a b") {
    refuses("VaultLongPollOrigin \"$origin\"\n", qr/^VaultLongPollOrigin \Q$origin\E: an origin is accepted, as https:/, "VaultLongPollOrigin $origin");
}
accepts("VaultLongPollOrigin https://www.example.org http://localhost:8080 https://[::1]:8443 *\nVaultLongPollOrigin Off\n", 'origins');

refuses("VaultLongPoll maybe\n", 'VaultLongPoll must be On or Off', 'VaultLongPoll maybe');

finish();
