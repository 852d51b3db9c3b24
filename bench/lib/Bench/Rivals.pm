# SPDX-License-Identifier: Apache-2.0
# The case "rivals": the same broadcast and the same single messages on mod_vault, on nchan, and on a server that does nothing else.
package Bench::Rivals;
use strict;
use warnings;
use Exporter 'import';
use Bench::Figures;
use Bench::Server;
use IO::Socket::INET;

our @EXPORT = qw(run_rivals);

use constant {CHILDREN => 2, NCHAN => '/usr/lib/nginx/modules/ngx_nchan_module.so'};

# What is printed: its name, whether of the broadcast or of single messages, the figure, and what mod_vault's may be of nchan's.
my @lines = (
    ['KB a held poll',                     'broadcast', 'HeldKB'],
    ['KB a held poll, after an answer',    'broadcast', 'HeldAnsweredKB'],
    ['us of CPU an answer',                'broadcast', 'AnswerCpuUs',      'at most',  0.8],
    ['us of CPU an answer and next poll',  'broadcast', 'CycleCpuUs'],
    ['answers a second',                   'broadcast', 'AnswersPerSecond', 'at least', 1.2],
    ['one of all: ms, p50',                'single',    'LatencyP50Ms',     'at most',  1],
    ['one of all: ms, p99',                'single',    'LatencyP99Ms',     'at most',  1],
);

# Returns 1 if something could not be measured or was missed.
sub run_rivals
{
    my ($size) = @_;
    my ($polls, $runs) = @{{full => [5000, 2], quick => [1000, 2], smallest => [8, 1]}->{$size}};
    my %starts = (vault => \&start_vault, floor => \&start_floor, -e NCHAN ? (nchan => \&start_nchan) : ());
    my (%figures, $failed);
    print "\nnchan is left out: there is no ${\NCHAN} (libnginx-mod-nchan)\n" if !$starts{nchan};
    write_file("$place{dir}/htdocs/plain.txt", "0123456789abcde\n" x 20);
    for my $run (1 .. $runs) {
        for my $which (sort keys %starts) {
            for my $case (qw(broadcast single)) {
                my $figure = measure($which, $starts{$which}, $case, $polls, $size);
                $figure ? push @{$figures{$which}{$case}}, $figure : ($failed = 1);
            }
        }
    }
    print_rivals($polls, $runs, \%figures) if !$failed;
    return $failed;
}

sub measure
{
    my ($which, $start, $case, $polls, $size) = @_;
    my $rounds = $size eq 'smallest' ? 2 : $case eq 'single' ? 500 : 9;
    my $server = $start->();
    my $output = run_program("$which $case", 0, 'hold', '--port', $server->{port}, '--parent', $server->{pid}, '--connections', $polls,
        '--case', $case, '--rounds', $rounds, '--plain', 0, $which eq 'vault' ? () : '--pubsub');
    await_quiet($server->{port}) if $which eq 'vault';
    stop_server($server);
    return defined $output ? figures_of($output) : undef;
}

# A method whose output is shared, as a message of a channel is.
sub start_vault
{
    return start_server('rivals-vault', CHILDREN, base_configuration(CHILDREN, bench_pages() . <<'END'));
<Location /bench/method>
    VaultCache On
</Location>
END
}

sub start_floor
{
    my $port = free_port();
    my $server = start_daemon('floor', "$place{dir}/floor.log", sub { has_started($_[0], 1, $port) }, find_built('floor'), $port);
    $server->{port} = $port;
    return $server;
}

sub start_nchan
{
    my $port = free_port();
    my ($user) = account();
    my $account = $> == 0 ? "user $user;" : '';
    write_file("$place{dir}/nginx.conf", <<"END");
load_module ${\NCHAN};
$account
daemon off;
worker_processes ${\CHILDREN};
worker_rlimit_nofile 32768;
pid $place{dir}/nginx.pid;
error_log $place{dir}/nginx.log;
events { worker_connections 16384; }
http {
    access_log off;
    keepalive_requests 10000000;
    keepalive_timeout 3600;
    nchan_shared_memory_size 256M;
    server {
        listen 127.0.0.1:$port backlog=16384;
        root $place{dir}/htdocs;
        location = /sub { nchan_subscriber longpoll; nchan_channel_id \$arg_id; nchan_subscriber_first_message newest; }
        location = /pub { nchan_publisher; nchan_channel_id \$arg_id; nchan_store_messages off; }
        location = /nchan_stub_status { nchan_stub_status; }
    }
}
END
    my $server = start_daemon('nchan', "$place{dir}/nginx.out", sub { has_started($_[0], CHILDREN, $port) }, '/usr/sbin/nginx', '-e', "$place{dir}/nginx.log", '-c',
        "$place{dir}/nginx.conf");
    $server->{port} = $port;
    return $server;
}

# The parent listens before it has forked its children, whose memory and CPU the load program measures.
sub has_started
{
    my ($pid, $children, $port) = @_;
    return children_of($pid) == $children && defined IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 1);
}

# ---------------------------------------------------------------- the report

sub print_rivals
{
    my ($polls, $runs, $figures) = @_;
    print "\n$polls polls, ${\CHILDREN} processes (floor: 1), one load program, medians of $runs:\n\n";
    print "| | floor | nchan | mod_vault | of nchan | target |\n|---|---|---|---|---|---|\n";
    for my $line (@lines) {
        my ($name, $case, $figure, $bound, $target) = @$line;
        my %of = map { $_ => median(map { $_->{$figure} } @{$figures->{$_}{$case}}) } keys %$figures;
        my $ratio = $of{nchan} ? $of{vault} / $of{nchan} : undef;
        my $met = !defined $ratio || !$bound ? '' : ($bound eq 'at most' ? $ratio <= $target : $ratio >= $target) ? 'met' : 'NOT MET';
        printf "| %s | %s | %s | %s | %s | %s |\n", $name, map({ defined $of{$_} ? sprintf('%.4g', $of{$_}) : '' } qw(floor nchan vault)),
            defined $ratio ? sprintf('%.2f', $ratio) : '', $bound ? "$bound $target $met" : '';
    }
}

1;
