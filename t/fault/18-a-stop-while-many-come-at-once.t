# SPDX-License-Identifier: Apache-2.0
# apachectl stop while more connections are ready than a child has threads: its listener has still to hand them out when
# the threads have gone. No child is so long about it that httpd has to tell it again, or to kill it. First one such
# stop on purpose; then many, each at another moment: polls and streams wait, clients send on keep-alive connections,
# all hang up, all are notified, or the server has just been restarted.
#
# VAULT_STOPS=200 make check-httpd T=t/fault/18-a-stop-while-many-come-at-once.t does so for longer; VAULT_STRESS_SEED
# as for t/stress.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;
use VaultTest::Stress;

needs_parking();

use constant {THREADS => 4, CROWD => 40, PARTS => 10};
my $size = 'ThreadLimit ' . THREADS . "\nThreadsPerChild " . THREADS . "\nAsyncRequestWorkerFactor 200\n";
my $one = $size . 'MaxRequestWorkers ' . THREADS . "\n";
my $two = $size . "StartServers 2\nMaxRequestWorkers " . 2 * THREADS . "\n";

# On a busy machine it takes longer to bring 40 polls to one child than polls wait elsewhere.
my $patient = qq(Timeout 300\n<Location "/vault/poll">\n    VaultLongPollTimeout 280\n</Location>\n);
my ($seed, $stops) = (seed(18), $ENV{VAULT_STOPS} || 12);
srand $seed;

# httpd 2.4.71 may crash when it is stopped just as many connections are being closed (VaultTest::Server): that is not
# what is looked for here.
tolerate(qr/AH0005[12]: child pid \d+ exit signal Segmentation fault/, qr/VLT00004/);

# Connections of pages that have been answered, and whose next request the MPM waits for as for that of a poll; in this
# child, or in any.
sub answered
{
    my ($n, $child) = @_;
    my @pages = map { live_page(['/test/rows?name=f18-idle&interest=f18-idle']) } 1 .. $n;
    my @polls = map { $child ? poll_in($child, $_) : $_->start_poll } @pages;
    wait_waiting($n);
    text_of('/test/add?name=f18-idle&notify=f18-idle');
    $pages[$_]->finish_poll($polls[$_]) for 0 .. $#pages;
    return @polls;
}

# TERM; what httpd said of children that did not end.
sub stopped
{
    my ($server) = @_;
    $server->stop_at_once;
    return grep { /AH0004[5-7]:|did not exit/ } $server->lines;
}

# All threads of a child are busy when the crowd comes. When they are free, its listener hands out what it has, and all
# threads are busy again.
my $server = use_server(VaultTest::Server->start('crowd', size => $two, config => $patient));
my ($child) = children(2);
my @crowd = answered(THREADS + CROWD, $child);
my @busy = splice @crowd, 0, THREADS;
$_->request(GET => '/test/wait?before=f18-first') for @busy;
wait_arrived('f18-first', THREADS);
$_->request(GET => '/test/wait?before=f18-second') for @crowd;
open_barrier('f18-first');
wait_arrived('f18-second', THREADS);
my @hung = stopped($server);
is(scalar @hung, 0, 'a child that had still to hand out connections ended by itself') or diag(@hung);

# httpd forgets a TERM that comes while it restarts.
sub restart
{
    my ($scene) = @_;
    kill USR1 => $scene->{server}->pid;
    wait_until(sub { (grep { /resuming normal operations/ } $scene->{server}->lines) > 1 }, 'the server has restarted');
    return;
}

# What each of the parts does when the server is about to be stopped.
my %acts = (
    'hangs up' => sub { $_->close for @{$_[0]{polls}}, map { $_->{connection} } @{$_[0]{streams}} },
    'is told' => sub { $_[0]{teller}->request(GET => '/test/add?name=f18&notify=f18') },
    'asks' => sub { $_->request(GET => '/test/pid') for @{$_[0]{idle}} },
    'is restarted' => \&restart,
);
my ($hung, @how) = (0);
for my $n (1 .. $stops) {
    my %scene = (server => use_server(VaultTest::Server->start("crowd-$n", size => $one, config => $patient)));
    $scene{idle} = [answered(PARTS)];
    $scene{polls} = [map { live_page(['/test/rows?name=f18&interest=f18'])->start_poll } 1 .. 2 * PARTS];
    $scene{streams} = [map { VaultTest::Events->open([live_page(['/test/rows?name=f18&interest=f18'])]) } 1 .. PARTS];
    wait_waiting(3 * PARTS);
    $scene{teller} = connect_to();
    my @names = sort { rand() <=> 0.5 } sort keys %acts;
    splice @names, int rand @names;
    $acts{$_}->(\%scene) for @names;
    my @lines = stopped($scene{server}) or next;
    $hung++;
    diag("seed $seed, stop $n: @names\n", @lines);
}
is($hung, 0, "seed $seed: no child of $stops servers hung when it was stopped");
use_server();
finish();
