# SPDX-License-Identifier: Apache-2.0
# Servers of httpd's to be measured: each on a free port of 127.0.0.1, in a folder of its own, stopped at the end.
package Bench::Server;
use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use POSIX qw(WNOHANG);
use Time::HiRes qw(clock_gettime);

our @EXPORT = qw(cpu_seconds children_of set_up find_built base_configuration common_configuration bench_pages start_daemon start_server start_program server_answer server_status await_quiet stop_server stop_all
    report_log run_program figures_of account free_port give_away read_file write_file %place);

our %place;    # source, build, dir (temporary; $dir/htdocs is what is served), httpd, modules
my %running;   # pid => 1

# More directives for every server: those of the command line. Later lines win: they come after the case's own.
my $more = '';

sub set_up
{
    my ($build, $directives) = @_;
    my ($httpd, $modules) = find_httpd();
    %place = (
        source  => dirname(dirname(abs_path($0))),
        build   => $build,
        dir     => tempdir('vault-bench-XXXXXX', TMPDIR => 1, CLEANUP => 1),
        httpd   => $httpd,
        modules => $modules,
    );
    $more = $directives;
    chmod 0755, $place{dir};    # httpd changes its user
    mkdir "$place{dir}/htdocs" or die "bench/run: $place{dir}/htdocs: $!\n";
}

sub find_built
{
    my ($name) = @_;
    my $build = $place{build};
    for my $path ("$build/bench/$name", "$build/$name", "$build/.libs/$name", "$build/bench/.libs/$name",
        "$build/t/test_module/.libs/$name") {
        return $path if -f $path;
    }
    die "bench/run: no $name below $build: run `make bench` there\n";
}

# ---------------------------------------------------------------- configuration

