# SPDX-License-Identifier: Apache-2.0
# A place becomes free, and is given to a request that stands in the queue already but does not wait yet: the word of it comes too early, and must
# not be lost. Each request here would be refused after a minute; the test does not wait for so long.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

my $preload = vars('top_dir') . '/modules/preload_stop.so';
my $stop = vars('t_logs') . "/stop-$$";
my $can_stop = -f $preload && ($ENV{VAULT_SANITIZER} // 'no') eq 'no';    # a sanitizer must be loaded first itself

# One child: the request that frees the place tells the waker of the child, which tells others in the order in which it was told.
use_server(VaultTest::Server->start('early',
    config => qq(<Location "/one/">\nSetHandler vault-test\nVaultQosLimit 1\nVaultQosTimeout 120\n</Location>\n),
    env => $can_stop ? {LD_PRELOAD => $preload, VAULT_TEST_STOP => $stop} : {}));
my $page = live_page(['/test/rows?name=q18&interest=q18']);
my $rows = 0;

# The one that is inside leaves; the next in the queue is let in, and the waker has been told so and has done what it can.
sub free_place
{
    my ($barrier, $inside) = @_;
    my $poll = $page->start_poll;
    wait_until(sub { status()->{Waiting} >= 1 }, 'a poll waits');
    open_barrier($barrier);
    is($inside->response->{status}, 200, 'the one that was inside is answered');
    wait_gate('/one/', Running => 1, Queued => 0);
    text_of('/test/add?name=q18&notify=q18');
    is(VaultTest::Page::text($page->finish_poll($poll)), ++$rows . "\n", '  and its place is given away, which the waker has heard');
    return;
}

# It is in the queue, and nothing of it is known in this child.
SKIP: {
    skip 'nothing can be loaded in front of httpd here', 3 unless $can_stop;
    my $inside = held('/one/', 'q18-a');
    wait_gate('/one/', Running => 1);
    open my $file, '>', $stop or die "$stop: $!\n";
    close $file;
    my $next = connect_to();
    $next->request(GET => '/one/echo?text=in');
    wait_until(sub { -f "$stop.reached" }, 'a request stops behind the door of the queue');
    wait_gate('/one/', Running => 1, Queued => 1);
    free_place('q18-a', $inside);
    unlink $stop;
    is($next->response->{body}, 'in', 'it finds that it is in, when it looks');
}

# It has been listed, and its connection is not where it can be rung yet; or just is, but the MPM has not polled it.
SKIP: {
    skip 'polls wait in threads', 6 unless have_parking();
    for my $where ('Before', 'After') {
        my $inside = held('/one/', "q18-$where");
        wait_gate('/one/', Running => 1);
        my $next = connect_to();
        $next->request(GET => '/one/echo?text=in', {"X-Suspend-$where" => "q18-suspend-$where"});
        wait_arrived("q18-suspend-$where", 1);
        free_place("q18-$where", $inside);
        open_barrier("q18-suspend-$where");
        is($next->response->{body}, 'in', "let in \l$where its connection was suspended");
    }
}
wait_gate('/one/', Running => 0, Queued => 0);

finish();
