# SPDX-License-Identifier: Apache-2.0
# A child writes and is killed before it notifies. The row comes all the same, since the parent notifies for it.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=f02&interest=f02']);
my $n = 0;
for (1 .. 3) {
    my ($writer, $reader) = children(2);
    my $poll = $page->start_poll(connect_in($reader));
    wait_waiting(1);
    my $connection = connect_in($writer);
    $connection->request(GET => '/test/add?name=f02&notify=f02&die=1');
    ok($connection->is_closed, 'the writer has written, and is dead');
    $n++;
    is(VaultTest::Page::text($page->finish_poll($poll)), "$n\n", '  its row comes');
    wait_replaced($writer);
}

# No poll waits at that moment: the next poll sees it.
my ($writer) = children();
my $connection = connect_in($writer);
$connection->request(GET => '/test/add?name=f02&notify=f02&die=1');
ok($connection->is_closed, 'dead while no poll waits');
is(VaultTest::Page::text($page->poll), "4\n", '  the row comes with the next poll');
wait_replaced($writer);

# Dead in the middle of a method: the run counts for nothing, its page is polled elsewhere.
my $stopped = live_page(['/test/rows?name=f02&interest=f02&between=f02']);
my ($runner) = children();
my $poll = $stopped->start_poll(connect_in($runner));
wait_arrived('f02', 1);
kill KILL => $runner;
ok($poll->is_closed, 'dead in the middle of a method');
open_barrier('f02');
is(VaultTest::Page::text($stopped->poll), "1\n2\n3\n4\n", '  all rows come through another child');
# A graceful restart before httpd has seen the death would leave one child too many: see docs/operating.md.
wait_replaced($runner);

announce(qr/VLT00004:/);
finish();
