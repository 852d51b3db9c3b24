# SPDX-License-Identifier: Apache-2.0
# Ten thousand clients connect and are gone, in waves: before they say anything, in the middle of a request, behind a poll for a page that
# is not, and behind a poll that waits. The polls of others wait on, no descriptor and no waiting poll stays behind.
use strict;
use warnings;
use VaultTest;

use constant {WAVES => 40, WAVE => 250};

my @children = children(3);
my $page = live_page(['/test/rows?name=h02&interest=h02']);
my @flighty = map { live_page(['/test/rows?name=h02&interest=h02none']) } 1 .. 10;
my @ways = (
    '',
    'GET /vault/po',
    "POST /vault/poll HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200\r\n\r\npage=" . $page->id,
    'GET /vault/poll?page=' . '0' x 40 . "&seq=0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
);

# A first wave, so that what the server keeps for later is there.
my $poll = $page->start_poll;
wave(0);
my $before = status();
my %kept = map { $_ => descriptors($_) } @children;
wave($_) for 1 .. WAVES;
my $after = status();
# Those of earlier tests end when their time has come.
cmp_ok($after->{Pages}, '<=', $before->{Pages}, 'no page more');
cmp_ok($after->{Interests}, '<=', $before->{Interests}, '  and no interest');
ok($poll->is_silent, 'the poll of another page waits on');
text_of('/test/add?name=h02&notify=h02');
is(VaultTest::Page::text($page->finish_poll($poll)), "1\n", '  and is answered');
is_deeply([children(3)], \@children, 'the same children serve');
wait_until(sub { descriptors($_) <= $kept{$_} + 2 * @flighty }, "child $_ keeps no descriptor of theirs") for @children;
pass('their connections are gone');
my @polls = map { $_->start_poll } @flighty;
wait_waiting(scalar @polls);
text_of('/test/add?name=h02&notify=h02none');
is(VaultTest::Page::text($flighty[$_]->finish_poll($polls[$_])), "1\n2\n", 'a page that was left ' . (WAVES + 1) . ' times is there, as it was')
    for 0 .. $#flighty;

# Each of them has its connection at the same time as the others of its wave.
sub wave
{
    my ($number) = @_;
    my @clients = map { connect_to()->send_raw($ways[$_ % @ways]) } 1 .. WAVE;
    push @clients, $_->start_poll for @flighty;
    for my $i (0 .. $#clients) {
        ($i + $number) % 2 ? $clients[$i]->reset : $clients[$i]->close;
    }
    wait_waiting(1);
    is(get('/test/echo?text=here')->{body}, 'here', "wave $number, and the site answers") if $number % 10 == 0;
    return;
}

tolerate(qr/VLT00321/);    # bodies that do not come, when many are there at once
finish();
