# SPDX-License-Identifier: Apache-2.0
# Many polls on one connection, with other requests between them; also while more polls are answered at once than there
# are threads.
use strict;
use warnings;
use VaultTest;

needs_parking();

my $page = live_page(['/test/rows?name=w04&interest=w04']);
my $connection = connect_to();
for my $n (1 .. 30) {
    my $poll = $page->start_poll($connection);
    wait_waiting(1) if $n % 10 == 0;
    text_of('/test/add?name=w04&notify=w04');
    my $answer = $page->finish_poll($poll);
    is(VaultTest::Page::text($answer), "$n\n", "poll $n");
    if ($n % 5 == 0) {
        $connection->request(GET => "/test/echo?text=between-$n");
        is($connection->response->{body}, "between-$n", '  a plain request between');
    }
}

# 60 polls in children with 24 threads in all: answered at once, and no connection is closed. mod_ssl takes a thread for each
# connection until its first request, so over TLS that is a poll.
my @pages = map { live_page(['/test/rows?name=w04many&interest=w04many']) } 1 .. 60;
my @connections = over() eq 'tls' ? () : map { connect_to() } @pages;
for my $n (1 .. 3) {
    $connections[$_] = $pages[$_]->start_poll($connections[$_]) for 0 .. $#pages;
    wait_waiting(scalar @pages);
    text_of('/test/add?name=w04many&notify=w04many');
    my @wrong = grep { VaultTest::Page::text($pages[$_]->finish_poll($connections[$_])) ne "$n\n" } 0 .. $#pages;
    is("@wrong", '', "broadcast $n reaches all, each on the connection it has had from the first");
}
is(status()->{Waiting}, 0, 'no poll waits any more');

finish();
