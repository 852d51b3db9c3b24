# SPDX-License-Identifier: Apache-2.0
# A visitor signs out while a page is live, others write, a child is killed, and the visitor signs in again in another tab: the page tries again
# after 30 s, then after 60 s, by a new poll, which has the new credentials, and gets all that happened, once.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;
use VaultTest::Page qw(texts);

my ($library) = glob '/usr/lib/*/faketime/libfaketimeMT.so.1';
plan(skip_all => 'there is no libfaketime') unless $library;
plan(skip_all => 'a sanitizer does not go with libfaketime') if ($ENV{VAULT_SANITIZER} // 'no') ne 'no';

# What the library reads the time's shift from, at every look at the clock. It shifts the monotonic clock as well.
my $shift = vars('t_logs') . '/clock-shift-20';
my $late = 0;
sub advance
{
    my ($seconds) = @_;
    $late += $seconds;
    open my $file, '>', "$shift.new" or die "$shift.new: $!\n";
    printf $file "%+d\n", $late;
    close $file or die "$shift.new: $!\n";
    rename "$shift.new", $shift or die "$shift: $!\n";
    return;
}

sub told { return join ' ', map { $_->{status} } @{$_[0]{refused} || []} }
sub lines { return scalar grep { /VLT00333/ } error_log_lines() }
sub signs { my ($status) = @_; return text_of("/test/set?name=f20status&value=$status") }

advance(0);
use_server(
    VaultTest::Server->start(
        'signed-out',
        size => "StartServers 3\nMinSpareThreads 17\nMaxRequestWorkers 24\n",
        config => "Timeout 700\nVaultPageTimeout 3600\n<Location \"/vault/poll\">\nVaultLongPollTimeout 600\nVaultStreamTimeout 3000\n</Location>\n",
        env => {LD_PRELOAD => $library, FAKETIME_TIMESTAMP_FILE => $shift, FAKETIME_NO_CACHE => 1},
    )
);

# A poll of the page, once it waits.
sub waits
{
    my ($page) = @_;
    my $poll = $page->start_poll;
    wait_waiting(1);
    return $poll;
}

my $method = '/test/rows?name=f20&interest=f20&fail-as=f20status';
signs(0);
text_of('/test/add?name=f20');
my $page = live_page([$method]);
is(texts($page->poll), "1\n", 'signed in: the page is live');
my $poll = waits($page);
signs(401);
text_of('/test/add?name=f20&notify=f20');
is(told($page->finish_poll($poll)), '401', 'signed out: the page is told');

# The rests grow; each is over in a new poll.
for my $rest (30, 60) {
    my $before = status();
    $poll = waits($page);
    advance($rest - 15);
    text_of('/test/add?name=f20&notify=f20');
    is(status()->{Runs}, $before->{Runs}, "before $rest s it is not tried again");
    ok($poll->is_silent, '... and the poll waits');
    advance(20);
    is($page->finish_poll($poll)->{status}, 204, '... then the poll ends');
    is(status()->{Runs}, $before->{Runs}, '... without a try, since its credentials are old');
    $poll = waits($page);
    is(status()->{MethodsRefused}, $before->{MethodsRefused} + 1, '... and the next one tries');
    $poll->close;
    wait_waiting(0);
}
is(lines(), 1, 'the log has one line of all this');

# The child that holds the poll is killed: what is known of the refusal is not.
my $before = status();
$poll = waits($page);
my ($holder) = map { $_->{Pid} } grep { $_->{Waiting} } @{status_of_children()->{Children}};
announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
kill KILL => $holder;
wait_replaced($holder);
$poll->close;
$poll = waits($page);
is(status()->{MethodsRefused}, $before->{MethodsRefused}, 'after a killed child the method rests as before');
ok($poll->is_silent, '... and the page is not told again');

# Signed in again.
signs(0);
advance(121);
is($page->finish_poll($poll)->{status}, 204, 'the visitor has signed in again in another tab: the poll ends in time');
is(texts($page->poll), join('', map { "$_\n" } 2 .. 4), '... and the next one gets all that happened');
$poll = waits($page);
text_of('/test/add?name=f20&notify=f20');
is(texts($page->finish_poll($poll)), "5\n", '... once, and the page is live');

# The answer that has it all is lost with its child.
$poll = waits($page);
signs(302);
text_of('/test/add?name=f20&notify=f20');
is(told($page->read_poll($poll)), '302', 'a redirect to a login');
is(told($page->poll), '302', '... said again, as the answer was lost');
signs(0);
advance(40);
is(texts($page->read_poll($page->start_poll)), "6\n", 'it works again, and the answer is lost');
is(texts($page->poll), "6\n", '... and comes again');
$poll = waits($page);
$poll->close;
wait_waiting(0);

# A stream: it ends when it is time, and goes on with the new credentials.
my $stream = VaultTest::Events->open([$page]);
wait_waiting(1);
signs(401);
text_of('/test/add?name=f20&notify=f20');
my $event = $stream->event;
is(told($event), '401', 'a stream tells of it');
wait_waiting(1);
text_of('/test/add?name=f20&notify=f20');
$before = status();
signs(0);
advance(31);
is($stream->event, undef, '... and ends when the method may be tried again');
is(status()->{Runs}, $before->{Runs}, '... without a try');
$stream = VaultTest::Events->open([$page], last => $event->{seq});
$event = $stream->event;
is(texts($event), "7\n8\n", '... and the next stream gets what happened');
$stream->reset;
wait_waiting(0);
finish();
