# SPDX-License-Identifier: Apache-2.0
# Three servers, two engines, Redis and a database, each on a host of its own, under load. By a seed, parts are killed, frozen, cut off from each other,
# slowed and restarted. In the end each page shows what a fresh one shows, and no row has come twice. Most interests are notified once only, so that
# no later notify makes good one that was lost. With each VaultClusterStrategy, and then with VaultPageStore.
#
# VAULT_FAULT_SECONDS=600 VAULT_STRESS_SEED=random make check-httpd T=t/cluster/20-random-faults.t looks for longer, in runs of twenty seconds;
# VAULT_STRESS_SEED=N repeats it, and VAULT_FAULT_STRATEGY=filters looks at one strategy only.
use strict;
use warnings;
use VaultTest::Net;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Fleet;
use VaultTest::Random;
use VaultTest::Stress;
use VaultTest::Viewers;
use Time::HiRes qw(time);

for my $why (grep { $_ } net_missing(), VaultTest::Fleet::missing()) {
    plan skip_all => $why;
}

my $SECONDS = $ENV{VAULT_FAULT_SECONDS} || 3;
my $LONGEST = $SECONDS < 10 ? 3000 : 6000;    # milliseconds of a fault, at most
my $RUN = 20;    # of this many seconds at most
my @STRATEGIES = qw(subscriptions filters broadcast);
my ($ONLY) = grep { $_ } $ENV{VAULT_FAULT_STRATEGY};
die "VAULT_FAULT_STRATEGY=$ONLY: @STRATEGIES are accepted\n" if $ONLY && !grep { $_ eq $ONLY } @STRATEGIES;

my $fleet = VaultTest::Fleet->start('faults');
my @servers = $fleet->servers;
my $viewers;
my $run = 0;
# What servers and libraries say of parts that are away, and of children that were killed.
tolerate(qr/VLT0049[4-8]|VLT0045[56]|VLT00004: child|AH00052: .*Killed|AH1039[23]|AH00098/);
tolerate(qr/VLT0001[01]|VLT000(?:20|30|40|70): .*(?:cannot be opened|connection|server|timeout|longer|recovery|startup|shutting)/);

# step until this holds
sub until_true
{
    my ($fact, $what) = @_;
    return wait_until(sub { $viewers->step; $fact->() }, $what);
}

# ---------------------------------------------------------------- faults

my %disturbed;   # what has happened: "kill a", "cut a from b" …
my $stranded_in = '';    # the server that the last run has killed in the end
my %busy;        # parts to whose processes something happens now
my %cuts;        # "a>b"
my @free;        # tables that the writer leaves alone
my @stranded;    # of these, those with a row that a server was notified of when it was killed
my @owed;        # those with a row that no server was notified of
my $can_slow = $fleet->part('a')->{host}->can_slow;
note('this kernel cannot slow a host: it has no tbf') if !$can_slow;

# Each returns how it ends, or nothing if it is not possible now. `names` are for the log.
my %FAULTS = (
    kill => sub {
        my ($part) = @_;
        $part->{crash}->();
        return sub { $part->{again}->() };
    },
    freeze => sub {
        my ($part) = @_;
        my @pids = $part->{pids}->();
        VaultTest::Main::freeze(@pids);
        return sub { kill CONT => @pids };
    },
    restart => sub {
        my ($part) = @_;
        return if !$part->{server};
        kill USR1 => $part->{server}->pid;
        return sub { };
    },
    child => sub {
        my ($part) = @_;
        return if !$part->{server};
        my $gateway = gateway_of($part->{server});
        kill KILL => $gateway if grep { $_ == $gateway } $part->{pids}->();
        return sub { };
    },
    # A server is killed when it has been notified, and has not passed that on yet.
    strand => sub {
        my ($part, $is_last) = @_;
        return if !$part->{server} || $busy{db} || @free < ($is_last ? 3 : 6);
        my $gateway = gateway_of($part->{server});
        VaultTest::Main::freeze($gateway) if grep { $_ == $gateway } $part->{pids}->();
        push @{$fleet->write_free($_, $run, $part->{server}) ? \@stranded : \@owed}, $_ for splice @free, 0, 3;
        $part->{crash}->();
        $disturbed{"kill $part->{name}"} = 1;
        return sub { $part->{again}->() };
    },
    slow => sub {
        my ($part) = @_;
        return if !$can_slow;
        $part->{host}->slow;
        return sub { $part->{host}->fast };
    },
);

