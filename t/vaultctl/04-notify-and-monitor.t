# SPDX-License-Identifier: Apache-2.0
# vaultctl notify wakes pages; vaultctl monitor sees each notify, by waiting as a page does: without a thread, across restarts.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Vaultctl;

needs_vaultctl();
my $page = live_page(['/test/rows?name=v04&interest=v04%20%C3%A4']);
text_of('/test/add?name=v04');
VaultTest::Page::text($page->poll);
my $poll = $page->start_poll;
wait_waiting(1);
text_of('/test/add?name=v04');
my $said = vaultctl('notify', "v04 \xc3\xa4", 'v04 nobody');
is($said->{code}, 0, 'notify') or diag($said->{err});
is($said->{out}, "v04 nobody: no page holds it\n", '... says which interest no page holds');
is(VaultTest::Page::text($page->finish_poll($poll)), "2\n", '... and wakes the page');
is_deeply(JSON::PP::decode_json(vaultctl('notify', '--json', 'v04 nobody')->{out}), {held => JSON::PP::false(), interest => 'v04 nobody'}, 'in JSON');
is(vaultctl('notify', 'x' x 201)->{code}, 2, 'a name that is too long');
$said = vaultctl('notify', '--url', 'http://127.0.0.1:' . VaultTest::port_of() . '/none/', 'v04');
is($said->{code}, 2, 'where notify is not open');
like($said->{err}, qr{/none/notify: 404: .*closed until you open it$}, '... it says what opens it');

# One line each time, whatever happens between two polls.
sub lines_of { return scalar(() = read_file($_[0]{out}) =~ /\n/g) }

my $monitor = vaultctl_start('monitor', '-n', 4, "v04 \xc3\xa4", 'v04 second');
wait_waiting(1);
wait_until(sub { read_file($monitor->{err}) =~ /waiting/ }, 'it says that it waits');
is(status()->{WaitingInThreads}, have_parking() ? 0 : 1, 'no thread waits for it');
for my $n (1 .. 2) {
    is(vaultctl('notify', "v04 \xc3\xa4")->{out}, '', 'a page holds it');
    wait_until(sub { lines_of($monitor) == $n }, "line $n");
}
graceful_restart();
vaultctl('notify', 'v04 second');
wait_until(sub { lines_of($monitor) == 3 }, 'a line after a restart');
vaultctl('notify', 'v04 second', "v04 \xc3\xa4");
$said = vaultctl_end($monitor);
is($said->{code}, 0, 'it ends after so many lines');
my @lines = split /\n/, $said->{out};
is(scalar @lines, 4, '... exactly');
like($_, qr/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} v04 /, 'a line has its time') for @lines;
is($lines[$_] =~ s/^\S+ \S+ //r, ("v04 \xc3\xa4", "v04 \xc3\xa4", 'v04 second')[$_], "line $_ names its interest") for 0 .. 2;

$monitor = vaultctl_start('monitor', '--json', '-q', '-n', 1, 'v04 json');
wait_waiting(1);
vaultctl('notify', 'v04 json');
$said = vaultctl_end($monitor);
is(JSON::PP::decode_json($said->{out})->{interest}, 'v04 json', 'lines of JSON');
is($said->{err}, '', '... and nothing else with -q');

# The forms of the status behind it.
is(get('/vault/status?monitor=x')->{status}, 405, 'such a page is made by POST');
is(post('/vault/status?monitor=', '')->{status}, 400, '... of an interest with a name');
is(post('/vault/status?monitor=' . 'x' x 201, '')->{status}, 400, '... of 200 bytes at most');
is(post('/vault/status?monitor=x', '', headers => {'Sec-Fetch-Site' => 'cross-site'})->{status}, 403, '... not by a page of another site');
is(post('/vault/status?tail=x', '')->{status}, 200, '... the former name of the parameter is accepted');
is(get('/vault/status?poll&page=x&seq=0')->{status}, 410, 'and polled as any page');

# The page that it was is gone: it says so and begins anew.
use_server(VaultTest::Server->start('forgetful', config => "VaultPageTimeout 1\n"));
$monitor = vaultctl_start('monitor', '-n', 2, 'v04 gone');
wait_waiting(1);
kill STOP => $monitor->{pid};
vaultctl('notify', 'v04 gone');
wait_until(sub { status()->{Pages} == 0 }, 'its page has expired');
kill CONT => $monitor->{pid};
wait_until(sub { read_file($monitor->{err}) =~ /had forgotten us/ }, 'it is told, says so and makes another');
wait_waiting(1);
vaultctl('notify', 'v04 gone');
is(vaultctl_end($monitor)->{code}, 0, '... and goes on');

finish();
