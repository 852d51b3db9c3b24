# SPDX-License-Identifier: Apache-2.0
# MaxConnectionsPerChild: a child that has had its connections goes while polls wait in it. They are told to ask again, no client gets an
# error, no row is lost or doubled, and the child is gone before their time is up.
use strict;
use warnings;
use Time::HiRes ();
use VaultTest;

use constant ROUNDS => 30;
use constant PAGES => 6;

use_server(VaultTest::Server->start('retire', size => "ServerLimit 16\nMaxConnectionsPerChild 25\n", config => "VaultLongPollThreads 7\n"));
my @pages = map { live_page(['/test/rows?name=f14&interest=f14']) } 1 .. PAGES;
my @shown = ('') x PAGES;
my (%pids, %statuses);

# Poll until the page shows the row.
sub bring
{
    my ($i, $poll, $row) = @_;
    while (1) {
        my $answer = $pages[$i]->finish_poll($poll);
        $statuses{$answer->{status}}++;
        $shown[$i] .= VaultTest::Page::text($answer) if $answer->{status} == 200;
        return if $shown[$i] =~ /^\Q$row\E$/m || $answer->{status} !~ /^20[04]$/;
        $poll = $pages[$i]->start_poll;
    }
}

for my $row (1 .. ROUNDS) {
    my @polls = map { $_->start_poll } @pages;
    $pids{text_of('/test/pid')}++;
    text_of('/test/add?name=f14&notify=f14');
    bring($_, $polls[$_], $row) for 0 .. PAGES - 1;
}
cmp_ok(scalar keys %pids, '>=', 5, 'several children have served');
is_deeply([sort keys %statuses], [grep { $statuses{$_} } 200, 204], 'no poll got an error');
my $all = join '', map { "$_\n" } 1 .. ROUNDS;
is($shown[$_], $all, 'page ' . ($_ + 1) . ' has every row, once') for 0 .. PAGES - 1;

# Ended, whether the parent has looked yet or not.
sub has_ended
{
    my ($pid) = @_;
    open my $stat, '<', "/proc/$pid/stat" or return 1;
    return (readline($stat) // '') =~ /\) Z /;
}

# How long one takes to go: from when the first of its polls is told so.
SKIP: {
    skip 'polls wait in threads', 1 + PAGES unless have_parking();
    my ($pid, @polls);
    wait_until(
        sub {
            # All in one child, and none sent away by its end.
            $_->close for grep { defined } @polls;
            $pid = text_of('/test/pid');
            @polls = map { $_->start_poll } @pages;
            wait_until(sub { status()->{Waiting} == PAGES || text_of('/test/pid') != $pid }, 'they wait');
            return text_of('/test/pid') == $pid;
        },
        'six polls wait in one child'
    );
    wait_until(sub { text_of('/test/pid') != $pid }, 'its connections are used up');
    my $begin = Time::HiRes::time();
    for my $i (0 .. PAGES - 1) {
        is($pages[$i]->read_poll($polls[$i])->{status}, 204, 'a poll is told to ask again');
        $polls[$i]->close;    # as a browser does; httpd lingers for two seconds for those that do not
    }
    wait_until(sub { has_ended($pid) }, 'the child is gone');
    cmp_ok(Time::HiRes::time() - $begin, '<', 40, 'before the time of its polls is up, which is 45 s at least');
}
tolerate(qr/AH00056|AH00485|AH03490/);

finish();