# In both directions, or in one.
sub cut
{
    my ($from, $to, $both) = @_;
    my @pairs = grep { !$cuts{"$_->[0]{name}>$_->[1]{name}"}++ } [$from, $to], $both ? [$to, $from] : ();
    $_->[0]{host}->cut($_->[1]{host}) for @pairs;
    return sub {
        for my $pair (@pairs) {
            $pair->[0]{host}->join($pair->[1]{host});
            delete $cuts{"$pair->[0]{name}>$pair->[1]{name}"};
        }
    };
}

# {at => when it ends, end => how}, or nothing
sub begin_fault
{
    my ($kind, $part, $other, $is_last) = @_;
    my ($both, $length) = (random(3), 0.3 + random($LONGEST) / 1000);
    return if $kind eq 'cut' ? $part == $other : $busy{$part->{name}};
    my $end = $kind eq 'cut' ? cut($part, $other, $both) : $FAULTS{$kind}->($part, $is_last);
    return if !$end;
    my $what = $kind eq 'cut' ? "cut $part->{name} " . ($both ? 'and' : 'from') . " $other->{name}" : "$kind $part->{name}";
    $disturbed{$what} = 1;
    note(sprintf '%6.2f %s for %.1f s', time - $^T, $what, $length);
    $busy{$part->{name}} = 1 if $kind ne 'cut';
    return {at => time + $length, end => sub { $end->(); delete $busy{$part->{name}} if $kind ne 'cut' }};
}

sub draw_fault
{
    my @parts = $fleet->parts;
    my $kind = (qw(kill freeze restart child strand slow cut cut))[random(8)];
    return begin_fault($kind, $parts[random(scalar @parts)], $parts[random(scalar @parts)]);
}

# The first one is an engine that is killed: notifies are lost, unless all pages check for changes when it is back.
sub run_faults
{
    my ($seconds) = @_;
    my $until = time + $seconds;
    my $next = time + 0.5;
    my @now = begin_fault('kill', ($fleet->parts(qw(nats1 nats2)))[random(2)]);
    while (time < $until || @now) {
        $viewers->step;
        if (time > $next && time < $until && @now < 3 && (my $fault = draw_fault())) {
            push @now, $fault;
            $next = time + random(1000) / 1000;
        }
        my $time = time;
        $_->{end}->() for grep { $_->{at} <= $time } @now;
        @now = grep { $_->{at} > $time } @now;
        Time::HiRes::sleep(0.005);    # between two looks at the pages
    }
    return;
}

