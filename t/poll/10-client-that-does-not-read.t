# SPDX-License-Identifier: Apache-2.0
# A client asks for megabytes and does not read them: its own connection is slow, nothing else is. Its turn goes to the
# next poll as soon as the answer is made, and other clients, also those of its own child, do not notice.
use strict;
use warnings;
use VaultTest;

needs_parking();

my @children = children(3);
text_of('/test/set?name=w10&value=0');
my @slow = map { live_page(['/test/rows?name=w10&interest=w10'], poll_path => '/large/poll', receive_buffer => 4096) } 1 .. 12;
my $quick = live_page(['/test/rows?name=w10quick&interest=w10quick']);
my @polls = map { $_->start_poll(connect_in($children[0], receive_buffer => 4096)) } @slow;
wait_waiting(scalar @slow);

# Twelve clients, more than the child has threads or turns.
my $before = status();
text_of('/test/set?name=w10&value=300000&notify=w10');
my $after = wait_counter('Answers', $before, scalar @slow);
is($after->{Answers} - $before->{Answers}, scalar @slow, 'all turns have come, though no client has read a byte');

my $connection = connect_in($children[0]);
for my $n (1 .. 5) {
    my $poll = $quick->start_poll($connection);
    wait_waiting(1);
    text_of('/test/add?name=w10quick&notify=w10quick');
    is(VaultTest::Page::text($quick->finish_poll($poll)), "$n\n", "another poll of that child is answered, $n");
}
my $plain = connect_in($children[0]);
$plain->request(GET => '/test/echo?text=quick');
is($plain->response->{body}, 'quick', 'a plain request to that child as well');

my $answer = $slow[0]->finish_poll($polls[0]);
my @rows = split /\n/, VaultTest::Page::text($answer);
is("$rows[0] $rows[-1] " . @rows, '1 300000 300000', 'one that reads at last gets all of it');
$_->reset for @polls[1 .. $#polls];
delete $slow[1]{with}{receive_buffer};
@rows = split /\n/, VaultTest::Page::text($slow[1]->poll);
is(scalar @rows, 300_000, 'one that gave up gets it again, whole');

finish();
