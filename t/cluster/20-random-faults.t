# SPDX-License-Identifier: Apache-2.0
# Three servers, two engines, Redis and a database, each on a host of its own, under load. By a seed, parts are killed, frozen, cut off from each other,
# slowed and restarted. In the end each page shows what a fresh one shows, and no row has come twice.
#
# VAULT_FAULT_SECONDS=600 VAULT_STRESS_SEED=random make check-httpd T=t/cluster/20-random-faults.t looks for longer; VAULT_STRESS_SEED=N repeats a run.
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

my $SECONDS = $ENV{VAULT_FAULT_SECONDS} || 5;
my $fleet = VaultTest::Fleet->start('faults');
my @servers = $fleet->servers;
my $viewers = VaultTest::Viewers->open('/fleet/rows.shtml', map { ($_) x 4 } @servers);
# What servers and libraries say of parts that are away, and of children that were killed.
tolerate(qr/VLT0049[4-8]|VLT0045[56]|VLT00004: child|AH00052: .*Killed|AH1039[23]|AH00098/);
tolerate(qr/VLT0001[01]|VLT000(?:20|30|40|70): .*(?:cannot be opened|connection|server|timeout|recovery|startup|shutting)/);

# step until this holds
sub until_true
{
    my ($fact, $what) = @_;
    return wait_until(sub { $viewers->step; $fact->() }, $what);
}

# ---------------------------------------------------------------- faults

my %disturbed;   # what has happened: "kill a", "cut a from b" …
my %busy;        # parts to whose processes something happens now
my %cuts;        # "a>b"
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

# [when it ends, how]
sub draw_fault
{
    my @parts = $fleet->parts;
    my $kind = (qw(kill freeze restart child slow cut cut))[random(7)];
    my $part = $parts[random(scalar @parts)];
    my $other = $parts[random(scalar @parts)];
    my ($both, $length) = (random(3), 0.3 + random(6000) / 1000);
    return if $kind eq 'cut' ? $part == $other : $busy{$part->{name}};
    my $end = $kind eq 'cut' ? cut($part, $other, $both) : $FAULTS{$kind}->($part);
    return if !$end;
    my $what = $kind eq 'cut' ? "cut $part->{name} " . ($both ? 'and' : 'from') . " $other->{name}" : "$kind $part->{name}";
    $disturbed{$what} = 1;
    note(sprintf '%6.2f %s for %.1f s', time - $^T, $what, $length);
    $busy{$part->{name}} = 1 if $kind ne 'cut';
    return {at => time + $length, end => sub { $end->(); delete $busy{$part->{name}} if $kind ne 'cut' }};
}

sub run_faults
{
    my ($seconds) = @_;
    my ($until, $next, @now) = (time + $seconds, 0);
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

# ---------------------------------------------------------------- the test

sub is_whole
{
    my ($why) = @_;
    my $truth = $fleet->truth;
    my $deadline = time + PATIENCE;
    $viewers->step while $viewers->behind($truth) && time < $deadline;
    my @behind = $viewers->behind($truth);
    ok(!@behind, "$why: each of the " . @{$viewers->{pages}} . ' pages shows the ' . keys(%$truth) . ' rows') or diag(map { "$_\n" } @behind);
    ok(!$viewers->faults, '... each once') or diag(map { "$_\n" } $viewers->faults);
    my $fresh = VaultTest::Viewers->open('/fleet/rows.shtml', @servers);
    $fresh->step while (grep { !$_->{page} } @{$fresh->{pages}}) && time < $deadline;
    ok(!$fresh->behind($truth), '... and so do fresh ones');
    return;
}

until_true(sub { !grep { !$_->{poll} } @{$viewers->{pages}} }, 'the pages are loaded');
begin_random(1);
$fleet->write_row(1, $servers[0]);
is_whole('one row');

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

sub try_seed
{
    my ($seed) = @_;
    my %before = (all => $viewers->reloads, map { $_->{name} => $viewers->reloads($_->{server}) } $fleet->parts(qw(a b c)));
    %disturbed = ();
    begin_random($seed);
    my $writer = $fleet->start_writer($seed);
    run_faults($SECONDS);
    $writer->end;
    is_whole("seed $seed");
    forgets_nothing(%before);
    return;
}

try_seed(seed(1));
$fleet->use_store;
$viewers = VaultTest::Viewers->open('/fleet/rows.shtml', map { ($_) x 4 } @servers);
$viewers->roam(@servers);
note('from here on any server takes any poll');
try_seed(seed(2));
finish();
