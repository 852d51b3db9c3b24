# SPDX-License-Identifier: Apache-2.0
# A client polls for pages that are not its own: with ids near those that exist, with an id that it has seen but as another user, from another
# tab, with acknowledgements of what was never sent. He is told 410 or 403, and the page notices nothing: its poll waits on, what was sent
# to it counts.
use strict;
use warnings;
use MIME::Base64 ();
use VaultTest;

sub as { my ($user) = @_; return {Authorization => 'Basic ' . MIME::Base64::encode_base64("$user:secret", '')} }

my $tab = '0123456789abcdef' x 2;
my $page = live_page(['/test/rows?name=h03&interest=h03'], tab => $tab);
text_of('/test/add?name=h03&notify=h03');
is(VaultTest::Page::text($page->poll), "1\n", 'a page has had an answer');
my $before = status();
my $poll = $page->start_poll;
wait_waiting(1);

# Each digit another one: the secret, and the place in the table.
my $id = $page->id;
my %told;
for my $at (0 .. length($id) - 1) {
    for my $digit (grep { $_ ne substr $id, $at, 1 } qw(0 7 f)) {
        my $guess = $id;
        substr $guess, $at, 1, $digit;
        $told{get("/vault/poll?page=$guess&seq=$_" . ($at % 2 ? '&ack=1' : ''))->{status}}++ for 0, $page->seq;
    }
}
is(join(' ', sort keys %told), '410', 'guessed ids: 410, ' . ($told{410} // 0) . ' times');

my %wrong = (
    'another tab'                   => "/vault/poll?page=$id&seq=" . $page->seq . '&tab=' . 'f' x 32,
    'another tab that acknowledges' => "/vault/poll?page=$id&seq=" . $page->seq . '&ack=1&tab=' . 'f' x 32,
    'a number that was never sent'  => "/vault/poll?page=$id&seq=99999&tab=$tab",
    'the acknowledgement of one'    => "/vault/poll?page=$id&seq=99999&ack=1&tab=$tab",
    'a number before the last'      => "/vault/poll?page=$id&seq=0&tab=$tab",
);
is(get($wrong{$_})->{status}, 410, "$_: 410") for sort keys %wrong;
ok($poll->is_silent, 'the poll of the page waits on');
is(status()->{Superseded}, $before->{Superseded}, '  no client has taken it over');
text_of('/test/add?name=h03&notify=h03');
is(VaultTest::Page::text($page->finish_poll($poll)), "2\n", '  and is answered');

# An answer on its way stays what it is, whichever client asks meanwhile.
$poll = $page->start_poll;
wait_waiting(1);
text_of('/test/add?name=h03&notify=h03');
my $answer = $page->read_poll($poll);
is(get($wrong{$_})->{status}, 410, "$_, behind an answer: 410") for sort keys %wrong;
$page->{seq} = $answer->{seq};
is(VaultTest::Page::text($answer), "3\n", 'the answer counts');
text_of('/test/add?name=h03&notify=h03');
is(VaultTest::Page::text($page->poll), "4\n", '  the next one continues it');

# Users: a page of anna's, and everybody else who knows its id.
SKIP: {
    skip 'httpd has no mod_auth_basic', 1 unless have_module('auth_basic');
    my $annas = open_page('/users/page?poll=/test/rows%3Fname=h03%26interest=h03', headers => as('anna'), poll_path => '/users/poll');
    my $wait = sub { my ($seq) = @_; return '/users/poll?page=' . $annas->id . "&seq=$seq" };
    $poll = $annas->start_poll(undef, %{as('anna')});
    is(VaultTest::Page::text($annas->finish_poll($poll)), "1\n2\n3\n4\n", 'anna polls');
    $poll = $annas->start_poll(undef, %{as('anna')});
    wait_waiting(1);
    for my $seq (0, $annas->seq) {
        is(get($wait->($seq), headers => as('bert'))->{status}, 403, "bert, with seq $seq: 403");
        is(get($wait->($seq) . '&ack=1', headers => as('bert'))->{status}, 403, '  his acknowledgement as well');
        is(get($wait->($seq))->{status}, 401, '  without a login: 401');
        is(get('/vault/poll?page=' . $annas->id . "&seq=$seq")->{status}, 403, '  without a login, where all may poll: 403');
    }
    ok($poll->is_silent, 'her poll waits on');
    text_of('/test/add?name=h03&notify=h03');
    is(VaultTest::Page::text($annas->finish_poll($poll)), "5\n", '  and is answered');
    announce(qr/VLT00032: the page belongs to another user than (?:bert|nobody)/);
}
finish();