# Later lines win: this comes after the demo's own configuration.
# `generations`: how many restarts may follow so quickly that their old children are still there.
sub common_configuration
{
    my ($children, $generations) = @_;
    my $threads = 25 * $children;
    my $server_limit = $children * (1 + ($generations // 0));
    return <<"END";
LogLevel warn
ListenBacklog 16384
ServerLimit $server_limit
StartServers $children
ThreadsPerChild 25
ThreadLimit 25
MaxRequestWorkers $threads
MinSpareThreads 1
MaxSpareThreads $threads
MaxConnectionsPerChild 0
AsyncRequestWorkerFactor 400
Timeout 300
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 60
VaultSharedMemory 256M
VaultMaxPages 20000
VaultMaxPagesPerClient 20000
VaultMaxMemoryPerClient 256M
VaultMaxInterestsPerClient 10000000
VaultMaxWaitingPerClient 1000000
VaultMaxUnsentPerClient 64G
VaultMaxWaiting 9000
VaultLongPollTimeout 120
$more
END
}

# A server with mod_vault and /vault; `case` is what the case adds, with its own modules.
sub base_configuration
{
    my ($children, $case, $generations) = @_;
    my $load = join '', map { "LoadModule ${_}_module $place{modules}/mod_$_.so\n" }
        grep { -e "$place{modules}/mod_$_.so" } qw(mpm_event unixd authz_core authz_host);
    my ($user, $group) = account();
    my $account = $> == 0 ? "User $user\nGroup $group\n" : '';
    my $vault = find_built('mod_vault.so');
    return <<"END" . $case . common_configuration($children, $generations);
ServerName localhost
DocumentRoot "$place{dir}/htdocs"
$load$account
LoadModule vault_module "$vault"
<Location /vault/poll>
    SetHandler vault-poll
</Location>
<Location /vault/notify>
    SetHandler vault-notify
    Require vault-local
</Location>
<Location /vault/status>
    SetHandler vault-status
</Location>
END
}

# A page of mod_vault_bench and its method, at /bench/page and /bench/method.
sub bench_pages
{
    my $module = find_built('mod_vault_bench.so');
    return <<"END";
LoadModule vault_bench_module "$module"
<Location /bench>
    VaultLongPoll On
</Location>
<Location /bench/page>
    SetHandler vault-bench-page
</Location>
<Location /bench/method>
    SetHandler vault-bench-method
</Location>
END
}

# Whom the server runs as when it is started by root.
sub account
{
    my $user = (grep { defined getpwnam $_ } qw(www-data apache nobody))[0] // die "bench/run: no user for httpd\n";
    return ($user, scalar getgrgid((getpwnam $user)[3]));
}

# Let the server write what root made for it.
sub give_away
{
    my ($user) = account();
    chown((getpwnam $user)[2, 3], @_) if $> == 0;
}

# ---------------------------------------------------------------- start and stop

# `named`: in which folder. `port`: when the configuration has its own Listen line.
sub start_server
{
    my ($named, $children, $configuration, $port) = @_;
    my $root = "$place{dir}/$named";
    my $listen = defined $port ? '' : 'Listen 127.0.0.1:' . ($port = free_port()) . "\n";
    my @define = $> == 0 ? ('-DVAULT_DEMO_AS_ROOT') : ();
    mkdir $root;
    unlink "$root/error_log";
    write_file("$root/httpd.conf", <<"END");
ServerRoot "$root"
$listen$configuration
DefaultRuntimeDir "$root"
PidFile "$root/httpd.pid"
ErrorLog "$root/error_log"
END
    my $pid = fork() // die "bench/run: no process: $!\n";
    if ($pid == 0) {
        setpgrp 0, 0;    # httpd with the prefork MPM ends by a signal to its process group
        exec 'sh', '-c', 'ulimit -n "$(ulimit -H -n)"; exec "$@"', 'sh', $place{httpd}, '-DFOREGROUND', @define, '-f',
            "$root/httpd.conf"
            or POSIX::_exit(127);
    }
    $running{$pid} = 1;
    my $server = {pid => $pid, port => $port, log => "$root/error_log", named => $named};
    await_server($server, $children);
    return $server;
}

# Another server, which answers on a port of its own when it has started, and ends by SIGTERM.
sub start_program
{
    my ($named, $port, $log, @command) = @_;
    my $server = fork_program($named, $log, @command);
    $server->{port} = $port;
    await_server($server, 1);
    return $server;
}

# The same for one that does not answer HTTP, and has started when this holds.
sub start_daemon
{
    my ($named, $log, $has_started, @command) = @_;
    my $server = fork_program($named, $log, @command);
    for (1 .. 500) {
        return $server if $has_started->($server->{pid});
        select undef, undef, undef, 0.02;
    }
    die "bench/run: $named did not start within 10 s:\n", read_file($log);
}

sub fork_program
{
    my ($named, $log, @command) = @_;
    my $pid = fork() // die "bench/run: no process: $!\n";
    if ($pid == 0) {
        open STDOUT, '>', $log;
        open STDERR, '>&', \*STDOUT;
        exec @command or POSIX::_exit(127);
    }
    $running{$pid} = 1;
    return {pid => $pid, log => $log, named => $named};
}

sub await_server
{
    my ($server, $children) = @_;
    for (1 .. 500) {
        if (waitpid($server->{pid}, WNOHANG) == $server->{pid}) {
            delete $running{$server->{pid}};
            die "bench/run: $server->{named} did not start:\n", read_file($server->{log});
        }
        return if children_of($server->{pid}) >= $children && answers($server->{port});
        select undef, undef, undef, 0.02;
    }
    die "bench/run: $server->{named} did not answer GET /vault/status?auto within 10 s:\n", read_file($server->{log});
}

# The clients have hung up: a stop among a hundred hang-ups takes httpd's listener some seconds.
sub await_quiet
{
    my ($port) = @_;
    for (1 .. 100) {
        my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 5) or return;
        print $socket "GET /vault/status?auto HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        my $status = do { local $/; <$socket> } // '';
        return if $status =~ /^Waiting: 0$/m && $status !~ /^Qos1(?:Running|Queued): [1-9]/m;
        select undef, undef, undef, 0.05;
    }
}

sub stop_server
{
    my ($server) = @_;
    stop($server->{pid});
}

sub stop_all
{
    stop($_) for keys %running;
}

sub stop
{
    my ($pid) = @_;
    return if !delete $running{$pid};
    kill 'TERM', $pid;
    waitpid $pid, 0;
}

sub answers
{
    my ($port) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 2) or return 0;
    print $socket "GET /vault/status?auto HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    my $line = <$socket> // '';
    return $line =~ m{^HTTP/1\.1 200 };
}

