# SPDX-License-Identifier: Apache-2.0
# The case "cluster": how soon a notify on one server reaches a page on another one, what that costs by the number of servers, and what the
# engine does by itself.
package Bench::Cluster;
use strict;
use warnings;
use Exporter 'import';
use IO::Socket::INET;
use POSIX ();
use Bench::Server;

our @EXPORT = qw(run_cluster);

# Returns 1 if something could not be measured.
sub run_cluster
{
    my ($size, $verbose) = @_;
    if (!-f "$place{build}/.libs/mod_vault_nats.so") {
        print "cluster: left out, mod_vault was built without NATS\n";
        return 0;
    }
    my %servers = (full => [1, 2, 4, 6], quick => [1, 2], smallest => [2]);
    my %args = (full => [qw(--connections 100 --rounds 20)],
        quick => [qw(--connections 100 --rounds 3)], smallest => [qw(--connections 2 --rounds 2 --plain 20)]);
    my $port = free_port();
    my $nats = start_engine($port);
    my $failed = 0;
    print_head();
    for my $count (@{$servers{$size}}) {
        run_servers($count, $port, $verbose, @{$args{$size}}) or $failed = 1;
    }
    my $output = run_program('engine', 0, 'engine-bench', find_built('mod_vault_nats.so'), "nats://127.0.0.1:$port", {full => 2, quick => 0.5, smallest => 0.01}->{$size});
    defined $output ? print "\n$output" : ($failed = 1);
    stop_server($nats);
    return $failed;
}

# It answers no status by HTTP.
sub start_engine
{
    my ($port) = @_;
    my ($program) = grep { -x } map { "$_/nats-server" } split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/local/sbin';
    die "bench/run: nats-server was not found\n" if !$program;
    return start_daemon('nats-server', "$place{dir}/nats.log", sub { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) }, $program, '-a', '127.0.0.1',
        '-p', $port);
}

# The pages are on the first server.
sub run_servers
{
    my ($count, $port, $verbose, @args) = @_;
    my $module = find_built('mod_vault_nats.so');
    my $case = bench_pages() . qq(LoadModule vault_nats_module "$module"\nVaultCluster nats://127.0.0.1:$port\nVaultNotifyRate 1000000\n);
    my @servers = map { start_server("cluster-$count-$_", 1, base_configuration(1, $case)) } 1 .. $count;
    await_engine($_) for @servers;
    my ($first, $failed) = ($servers[0], 0);
    for my $from ($count == 1 ? $first : ($first, $servers[-1])) {
        my $output = run_program("cluster $count", 0, 'hold', '--port', $first->{port}, '--parent', $first->{pid}, '--notify-at', $from->{port}, '--case', 'each', @args);
        await_quiet($first->{port});
        $failed = 1 if !defined $output;
        print_row($count, $from == $first ? 'the same' : 'another', figures_of($output)) if defined $output;
        print $output if $verbose && defined $output;
    }
    for my $server (@servers) {
        stop_server($server);
        report_log($server, "cluster $count");
    }
    return !$failed;
}

sub await_engine
{
    my ($server) = @_;
    for (1 .. 500) {
        return if server_status($server)->{Engines};
        select undef, undef, undef, 0.02;
    }
    die "bench/run: a server is not connected to its engine\n";
}

# ---------------------------------------------------------------- the report

sub print_head
{
    print <<'END';

A hundred pages on one server, which are notified one after the other, at the same server or at another one. Milliseconds until a page has its
answer, and CPU of the pages' server, with that of the request that notifies where it is the same.

 servers   notified      p50 ms   p99 ms   us CPU an answer   missed
END
    return;
}

sub print_row
{
    my ($count, $from, $f) = @_;
    printf "%8d   %-10s %9.2f %8.2f %18.1f %8d\n", $count, $from, @$f{qw(LatencyP50Ms LatencyP99Ms)}, $f->{AnswerCpuUs} // 0, $f->{Missed};
    return;
}

1;
