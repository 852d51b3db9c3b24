# SPDX-License-Identifier: Apache-2.0
# MaxConnectionsPerChild: a child that has had its connections goes while requests queue in it. They wait on, in their order and before those that
# come to the next child later, no client gets an error, and then the child is gone.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

use constant QUEUED => 6;

use_server(VaultTest::Server->start('retire-queue', size => "ServerLimit 16\nMaxConnectionsPerChild 120\n",
    config => qq(VaultLongPollThreads 7\n<Location "/retire/">\nSetHandler vault-test\nVaultQosLimit 1\nVaultQosTimeout 120\n</Location>\n)));

# One that is inside and others behind it, in one child that takes connections all the while. The barriers have names of their own.
my ($pid, $inside, @queued, $barrier);
wait_until(
    sub {
        open_barrier($barrier) if $barrier;
        $_->close for grep { defined } $inside, @queued;
        wait_gate('/retire/', Running => 0, Queued => 0);
        $barrier = 'q19-' . ($barrier ? substr($barrier, 4) + 1 : 1);
        $pid = text_of('/test/pid');
        $inside = held('/retire/', $barrier);
        wait_arrived($barrier, 1);
        @queued = map {
            my $connection = connect_to();
            $connection->request(GET => "/retire/add?name=$barrier");
            wait_gate('/retire/', Running => 1, Queued => $_);
            $connection;
        } 1 .. QUEUED;
        return text_of('/test/pid') == $pid;
    },
    'six requests queue in one child'
);

wait_until(sub { text_of('/test/pid') != $pid }, 'its connections are used up');
my $later = connect_to();
$later->request(GET => "/retire/add?name=$barrier");
wait_gate('/retire/', Running => 1, Queued => QUEUED + 1);
ok($_->is_silent, 'who queues in the old child waits on') for @queued;
ok(kill(0, $pid), '... which is still there');

# One of them hangs up: its place in the queue becomes free.
(my $gone) = splice @queued, 2, 1;
$gone->close;
wait_gate('/retire/', Running => 1, Queued => QUEUED);

open_barrier($barrier);
my $answer = $inside->response;
is($answer->{status}, 200, 'the one that was inside is answered');
is($answer->{body}, $pid, '... by the old child');
is($queued[$_]->response->{body}, $_ + 1, '  then those of the old child, in their order') for 0 .. $#queued;
is($later->response->{body}, QUEUED, '  and then the one of the new child');
$_->close for $inside, @queued;
wait_gate('/retire/', Running => 0, Queued => 0);
wait_until(sub { !kill 0, $pid }, 'the old child is gone');
tolerate(qr/AH00056|AH00485|AH03490/);

finish();
