# SPDX-License-Identifier: Apache-2.0
# The case "restart": a graceful restart while N polls wait.
package Bench::Restart;
use strict;
use warnings;
use Exporter 'import';
use Bench::Server;

our @EXPORT = qw(run_restart);

# Returns 1 if something could not be measured, or a poll got what it should not.
sub run_restart
{
    my ($size, $verbose) = @_;
    my %cases = (full => [[1000, 2], [5000, 1], [5000, 2], [5000, 4]], quick => [[1000, 2]], smallest => [[8, 1]]);
    my %rounds = (full => 5, quick => 2, smallest => 1);
    my $failed = 0;
    my @worst = (0, 0);
    print_head();
    for my $case (@{$cases{$size}}) {
        my $figure = run_size(@$case, $rounds{$size}, $verbose);
        $failed = 1 if !$figure || bad($figure);
        next if !$figure;
        print_row(@$case, $figure);
        @worst = (max($worst[0], bad($figure)), max($worst[1], $figure->{OldGoneMs}));
    }
    printf "\n  %-57s at most %4s   %8s   %s\n", @$_, $_->[2] <= $_->[1] ? 'met' : 'NOT MET'
        for ['polls that got an error, or nothing, or missed the notify', 0, $worst[0]],
        ['ms until the old children are gone, median', 1000, $worst[1]];
    return $failed;
}

sub max { return $_[0] > $_[1] ? $_[0] : $_[1] }

# Polls that ended, or were told afterwards, otherwise than they should.
sub bad
{
    my ($figure) = @_;
    my $bad = 0;
    $bad += $figure->{$_} for qw(Ended200 EndedError EndedClosed EndedNever Missed);
    return $bad;
}

sub run_size
{
    my ($polls, $children, $rounds, $verbose) = @_;
    my $server = start_server("restart-$polls-$children", $children, base_configuration($children, bench_pages(), 2));
    my $output = run_program("restart $polls", 1, 'hold', '--port', $server->{port}, '--parent', $server->{pid}, '--connections',
        $polls, qw(--case restart --rounds), $rounds);
    await_quiet($server->{port});
    stop_server($server);
    report_log($server, "restart $polls");
    return undef if !defined $output;
    print "$output\n" if $verbose;
    return figures_of($output);
}

# ---------------------------------------------------------------- the report

sub print_head
{
    print <<'END';

Graceful restarts while all polls wait. What the polls got, over all rounds; and ms from the signal: until a poll has its answer, until the last
one has, until the old children have ended, until all wait on the new ones; from one notify then until all are told. Medians of the rounds, and
the worst.

                        what polls got               one's  the last   old children       all wait again         all told
   polls ch restarts    204   200  error  closed    answer    answer   gone    worst        ms     worst      ms    worst
END
}

sub print_row
{
    my ($polls, $children, $f) = @_;
    printf "%8d %2d %8d %6d %5d %6d  %6d  %8d  %8d %6d %8d  %8d  %8d  %6d %8d\n", $polls, $children, $f->{Rounds},
        $f->{Ended204}, $f->{Ended200}, $f->{EndedError}, $f->{EndedClosed} + $f->{EndedNever},
        @$f{qw(EndedMedianMs EndedLastMs OldGoneMs OldGoneMaxMs AllWaitingMs AllWaitingMaxMs AllToldMs AllToldMaxMs)};
}

1;
