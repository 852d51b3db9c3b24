# SPDX-License-Identifier: Apache-2.0
# An administrator sets the clock, an hour forward and an hour back, while polls wait: they go on waiting, are woken, end when they should, and no
# page expires. httpd's own time-outs do see the clock: it may close a connection, and the page polls again.
use strict;
use warnings;
use Time::HiRes ();
use Time::Piece ();
use VaultTest;

my ($library) = glob '/usr/lib/*/faketime/libfaketimeMT.so.1';
plan(skip_all => 'there is no libfaketime') unless $library;
plan(skip_all => 'a sanitizer does not go with libfaketime') if ($ENV{VAULT_SANITIZER} // 'no') ne 'no';

# What the library reads the time's shift from, at every look at the clock. It leaves the monotonic clock alone, as clocks that jump do.
my $shift = vars('t_logs') . '/clock-shift';
sub set_clock
{
    my ($seconds) = @_;
    open my $file, '>', "$shift.new" or die "$shift.new: $!\n";
    printf $file "%+d\n", $seconds;
    close $file or die "$shift.new: $!\n";
    rename "$shift.new", $shift or die "$shift: $!\n";
    return;
}

sub server_time
{
    return Time::Piece->strptime(get('/test/pid')->{headers}{date}, '%a, %d %b %Y %H:%M:%S GMT')->epoch;
}

set_clock(0);
use_server(
    VaultTest::Server->start(
        'clocks',
        config => "VaultPageTimeout 600\n<Location \"/short/poll\">\nSetHandler vault-poll\nVaultLongPollTimeout 4\n</Location>\n",
        env => {LD_PRELOAD => $library, FAKETIME_TIMESTAMP_FILE => $shift, FAKETIME_NO_CACHE => 1, FAKETIME_DONT_FAKE_MONOTONIC => 1},
    )
);

my $methods = ['/test/rows?name=f12&interest=f12'];
my $n = 0;
for my $jump (3600, 0, -3600, 0) {
    my $idle = live_page($methods);
    my @pages = map { live_page($methods) } 1 .. 4;
    text_of('/test/add?name=f12');
    my $rows = join '', map { "$_\n" } 1 .. ++$n;
    is(VaultTest::Page::text($_->poll), $rows, 'a page') for $idle, @pages;
    my $before = status();
    my @polls = map { $_->start_poll } @pages;
    my $ends = live_page(['/test/rows?name=f12&interest=f12-other'], poll_path => '/short/poll');
    is(VaultTest::Page::text($ends->poll), $rows, 'another');
    my $begin = Time::HiRes::time();
    my ($short, $over) = waiting_poll($ends, 5);

    set_clock($jump);
    cmp_ok(abs(server_time() - time - $jump), '<', 60, "the server's clock is $jump s off");
    text_of('/test/add?name=f12&notify=f12');
    ++$n;
    for my $i (0 .. $#pages) {
        my $answer = eval { $pages[$i]->finish_poll($polls[$i]) };
        is(VaultTest::Page::text($answer || $pages[$i]->poll), "$n\n", '  a poll that waits is woken' . ($answer ? '' : ', on another connection'));
    }
    is(VaultTest::Page::text($idle->poll), "$n\n", '  a page between two polls has not expired');

    my $answer = eval { $ends->read_poll($short) };
    ok(!$answer || $answer->{status} == 204, '  a poll whose time is up ends');
    my $took = Time::HiRes::time() - $begin;
    cmp_ok($took, '<', PATIENCE, '  then, and not when the clock says so');
    cmp_ok($took, '>', 3, '  nor before') if $answer;
    my $after = status();
    cmp_ok($after->{Timeouts} - $before->{Timeouts}, '<=', 1 + $over, '  no other poll ends');
    is($after->{PagesExpired}, $before->{PagesExpired}, '  no page expires');
    cmp_ok($after->{Runs} - $before->{Runs}, '<', 50, '  and nothing runs for nothing');
}
finish();
