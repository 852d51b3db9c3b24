# SPDX-License-Identifier: Apache-2.0
# The case "qos": a backend that gets slower the more it is asked at once, with VaultQosLimit and without.
package Bench::Qos;
use strict;
use warnings;
use Exporter 'import';
use Bench::Server;

our @EXPORT = qw(run_qos);

use constant {
    CHILDREN => 2,
    LIMIT    => 8,      # what the backend does best: bench/mod_vault_backend.c
    BEST     => 200,    # requests a second that it can do then
};

# Returns 1 if something could not be measured.
sub run_qos
{
    my ($size, $verbose) = @_;
    my %clients = (full => [8, 25, 50, 100, 200, 400], quick => [8, 200], smallest => [8]);
    my %times = (
        full     => [qw(--before 4000 --measure 5000)],
        quick    => [qw(--before 3000 --measure 2000)],
        smallest => [qw(--before 100 --measure 500)],
    );
    my (@rows, $failed);
    print_head();
    for my $clients (@{$clients{$size}}) {
        my %row = (clients => $clients);
        for my $limit ('Off', LIMIT) {
            $row{$limit} = run_way($clients, $limit, $verbose, @{$times{$size}}) or $failed = 1;
        }
        next if !$row{Off} || !$row{LIMIT()};
        print_row(\%row);
        push @rows, \%row;
    }
    print_bound(@rows) if @rows && $size ne 'smallest';
    return $failed;
}

sub run_way
{
    my ($clients, $limit, $verbose, @times) = @_;
    my $all = $limit eq 'Off' ? '' : $limit;    # one address asks here for everybody
    my $module = find_built('mod_vault_backend.so');
    my $server = start_server("qos-$limit", CHILDREN, base_configuration(CHILDREN, <<"END"));
LoadModule vault_backend_module "$module"
<Location /backend>
    SetHandler vault-bench-backend
    VaultQosLimit $limit $all
</Location>
END
    my $output = run_program("qos $clients $limit", 0, 'crowd', '--port', $server->{port}, '--clients', $clients, @times);
    await_quiet($server->{port});
    stop_server($server);
    report_log($server, "qos $clients $limit");
    return undef if !defined $output;
    my $figure = figures_of($output);
    print "$clients clients, VaultQosLimit $limit: ", join(', ', map { "$_ $figure->{$_}" } sort keys %$figure), "\n" if $verbose;
    return $figure;
}

# ---------------------------------------------------------------- the report

sub print_head
{
    printf <<'END', BEST, LIMIT, LIMIT;

A backend that does %d requests a second when %d are asked for at once, and less the more there are. Clients ask again at once, and
hang up after 3 s. Served: in time, a second. Plain: a file of 320 bytes, asked for meanwhile (ms).

         |              VaultQosLimit Off               |               VaultQosLimit %d
 clients |  served    p50  gave up  plain p50      max  |  served    p50  gave up  plain p50      max  refused
END
}

sub print_row
{
    my ($row) = @_;
    printf "%8d | %s  | %s %8d\n", $row->{clients}, columns($row->{Off}), columns($row->{LIMIT()}), $row->{LIMIT()}{Refused};
}

sub columns
{
    my ($f) = @_;
    return sprintf '%7.1f %6.0f %8d %10.1f %8.0f', @$f{qw(ServedPerSecond ServedP50Ms GaveUp PlainP50Ms PlainMaxMs)};
}

sub print_bound
{
    my @all = map { $_->{LIMIT()}{ServedPerSecond} } @_;
    my ($worst) = sort { $a <=> $b } @all;
    my $last = $_[-1];
    printf "\n  %-57s at least %3d   %8.0f   %s\n", '% of its best that the backend does, with the limit', 80, 100 * $worst / BEST,
        $worst >= 0.8 * BEST ? 'met' : 'NOT MET';
    printf "  %-57s              %8.0f\n", "% of it without, at $last->{clients} clients", 100 * $last->{Off}{ServedPerSecond} / BEST;
}

1;
