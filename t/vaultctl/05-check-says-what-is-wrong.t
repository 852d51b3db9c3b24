# SPDX-License-Identifier: Apache-2.0
# vaultctl check: 0 when all is well, also under load; 1 and a sentence when something is not; 2 when it cannot be asked.
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP ();
use POSIX ();
use VaultTest;
use VaultTest::Vaultctl;

needs_vaultctl();
my @pages = map { live_page(['/test/rows?name=v05&interest=v05', "/test/rows?name=v05-$_&interest=v05-$_"]) } 1 .. 20;
my @polls = map { $_->start_poll } @pages;
wait_waiting(20);
my $said = vaultctl('check');
is($said->{code}, 0, 'a server that is well') or diag($said->{out}, $said->{err});
like($said->{out}, qr/^\d+ pages, \d+ interests, \d+ bytes of states: all is well$/, '... it says so');

# Pages come, change and go meanwhile.
for my $n (1 .. 10) {
    my $running = vaultctl_start('check', '--json');
    text_of('/test/add?name=v05&notify=v05');
    $pages[$_]->finish_poll($polls[$_]) for 0 .. 19;
    live_page(['/test/rows?name=v05&interest=v05']) for 1 .. 5;
    @polls = map { $_->start_poll } @pages;
    $said = vaultctl_end($running);
    is_deeply(JSON::PP::decode_json($said->{out})->{Wrong}, [], "nothing is wrong under load, $n");
}
text_of('/test/add?name=v05&notify=v05');
$pages[$_]->finish_poll($polls[$_]) for 0 .. 19;

# A child that was killed, before and after the parent knows.
my ($pid) = children();
announce(qr/VLT00004/);
kill KILL => $pid;
my $checked = JSON::PP::decode_json(vaultctl('check', '--json')->{out});
is_deeply($checked->{Wrong}, [], 'a killed child is nothing wrong');
my $parks = have_parking() ? JSON::PP::true : JSON::PP::false;
is_deeply([@{$checked->{Limits}}{qw(Parking Bell)}], [$parks, $parks], 'it says whether polls wait without a thread, by the old name as well');
wait_replaced($pid);
is(vaultctl('check')->{code}, 0, '... nor when it has been replaced');

# What mod_vault itself would not do is said as it comes. Who answers here is the test.
my $listener = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "no port: $!\n";
my $answers = sub {
    my ($body) = @_;
    my $running = vaultctl_start('check', '--url', 'http://127.0.0.1:' . $listener->sockport);
    my $client = $listener->accept;
    while (defined(my $line = readline $client)) { last if $line eq "\r\n" }
    print $client "HTTP/1.1 200 OK\r\nContent-Length: @{[length $body]}\r\nConnection: close\r\n\r\n$body";
    close $client;
    return vaultctl_end($running);
};
$said = $answers->('{"Wrong": ["pages: the count is wrong"], "Warnings": []}');
is($said->{code}, 1, 'something is wrong');
is($said->{out}, "wrong: pages: the count is wrong\n", '... with its sentence');
is($answers->($_)->{code}, 2, "no answer of ours: $_") for '{"Waiting": 1}', 'not JSON', '';

# What the start warns of.
use_server(VaultTest::Server->start('warned', config => "VaultMaxWaiting 100000\n"));
announce(qr/VLT00005/);
$said = vaultctl('check');
is($said->{code}, 1, 'a configuration that does not go together');
like($said->{out}, qr/^warning: VaultMaxWaiting 100000 is more than a child can hold: .*VLT00005/m, '... in the words of the log');
$said = JSON::PP::decode_json(vaultctl('check', '--json')->{out});
is(scalar(grep { /VaultMaxWaiting/ } @{$said->{Warnings}}), 1, '... in JSON, too');
is_deeply($said->{Wrong}, [], '... which is nothing wrong with the tables');

finish();
