# SPDX-License-Identifier: Apache-2.0
# A poll on a stream of HTTP/2 waits in a thread, and is answered.
use strict;
use warnings;
use VaultTest;

plan(skip_all => 'mod_http2 or Protocol::HTTP2 is not there') unless have_http2();

my @over = (['HTTP/2', vhost => 'vault_h2']);
push @over, ['HTTP/2 and TLS', vhost => 'vault_tls', tls => 1] if have_tls();
for my $row (@over) {
    my ($how, %with) = @$row;
    my $name = 'w16' . ($with{tls} ? 'tls' : '');
    my $page = live_page(["/test/rows?name=$name&interest=$name"], %with);
    my $n = 0;
    for (1 .. 3) {
        my $poll = $page->start_poll(connect_to(http2 => 1, %with));
        wait_waiting(1);
        is(status()->{WaitingInThreads}, 1, 'a poll on a stream waits in a thread');
        text_of("/test/add?name=$name&notify=$name");
        my $answer = $page->finish_poll($poll);
        like($answer->{head}, qr{^HTTP/2 200\r}, "  and is answered, over $how");
        is(VaultTest::Page::text($answer), ++$n . "\n", '  with what was notified');
    }

    my $gone = $page->start_poll(connect_to(http2 => 1, %with));
    wait_waiting(1);
    $gone->reset;
    text_of("/test/add?name=$name&notify=$name");
    wait_waiting(0);
    is(VaultTest::Page::text($page->poll(connect_to(http2 => 1, %with))), "4\n", 'a client that went away has taken nothing');
    is(status()->{WaitingInThreads}, 0, 'no thread is held any more');
}

finish();
