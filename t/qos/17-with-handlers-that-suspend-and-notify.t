# SPDX-License-Identifier: Apache-2.0
# A module that suspends its requests does not notice that they queued before: it is not resumed before it has suspended, and keeps its
# place while it waits. VaultNotifyAfter notifies once a request has been handled, not when it queues or is refused.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;
use VaultTest::Guest;

my %plain = (suspended => 0, timeout => 0, calls => '', wrote => '');
my @guests = map { my $g = VaultTest::Guest->start("q17-$_->[0]", path => '/qos/suspend/x', %{$_->[1]}); wait_gate('/qos/suspend/', Running => 1, Queued => $_->[2]); $g }
    ['first', {calls => 'resume'}, 0], ['second', {calls => 'resume'}, 1], ['once', {runs => 1}, 2], ['timeout', {timeout => 300}, 3], ['early', {early => 'resume'}, 4];
is(gate('/qos/suspend/')->{Queued}, 4, 'a request that its module has suspended keeps its place');
open_barrier('q17-first');
is_deeply($guests[0]->facts, {%plain, runs => 2, resumed => 1, suspends => 'ok'}, '  until it is resumed and has returned');
wait_gate('/qos/suspend/', Running => 1, Queued => 3);
open_barrier('q17-second');
is_deeply($guests[1]->facts, {%plain, runs => 2, resumed => 1, suspends => 'ok'}, 'one that queued, and then was suspended and resumed');
is_deeply($guests[2]->facts, {%plain, runs => 1, resumed => 0, suspends => ''}, 'one that queued, and is not suspended by its module: not resumed either');
is_deeply($guests[3]->facts, {%plain, runs => 2, resumed => 0, timeout => 1, suspends => 'ok'}, 'one whose time is up in its module');
is_deeply($guests[4]->facts, {%plain, runs => 2, resumed => 1, suspends => 'ok', calls => 'ok'}, 'one that is resumed before it returns');
wait_gate('/qos/suspend/', Running => 0, Queued => 0);

my $gone = VaultTest::Guest->start('q17-gone', path => '/qos/suspend/x', calls => 'resume');
wait_gate('/qos/suspend/', Running => 1);
my $next = VaultTest::Guest->start('q17-next', path => '/qos/suspend/x', runs => 1);
wait_gate('/qos/suspend/', Running => 1, Queued => 1);
$gone->connection->reset;
is($next->facts->{runs}, 1, 'a client that goes while its module has it suspended leaves its place to the next');
open_barrier('q17-gone');
wait_gate('/qos/suspend/', Running => 0, Queued => 0);

my $page = live_page(['/test/rows?name=q17&interest=q17-after']);
my $first = held('/qos/after/', 'q17-after');
wait_gate('/qos/after/', Running => 1);
my $post = connect_to();
$post->request(POST => '/qos/after/add?name=q17', {}, '');
wait_gate('/qos/after/', Queued => 1);
my $poll = $page->start_poll;
wait_until(sub { status()->{Waiting} == 2 }, 'a poll waits, and the POST queues');
ok($poll->is_silent, 'a POST that queues has notified no page');
open_barrier('q17-after');
is($first->response->{status}, 200, 'the one before it');
is($post->response->{body}, 1, 'the POST is handled');
is(VaultTest::Page::text($page->finish_poll($poll)), "1\n", '  and the page is notified');

finish();
