# SPDX-License-Identifier: Apache-2.0
# Subrequests, internal redirects and error documents are part of the request that they belong to; a poll counts only where the
# limit is set on the poll's own URL. All locations here refuse the second request at once.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

my $before = gate('/qos/once/');
is(text_of('/qos/once/include'), '[in][in]', 'subrequests in the same location');
is(text_of('/qos/once/redirect?to=/qos/once/echo%3Ftext=there'), 'there', 'an internal redirect in the same location');
is(text_of('/qos/redirect?to=/qos/once/echo%3Ftext=there'), 'there', 'an internal redirect into it');
is(get('/qos/once/status?code=404')->{status}, 404, 'an error');
is(gate('/qos/once/')->{Admitted} - $before->{Admitted}, 4, 'each has counted once');
is(gate('/qos/once/')->{Refused}, $before->{Refused}, '  and none was refused');

my $in = held('/qos/once/', 'q09');
wait_gate('/qos/once/', Running => 1);
is(get('/qos/once/redirect?to=/qos/echo%3Ftext=out')->{status}, 503, 'who is redirected out must come in first');
is(get('/qos/redirect?to=/qos/once/echo%3Ftext=in')->{status}, 503, 'who is redirected in is refused there');
is(text_of('/qos/include?path=/qos/once/'), '[in][in]', 'a subrequest into it is part of a request outside');
open_barrier('q09');
is($in->response->{status}, 200, 'the one that was in');
wait_gate('/qos/once/', Running => 0, Queued => 0);

# Polls: /qos/wide has a limit, and polls and status inside of it; /qos/poll is a poll's URL with a limit of its own.
my $page = live_page(['/test/rows?name=q09&interest=q09'], poll_path => '/qos/wide/poll');
my $other = live_page(['/test/rows?name=q09&interest=q09'], poll_path => '/qos/wide/poll');
my @polls = map { $_->start_poll } $page, $other;
wait_waiting(2);
is(gate('/qos/wide')->{Running}, 0, 'polls in a location with a limit do not count');
is(get('/qos/wide/status?auto')->{status}, 200, 'nor does the status page');
text_of('/test/add?name=q09&notify=q09');
is(VaultTest::Page::text($page->finish_poll($polls[0])), "1\n", '  they are answered');
is(VaultTest::Page::text($other->finish_poll($polls[1])), "1\n", '  both');

$_->{with}{poll_path} = '/qos/poll' for $page, $other;
my $poll = $page->start_poll;
wait_waiting(1);
is(gate('/qos/poll')->{Running}, 1, 'a poll counts where its own URL has a limit, as long as it waits');
is($other->poll->{status}, 503, '  so a second one is refused');
text_of('/test/add?name=q09&notify=q09');
is(VaultTest::Page::text($page->finish_poll($poll)), "2\n", '  the first is answered');
wait_gate('/qos/poll', Running => 0);
is(VaultTest::Page::text($other->poll), "2\n", '  and then the second');

tolerate(qr/VLT00255:/);
finish();
