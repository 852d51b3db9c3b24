# SPDX-License-Identifier: Apache-2.0
# A poll reached by an internal redirect cannot be suspended: httpd would free the request. It waits in a thread.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=w08&interest=w08']);
my $n = 0;
for my $row (['an error document', '/missing/poll', 404], ['a rewrite', '/rewritten/poll', 200]) {
    my ($way, $path, $status) = @$row;
    $page->{with}{poll_path} = $path;
    my $connection = connect_to();
    for (1 .. 2) {
        my $poll = $page->start_poll($connection);
        wait_waiting(1);
        is(status()->{WaitingInThreads}, 1, "a poll by $way waits in a thread");
        text_of('/test/add?name=w08&notify=w08');
        my $answer = $connection->response;
        $n++;
        like($answer->{body}, qr/"body":"$n\\n"/, '  and is answered');
        $page->{seq} = $answer->{body} =~ /"seq":(\d+)/ ? $1 : die $answer->{body};
    }

    my $before = status();
    $page->start_poll($connection);
    wait_waiting(1);
    $connection->reset;
    wait_waiting(0);
    wait_counter('ClientsGone', $before, 1);
    pass('  its client may hang up');

    my $poll = $page->start_poll;
    wait_waiting(1);
    $poll->request(GET => '/test/echo?text=later');
    if (over() eq 'h2') {
        is($poll->newest_response->{body}, 'later', '  or say more, and is answered');
        ok($poll->is_silent, '  which does not end the poll');
        $poll->cancel;
        wait_waiting(0);
        next;
    }
    my $answer = $poll->response;
    is($answer->{body}, '', '  or say more, which ends the poll');
    is($poll->response->{body}, 'later', '  before it is answered itself');
}
is(status()->{WaitingInThreads}, 0, 'no thread is held any more');

$page->{with}{poll_path} = '/vault/poll';
my $ordinary = $page->start_poll;
wait_waiting(1);
is(status()->{WaitingInThreads}, have_parking() ? 0 : 1, 'the page\'s next ordinary poll needs none, where polls can be parked');

finish();
