# SPDX-License-Identifier: Apache-2.0
# VaultNotifyAfter may hold for a whole site. What pages say to the module itself, by POST, changes no data and notifies no page.
use strict;
use warnings;
use VaultTest;
use VaultTest::Page qw(texts);

use_server(VaultTest::Server->start('site', config => "VaultNotifyAfter site\n"));

my $page = live_page(['/test/rows?name=c06&interest=site']);
$page->news;
my $poll = $page->start_poll;
wait_waiting(1);
my $before = status();
is(post('/vault/poll?page=' . $page->id . '&seq=' . $page->seq . '&ack=1')->{status}, 204, 'an acknowledgement');
is(post('/vault/poll?page=' . ('x' x 22) . '&seq=0')->{status}, 410, 'a poll by POST');
like(post('/vault/notify', 'interest=another')->{status}, qr/^2/, 'a notify of something else');
is(status()->{Runs}, $before->{Runs}, 'no method ran');
ok($poll->is_silent, 'the poll waits on');

is(post('/test/add?name=c06')->{status}, 200, 'a POST to the application');
like(texts($page->finish_poll($poll)), qr/1\n$/, 'has the page look');

finish();
