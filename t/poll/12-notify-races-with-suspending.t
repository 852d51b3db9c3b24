# SPDX-License-Identifier: Apache-2.0
# A change may come at any moment between a poll's request and its sleep. Barriers stop the poll at each of these
# moments, the change comes, and the poll must bring it without a further notify.
use strict;
use warnings;
use VaultTest;

needs_parking();

# While the method runs: before it asks, between its interest and its look at the data, behind its look.
for my $where (qw(before between after)) {
    my $name = "w12$where";
    open_barrier($name);
    my $page = live_page(["/test/rows?name=$name&interest=$name&$where=$name"]);
    my $poll = $page->start_poll;
    wait_waiting(1);
    text_of("/test/close?name=$name");

    text_of("/test/add?name=$name&notify=$name");
    wait_arrived($name, 1);
    text_of("/test/add?name=$name&notify=$name");
    open_barrier($name);
    my $seen = VaultTest::Page::text($page->finish_poll($poll));
    is($seen, $where eq 'after' ? "1\n" : "1\n2\n", "a change that comes $where the method's own look");
    $seen .= VaultTest::Page::text($page->poll) if $where eq 'after';
    is($seen, "1\n2\n", '  each row once, without a further notify');
    $poll = $page->start_poll;
    wait_waiting(1);
    ok($poll->is_silent, '  and then there is nothing more');
    text_of("/test/add?name=$name&notify=$name");
    is(VaultTest::Page::text($page->finish_poll($poll)), "3\n", '  until something happens');
}

# While the connection is handed over to the MPM, before and behind our hook.
for my $header (qw(X-Suspend-Before X-Suspend-After)) {
    my $name = 'w12-' . lc $header;
    my $page = live_page(["/test/rows?name=$name&interest=$name"]);
    my $poll = $page->start_poll(undef, $header => $name);
    wait_arrived($name, 1);
    text_of("/test/add?name=$name&notify=$name");
    open_barrier($name);
    is(VaultTest::Page::text($page->finish_poll($poll)), "1\n", "$header: a notify signals the eventfd though the MPM does not poll for it yet");

    text_of("/test/close?name=$name");
    $poll = $page->start_poll(undef, $header => $name);
    wait_arrived($name, 1);
    $poll->request(GET => '/test/echo?text=early');
    open_barrier($name);
    is($page->read_poll($poll)->{status}, 204, "$header: a request that comes then ends the poll");
    is($poll->response->{body}, 'early', '  and is answered');

    text_of("/test/close?name=$name");
    my $before = status();
    $poll = $page->start_poll(undef, $header => $name);
    wait_arrived($name, 1);
    $poll->reset;
    open_barrier($name);
    wait_counter('ClientsGone', $before, 1);
    wait_waiting(0);
    pass("$header: a client that goes then is noticed");

    text_of("/test/close?name=$name");
    $poll = $page->start_poll(undef, $header => $name);
    wait_arrived($name, 1);
    my $newer = $page->start_poll;
    open_barrier($name);
    is($page->read_poll($poll)->{headers}{'vault-superseded'}, '1', "$header: a newer poll that comes then supersedes");
    text_of("/test/add?name=$name&notify=$name");
    is(VaultTest::Page::text($page->finish_poll($newer)), "2\n", '  and is answered');
}

finish();
