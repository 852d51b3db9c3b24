# SPDX-License-Identifier: Apache-2.0
# Many graceful restarts, one after the other, under hundreds of waiting polls and a writer: each page is told everything once, by answers,
# 204 and closed connections alone, and no page is loaded again. The children of each generation are gone soon after the next has begun.
use strict;
use warnings;
use List::Util qw(max);
use Time::HiRes ();
use VaultTest;
use VaultTest::Stress;

needs_parking();

use constant RESTARTS => 8;
# The children have many threads, since the event MPM of httpd 2.4.71 may crash when it restarts and more connections have just become
# ready than a child has threads (docs/operating.md).
my ($seed, @took) = (seed(3));
diag("seed $seed");

sub storm
{
    for my $restart (1 .. RESTARTS) {
        my @old = children();
        my $begin = Time::HiRes::time();
        graceful_restart();
        wait_until(sub { !grep { kill 0, $_ } @old }, "restart $restart: the old children are gone");
        push @took, Time::HiRes::time() - $begin;
    }
    return;
}

my $figures = stress(
    'event',
    seed => $seed, seconds => 6, pages => 300, interests => 620, shared => 20, tables => 2, violence => 0, mischief => 0, writes => 60,
    size => "StartServers 3\nServerLimit 16\nThreadLimit 64\nThreadsPerChild 64\nMinSpareThreads 64\nMaxSpareThreads 1000\n"
        . "MaxRequestWorkers 1024\nAsyncRequestWorkerFactor 60\n",
    meanwhile => \&storm, cache => 'On',
);
is(scalar @took, RESTARTS, 'all restarts were done');
note(sprintf 'the old children were gone after %s s', join ', ', map { sprintf '%.2f', $_ } @took);
cmp_ok(max(@took), '<', PATIENCE / 2, '  long before any poll would have ended by itself');
is($figures->{PagesGone}, 0, 'no page was forgotten');
finish();