sub children_of
{
    my ($parent) = @_;
    my @children;
    for my $stat (glob '/proc/[0-9]*/stat') {
        my $text = read_file($stat);
        push @children, $text =~ /^(\d+)/ if $text =~ /.*\) \S (\d+)/s && $1 == $parent;
    }
    return @children;
}

# What a process and its children have used so far, by the clocks that Linux has for processes: clock_getcpuclockid(3).
sub cpu_seconds
{
    my ($parent) = @_;
    my $sum = 0;
    for my $pid ($parent, children_of($parent)) {
        my $clock = do { use integer; ~(0 + $pid) << 3 | 2 };
        my $seconds = clock_gettime($clock);
        $sum += $seconds if $seconds > 0;
    }
    return $sum;
}

sub free_port
{
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 1)
        or die "bench/run: no free port: $!\n";
    return $socket->sockport;
}

# The body of a page that must be there.
sub server_answer
{
    my ($server, $path) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->{port}, Timeout => 10)
        or die "bench/run: no connection to port $server->{port}: $!\n";
    print $socket "GET $path HTTP/1.0\r\nHost: localhost\r\n\r\n";
    my $answer = do { local $/; <$socket> } // '';
    die "bench/run: GET $path was answered: $answer\n" if $answer !~ m{^HTTP/1\.[01] 200 };
    return $answer =~ s/^.*?\r\n\r\n//sr;
}

# The counters, summed over the children.
sub server_status { return figures_of(server_answer($_[0], '/vault/status?auto')) }

# A server that complains is not what is to be measured. AH00484 (all threads were busy) is what a broadcast asks for.
sub report_log
{
    my ($server, $what) = @_;
    my @lines = grep { /\[\w*:(?:warn|error|crit|alert|emerg)\]/ && !/AH00484/ } split /^/, read_file($server->{log});
    return if !@lines;
    print "$what: the error log has ", scalar @lines, " lines, the first: $lines[0]";
}

# ---------------------------------------------------------------- files and programs

# Runs one of ours to its end. Returns what it wrote, and $? is its status; or says so and returns undef, when it was killed or its
# code is above `bearable`.
sub run_program
{
    my ($what, $bearable, $name, @arguments) = @_;
    my @command = (find_built($name), @arguments);
    open(my $pipe, '-|', @command) or die "bench/run: $command[0]: $!\n";
    my $output = do { local $/; <$pipe> } // '';
    close $pipe;
    return $output if !($? & 127) && $? >> 8 <= $bearable;
    print "$what: failed: @command\n";
    return undef;
}

# {NAME => VALUE} of lines "NAME: VALUE".
sub figures_of
{
    my ($output) = @_;
    return {$output =~ /^(\w+): (\S+)$/mg};
}

sub find_program
{
    my (@names) = @_;
    for my $name (@names) {
        return $name if $name =~ m{/} && -x $name;
        for my $folder (split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/local/sbin') {
            return "$folder/$name" if $folder ne '' && -x "$folder/$name";
        }
    }
    die "bench/run: none of @names was found; set HTTPD and APXS\n";
}

sub find_httpd
{
    my $apxs = find_program($ENV{APXS} ? $ENV{APXS} : qw(apxs apxs2));
    chomp(my $modules = `$apxs -q LIBEXECDIR`);
    return (find_program($ENV{HTTPD} ? $ENV{HTTPD} : qw(apache2 httpd)), $modules);
}

sub read_file
{
    my ($path) = @_;
    open(my $handle, '<', $path) or return '';
    local $/;
    return <$handle> // '';
}

sub write_file
{
    my ($path, $text) = @_;
    open(my $handle, '>', $path) or die "bench/run: $path: $!\n";
    print $handle $text;
    close $handle or die "bench/run: $path: $!\n";
}

1;
