# SPDX-License-Identifier: Apache-2.0
# A page that nobody polls for VaultPageTimeout is forgotten: 410 to whoever comes later. One whose poll waits is not
# idle.
use strict;
use warnings;
use VaultTest;

use_server(VaultTest::Server->start('idle', config => "VaultPageTimeout 1\n"));
my @methods = ('/test/rows?name=f10&interest=f10');
my $held = live_page(\@methods);
my $idle = live_page(\@methods);
text_of('/test/add?name=f10');
$_->poll for $held, $idle;

my $before = status();
is($before->{Pages}, 2, 'two pages');
my $poll = $held->start_poll;
wait_waiting(1);
wait_counter('PagesExpired', $before, 1);
is(status()->{Pages}, 1, 'the one that nobody polls has expired');
is($idle->poll->{status}, 410, 'and is told so');
wait_until(sub { status()->{Interests} <= $before->{Interests} - 1 }, 'what it alone held is let go');
ok($poll->is_silent, 'the one that waits is not idle');
text_of('/test/add?name=f10&notify=f10');
is(VaultTest::Page::text($held->finish_poll($poll)), "2\n", 'and is answered');
wait_counter('PagesExpired', $before, 2);
is(status()->{Interests}, 0, 'when the last page has gone, so have all interests');

finish();
