# SPDX-License-Identifier: Apache-2.0
# Several children hold polls; a notify in any one of them wakes the polls of all, and of that interest only.
use strict;
use warnings;
use VaultTest;

my @children = children(3);
is(scalar @children, 3, 'three children serve');
my $others = live_page(['/test/rows?name=w01other&interest=w01other']);

my $n = 0;
for my $writer (@children) {
    my @pages = map { live_page(["/test/rows?name=w01&interest=w01"]) } @children;
    if ($n) {
        VaultTest::Page::text($_->poll) for @pages;    # what earlier rounds have written
    }
    my $untouched = $others->start_poll(connect_in($children[1]));
    my @polls = map { $pages[$_]->start_poll(connect_in($children[$_])) } 0 .. $#children;
    wait_waiting(4);
    my %waits = map { $_->{Pid} => $_->{Waiting} } @{status_of_children()->{Children}};
    is_deeply([@waits{@children}], [1, 2, 1], 'each child holds its poll') if $n == 0;

    my $before = status();
    my $connection = connect_in($writer);
    $connection->request(GET => '/test/add?name=w01&notify=w01');
    is($connection->response->{body}, ++$n, "child $writer writes and notifies");
    for my $i (0 .. $#children) {
        is(VaultTest::Page::text($pages[$i]->finish_poll($polls[$i])), "$n\n", "  the poll in child $children[$i] is answered");
    }
    my $after = status();
    is($after->{WakeUps} - $before->{WakeUps}, 3, '  three polls were woken, the one on another interest was not');
    ok($untouched->is_silent, '  which still waits');
    text_of('/test/add?name=w01other&notify=w01other');
    is(VaultTest::Page::text($others->finish_poll($untouched)), "$n\n", '  until its own is notified');
}
is(text_of('/test/notify?interest=w01-nobody'), 'nobody', 'notifying an interest without pages is no failure');

finish();
