# SPDX-License-Identifier: Apache-2.0
# A child of the prefork MPM ends in the middle of what it does when the server is restarted at once (apachectl restart).
# One that has written and not yet notified is no child that has left in order: every page looks at its data.
use strict;
use warnings;
use VaultTest;

plan(skip_all => 'this httpd has no prefork MPM') unless VaultTest::Server::has_mpm('prefork');
my $server = use_server(VaultTest::Server->start('between', mpm => 'prefork'));
my $page = live_page(['/test/rows?name=f19&interest=f19']);
my $poll = $page->start_poll;
wait_waiting(1);
my $writer = connect_to();
$writer->request(GET => '/test/add?name=f19&notify=f19&between=f19');
wait_arrived('f19', 1);

announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
kill HUP => $server->pid;
wait_until(sub { (grep { /resuming normal operations/ } $server->lines) > 1 }, 'the server has restarted');
ok($poll->is_closed, 'the poll is cut off');
is($page->news, "1\n", 'the page shows what the child had written when it was ended');
is(scalar(grep { /VLT00004/ } $server->lines), 1, 'a child with a poll that waits has left in order');
use_server();
finish();
