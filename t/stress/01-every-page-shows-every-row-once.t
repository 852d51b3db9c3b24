# SPDX-License-Identifier: Apache-2.0
# Writers, pages and clients of all kinds, killed children, restarts and reloads at once, by a plan from a seed: in the end each page
# shows what a fresh view shows, each row exactly once, and the server keeps nothing of them. Without the output store, and with it.
# See VaultTest::Stress for the seeds.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;
use VaultTest::Stress;

needs_parking();

# Room for more children than there are: else the event MPM of httpd 2.4.71 forgets to stop one when a child is killed just before a
# graceful restart, and as many threads as connections: else it may deal with one twice as it ends a child (docs/operating.md).
my $size = "StartServers 3\nServerLimit 16\nThreadLimit 24\nThreadsPerChild 24\nMinSpareThreads 24\nMaxSpareThreads 1000\n"
    . "MaxRequestWorkers 384\nAsyncRequestWorkerFactor 60\n";
for ([7, 'Off'], [seed(11), 'On']) {
    my ($seed, $cache) = @$_;
    diag("seed $seed, VaultCache $cache");
    my $figures = stress(
        'event',
        seed => $seed, seconds => 6, pages => 60, interests => 320, shared => 20, tables => 3, violence => 3, mischief => 40,
        size => $size, cache => $cache,
    );
    cmp_ok($figures->{Answers} // 0, '>', 100, '  after many answers');
    cmp_ok($figures->{Kills} // 0, '>', 0, '  and killed children');
    cmp_ok($figures->{Shared} // 0, $cache eq 'On' && has_database() ? '>' : '==', 0, '  and outputs that several pages have used, if they are kept');
}
finish();