sub hears_all
{
    my ($server) = @_;
    my $status = eval { on($server, sub { status() }) } // {};
    return ($status->{Engines} // 0) == 2 && ($status->{ClusterServers} // 0) == @servers;
}

# The last fault, when all servers hear each other: the others cannot know what a server was notified of. It comes back when their pages have
# checked for changes because it is silent, so that it is not for a new server that they check.
sub strand_one
{
    my $part = ($fleet->parts(qw(a b c)))[random(3)];
    until_true(sub { !grep { !hears_all($_) } @servers }, 'all servers hear each other');
    @stranded = ();
    my $fault = begin_fault('strand', $part, undef, 'the last one');
    my @lost = map { "q${_}_$run" } @stranded;
    my $deadline = time + 20;
    my $truth = $fleet->truth;
    while (time < $deadline) {
        $viewers->step;
        my @others = grep { $_->{page} && $_->{server} != $part->{server} } @{$viewers->{pages}};
        last if !grep { my $page = $_; grep { $truth->{$_} eq $page->{path} && !$page->{shows}{$_} } @lost } @others;
        Time::HiRes::sleep(0.005);    # between two looks at the pages
    }
    $stranded_in = $part->{name};
    ok(time < $deadline, "pages of the others show what server $part->{name} was notified of before it was killed");
    $fault->{end}->();
    $fleet->notify_once($_, @servers) for splice @owed;
    return;
}

# ---------------------------------------------------------------- the test

sub open_viewers
{
    my ($roam) = @_;
    $viewers = VaultTest::Viewers->open([$fleet->once_paths], map { my $server = $_; map { $server } $fleet->once_paths } @servers);
    $viewers->roam(@servers) if $roam;
    until_true(sub { !grep { !$_->{poll} } @{$viewers->{pages}} }, 'the pages are loaded');
    return;
}

sub is_whole
{
    my ($why) = @_;
    my $truth = $fleet->truth;
    my ($deadline, $again) = (time + PATIENCE, time + 1);
    while ($viewers->behind($truth) && time < $deadline) {
        $viewers->step;
        next if time < $again;
        ($truth, $again) = ($fleet->truth, time + 1);    # a server may still save a row, whose writer has given up waiting
    }
    my @behind = $viewers->behind($truth);
    ok(!@behind, "$why: each of the " . @{$viewers->{pages}} . ' pages shows its part of ' . keys(%$truth) . ' rows') or diag(map { "$_\n" } @behind);
    ok(!$viewers->faults, '... each once') or diag(map { "$_\n" } $viewers->faults);
    my $fresh = VaultTest::Viewers->open([$fleet->once_paths], @servers, $servers[0]);
    $fresh->step while (grep { !$_->{page} } @{$fresh->{pages}}) && time < $deadline;
    ok(!$fresh->behind($truth), '... and so do fresh ones');
    return;
}

# A server that was killed has lost its pages, unless they are in the store. The store keeps them, unless Redis was killed or missed something.
sub forgets_nothing
{
    my (%before) = @_;
    if ($viewers->{servers}) {
        return grep({ /redis/ } keys %disturbed) ? note('Redis was disturbed') : is($viewers->reloads - $before{all}, 0, 'no page was forgotten');
    }
    for my $part (grep { !$disturbed{"kill $_->{name}"} } $fleet->parts(qw(a b c))) {
        is($viewers->reloads($part->{server}) - $before{$part->{name}}, 0, "server $part->{name} was not killed, and forgot no page");
    }
    return;
}

sub run_once
{
    my ($seconds, $why) = @_;
    my %before = (all => $viewers->reloads, map { $_->{name} => $viewers->reloads($_->{server}) } $fleet->parts(qw(a b c)));
    # Pages of that one may notice only now that they are gone.
    %disturbed = ("kill $stranded_in" => 1);
    @free = $fleet->free_tables;
    my $writer = $fleet->start_writer(random(1_000_000), ++$run, $seconds);
    run_faults($seconds);
    $writer->end;
    strand_one();
    is_whole("$why, run $run");
    forgets_nothing(%before);
    return;
}

sub try_seed
{
    my ($seed, $why, $roam) = @_;
    open_viewers($roam);
    begin_random($seed);
    my $count = int(($SECONDS + $RUN - 1) / $RUN);
    run_once($SECONDS / $count, "$why, seed $seed") for 1 .. $count;
    return;
}

begin_random(1);
open_viewers();
$fleet->write_row(1, $servers[0]);
is_whole('one row');
my @tried = $ONLY || @STRATEGIES;
for my $number (1 .. @tried) {
    my $strategy = $tried[$number - 1];
    $fleet->use_strategy($strategy) if $strategy ne 'subscriptions';
    try_seed(seed($number), $strategy);
}
if (!$ONLY) {
    $fleet->use_store;
    try_seed(seed(4), 'any server takes any poll', 1);
}
finish();
