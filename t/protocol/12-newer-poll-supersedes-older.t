# SPDX-License-Identifier: Apache-2.0
# A page has one poll: a newer one ends the older with 204 and Vault-Superseded, in the same child, in another one, and
# while the older one runs its methods. One whose client has gone meanwhile is not newer.
use strict;
use warnings;
use VaultTest;

my @children = children(2);
my $page = live_page(['/test/rows?name=p12&interest=p12']);
my $before = status();

for my $case (['the same child', $children[0]], ['another child', $children[1]]) {
    my ($where, $pid) = @$case;
    my $older = $page->start_poll(connect_in($children[0]));
    wait_waiting(1);
    my $newer = $page->start_poll(connect_in($pid));
    my $answer = $page->read_poll($older);
    is($answer->{status}, 204, "$where: the older poll ends");
    is($answer->{headers}{'vault-superseded'}, '1', '  and is told why');
    wait_waiting(1);
    ok($newer->is_silent, '  the newer one waits');
    text_of('/test/add?name=p12&notify=p12');
    like(VaultTest::Page::text($page->finish_poll($newer)), qr/^\d\n$/, '  and is answered');
}
is(status()->{Superseded} - $before->{Superseded}, 2, 'both are counted');

my $poll = $page->start_poll;
wait_waiting(1);
$poll->reset;
wait_waiting(0);

# The older poll is in the middle of its method when the newer one takes the page: what it found is thrown away.
my $stopped = live_page(['/test/rows?name=p12&interest=p12&between=p12']);
my $older = $stopped->start_poll;
wait_arrived('p12', 1);
my $newer = $stopped->start_poll;
wait_arrived('p12', 2);
open_barrier('p12');
my $answer = $stopped->read_poll($older);
is($answer->{status}, 204, 'superseded while its method ran: no rows');
is($answer->{headers}{'vault-superseded'}, '1', '  and told why');
is(VaultTest::Page::text($stopped->finish_poll($newer)), "1\n2\n", 'the newer one brings them');
text_of('/test/add?name=p12&notify=p12');
is(VaultTest::Page::text($stopped->poll), "3\n", 'each row once');

# A poll that was given up comes in after the one that took its place: whose client is gone does not take the page from one that waits. (It is
# held back by a request before it on its connection, so that it is certain that its client is gone by then.)
my $kept = live_page(['/test/rows?name=p12k&interest=p12k']);
my $current = $kept->start_poll;
wait_waiting(1);
my $late = connect_to();
$late->send_raw("GET /test/wait?before=p12l HTTP/1.1\r\nHost: localhost\r\n\r\nGET " . $kept->path . " HTTP/1.1\r\nHost: localhost\r\n\r\n");
$late->half_close;
wait_arrived('p12l', 1);
open_barrier('p12l');
is($late->response->{status}, 200, 'what is in front of the late poll is answered');
is($kept->read_poll($late)->{headers}{'vault-superseded'}, '1', 'the late poll is told that there is a newer one');
ok($current->is_silent, '  which waits on');
text_of('/test/add?name=p12k&notify=p12k');
is(VaultTest::Page::text($kept->finish_poll($current)), "1\n", '  and is answered');

finish();
