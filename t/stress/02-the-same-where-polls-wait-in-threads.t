# SPDX-License-Identifier: Apache-2.0
# As 01, where each poll waits in a thread: the worker MPM. Sometimes all threads that may wait do, and a page is told to come again.
use strict;
use warnings;
use VaultTest;
use VaultTest::Stress;

plan(skip_all => 'httpd has no MPM worker') unless VaultTest::Server::has_mpm('worker');
my $seed = seed(5);
diag("seed $seed");
my $figures = stress(
    'worker',
    seed => $seed, seconds => 5, pages => 20, interests => 110, shared => 10, tables => 2, writes => 100, violence => 2, mischief => 20,
    size => "StartServers 3\nServerLimit 16\nThreadLimit 32\nThreadsPerChild 32\nMinSpareThreads 16\nMaxSpareThreads 1000\n"
        . "MaxRequestWorkers 512\n",
    config => "VaultLongPollThreads 24\n", cache => 'On',
);
cmp_ok($figures->{Answers} // 0, '>', 50, '  after many answers');
finish();
