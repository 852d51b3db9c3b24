# SPDX-License-Identifier: Apache-2.0
# A child of the prefork MPM ends in the middle of what it does when the server is restarted at once (apachectl restart).
# One that has written and not yet notified is no child that has left in order: every page looks at its data.
use strict;
use warnings;
use VaultTest;

plan(skip_all => 'this httpd has no prefork MPM') unless VaultTest::Server::has_mpm('prefork');
my $server = use_server(VaultTest::Server->start('between', mpm => 'prefork', config => <<'END'));
<Location "/suspend/">
    SetHandler vault-suspend-test
    VaultNotifyAfter f19
</Location>
END
my $page = live_page(['/test/rows?name=f19&interest=f19']);
my $poll = $page->start_poll;
wait_waiting(1);
my $writer = connect_to();
$writer->request(GET => '/test/add?name=f19&notify=f19&between=f19');
wait_arrived('f19', 1);
my $view = connect_to();
$view->request(GET => view_of('/test/rows?name=f19&interest=f19') . '&after=f19-view');
wait_arrived('f19-view', 1);
my $pages = status()->{Pages};

announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
kill HUP => $server->pid;
wait_until(sub { (grep { /resuming normal operations/ } $server->lines) > 1 }, 'the server has restarted');
ok($poll->is_closed, 'the poll is cut off');
is($page->news, "1\n", 'the page shows what the child had written when it was ended');
is(scalar(grep { /VLT00004/ } $server->lines), 2, 'a child with a poll that waits has left in order, those in handlers have not');
is(status()->{Pages}, $pages, 'a child that ends in a signal handler takes no lock to drop the page that it was rendering');

# The end of a request that was suspended notifies (VaultNotifyAfter); not in a signal handler.
$poll = $page->start_poll;
wait_waiting(1);
my $suspended = connect_to();
$suspended->request(POST => '/suspend/f19', {}, '');
wait_waiting(2);
kill HUP => $server->pid;
wait_until(sub { (grep { /resuming normal operations/ } $server->lines) > 2 }, 'the server has restarted once more');
is(scalar(grep { /VLT00004/ } $server->lines), 3, 'a child that has left a notify to the end of its request has not left in order');
use_server();
finish();
