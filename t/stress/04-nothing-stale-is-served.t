# SPDX-License-Identifier: Apache-2.0
# Hundreds of readers of kept responses, kept views of live pages and methods that run once for all pages, while a writer changes what they
# show, and children are killed and replaced: what is asked for after a notify has returned is never older than that. Then the server keeps
# nothing of it all. See VaultTest::Stress for the seeds.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;
use VaultTest::Stress;

needs_parking();

use constant LOST_WITH_A_CHILD => 8192;    # bytes: the block that it was handling

# What killed children were making is gone like all else when it is dropped: leads, memory, and files.
sub is_released
{
    my ($figures, $dir) = @_;
    wait_waiting(0);
    wait_until(
        sub {
            text_of('/vault/status?cache', method => 'POST', body => 'all=1', headers => {'Content-Type' => 'application/x-www-form-urlencoded'});
            my $now = status();
            return $now->{Outputs} == 0 && $now->{OutputFiles} == 0 && !glob "$dir/kept/*";
        },
        'nothing is kept any more, neither in memory nor in files'
    );
    cmp_ok(status()->{OutputMemory}, '<=', $figures->{Kills} * LOST_WITH_A_CHILD, '  and its memory is given back');
    return;
}

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $seed = seed(5);
    diag("seed $seed");
    my $size = "StartServers 2\nServerLimit 16\nThreadLimit 64\nThreadsPerChild 64\nMinSpareThreads 64\nMaxSpareThreads 1000\n"
        . "MaxRequestWorkers 1024\nAsyncRequestWorkerFactor 60\n";
    my $figures = stale(
        'event',
        seed => $seed, seconds => $ENV{VAULT_STRESS_SECONDS} // 6, readers => $ENV{VAULT_STRESS_READERS} // 300,
        size => $size, before_stop => \&is_released,
    );
    cmp_ok($figures->{$_} // 0, '>', 0, "  $_: there were some") for qw(Cached Shared Parts Updates Writes Kills);
}
finish();
