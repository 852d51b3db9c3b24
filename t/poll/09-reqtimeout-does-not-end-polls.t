# SPDX-License-Identifier: Apache-2.0
# mod_reqtimeout gives a client a second for its request and a second for its body: a poll that waits longer is not slow
# at either.
use strict;
use warnings;
use VaultTest;

if (!have_module('reqtimeout')) {
    plan(skip_all => 'mod_reqtimeout is not there');
}
my %there = (vhost => 'vault_reqtimeout');
my $page = live_page(['/test/rows?name=w09&interest=w09'], %there, poll_path => '/slow/poll');
my $connection = connect_to(%there);
my $before = status();
is($page->poll($connection)->{status}, 204, 'a poll of three seconds ends when its time is up');
is(status()->{Timeouts} - $before->{Timeouts}, 1, '  by its own time, not by that of mod_reqtimeout');

$page->{with}{poll_path} = '/vault/poll';    # however long the test takes to see that it waits
$page->start_poll($connection);
wait_waiting(1);
text_of('/test/add?name=w09&notify=w09');
is(VaultTest::Page::text($page->finish_poll($connection)), "1\n", 'the next one on its connection is answered');

my $form = 'page=' . $page->id . '&seq=' . $page->seq;
$connection->request(POST => '/slow/poll', {'Content-Type' => 'application/x-www-form-urlencoded'}, $form);
is($page->read_poll($connection)->{status}, 204, 'one by POST may wait as long');
$connection->request(GET => '/test/echo?text=on');
is($connection->response->{body}, 'on', 'and the connection is good afterwards');

# mod_reqtimeout is awake all the same.
my $slow = connect_to(%there);
$slow->send_raw("GET /slow/poll HTTP/1.1\r\nHost: loc");
like($slow->read_to_end, qr{^HTTP/1\.[01] 408 |^$}, 'a request that does not come is given up');

finish();
