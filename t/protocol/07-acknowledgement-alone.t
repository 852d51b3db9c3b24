# SPDX-License-Identifier: Apache-2.0
# ack=1 acknowledges and asks for nothing: what a browser sends when it leaves a page that it may come back to.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p07&interest=p07']);
text_of('/test/add?name=p07');
my $answer = $page->poll;
is(VaultTest::Page::text($answer), "1\n", 'an answer arrives');

my $ack = get($page->path . '&ack=1');
is($ack->{status}, 204, 'it is acknowledged');
is($ack->{headers}{'cache-control'}, 'no-store', 'by an answer that no cache keeps');
is(get($page->path . '&ack=1')->{status}, 204, 'twice does no harm');
is(status()->{Waiting}, 0, 'nothing waits for it');

my $stale = $page->duplicate;
$stale->{seq} = 0;
is(get($stale->path . '&ack=1')->{status}, 410, 'what was before it is over');

my $poll = $page->start_poll;
wait_waiting(1);
is(get($page->path . '&ack=1')->{status}, 204, 'an acknowledgement beside a poll that waits');
ok($poll->is_silent, 'does not end the poll');
text_of('/test/add?name=p07&notify=p07');
is(VaultTest::Page::text($page->finish_poll($poll)), "2\n", 'which is answered in its time');

my $body = 'page=' . $page->id . '&seq=' . $page->seq . '&ack=1';
is(post('/vault/poll', $body)->{status}, 204, 'by POST as well, as navigator.sendBeacon() does');
is(post('/vault/poll', $body, headers => {'Content-Type' => 'application/x-www-form-urlencoded;charset=UTF-8'})->{status}, 204,
    'with a charset');
is(get('/vault/poll?page=unknown&seq=0&ack=1')->{status}, 410, 'an unknown page: 410');

finish();
