# SPDX-License-Identifier: Apache-2.0
# The client goes away while its poll waits: it is forgotten at once, by whatever way it went, and the page is not.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=w03&interest=w03']);
my @ways = (
    ['closes its connection',   sub { $_[0]->close }],
    ['resets its connection',   sub { $_[0]->reset }],
    ['closes its sending half', sub { $_[0]->half_close }],
);
push @ways, ['cancels its stream', sub { $_[0]->cancel }] if over() eq 'h2';
for my $row (@ways) {
    my ($way, $go) = @$row;
    my $before = status();
    my $poll = $page->start_poll;
    wait_waiting(1);
    $go->($poll);
    wait_waiting(0);
    is(wait_counter('ClientsGone', $before, 1)->{ClientsGone} - $before->{ClientsGone}, 1, "a client $way: counted");
    ok($poll->read_to_end !~ /HTTP.*200/, '  a half-closed one is told no news, and the connection ends') if $way =~ /half/;
}

text_of('/test/add?name=w03&notify=w03');
is(VaultTest::Page::text($page->poll), "1\n", 'the page is well, and is told what happened meanwhile');

# Gone before it was ever waited for: the request is there, the client is not.
for (1 .. 20) {
    my $poll = $page->start_poll;
    $poll->reset;
}
wait_waiting(0);
text_of('/test/add?name=w03&notify=w03');
is(VaultTest::Page::text($page->poll), "2\n", 'clients that went at once have taken nothing');

finish();
