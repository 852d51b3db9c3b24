# SPDX-License-Identifier: Apache-2.0
# Another httpd that belongs to the test, beside that of Apache::Test: with another MPM, other limits, or to be
# stopped.
#
#     my $server = VaultTest::Server->start('prefork', mpm => 'prefork', config => "VaultLongPollThreads 2\n");
#     use_server($server);      # get(), status(), open_page() … talk to it from here on
#
# It has the modules and locations of the main server (t/conf/extra.conf.in), and then `config`. It is stopped at
# the end of the test, and finish() checks its error log as well.
package VaultTest::Server;
use strict;
use warnings;
use VaultTest::Main qw(vars);
use IO::Socket::INET;
use POSIX ();
use Time::HiRes ();

# One child with few threads, unless the test sets other values.
my %SIZES = (
    event => "StartServers 1\nServerLimit 4\nThreadLimit 8\nThreadsPerChild 8\nMinSpareThreads 1\nMaxSpareThreads 100\n"
        . "MaxRequestWorkers 8\nAsyncRequestWorkerFactor 60\n",
    worker => "StartServers 1\nServerLimit 4\nThreadLimit 16\nThreadsPerChild 16\nMinSpareThreads 1\nMaxSpareThreads 100\n"
        . "MaxRequestWorkers 16\n",
    prefork => "StartServers 6\nServerLimit 12\nMinSpareServers 1\nMaxSpareServers 12\nMaxRequestWorkers 12\n",
);

# Tolerated: a worker returns a connection to the MPM's pollset after the main thread, which was told to stop, has
# closed the socket.
my $LATE = qr/\(9\)Bad file descriptor: (?:\[[^\]]*\] )?AH(?:10503|03092|03093):/;

my @started;

sub all { return @started }

# Does httpd have this MPM as a module?
sub has_mpm
{
    my ($mpm) = @_;
    return -f _modules_dir() . "/mod_mpm_$mpm.so";
}

sub _modules_dir
{
    my ($line) = grep { /mpm_event_module/ } _lines(vars('top_dir') . '/t/conf/modules.conf');
    return $line =~ m{(/\S+)/mod_mpm_event\.so} ? $1 : die "t/conf/modules.conf names no MPM\n";
}

sub _lines
{
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    return readline $file;
}

sub free_port
{
    my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "no port: $!\n";
    return $socket->sockport;
}

# start(NAME, mpm => 'event', size => "ThreadsPerChild …", config => "…", env => {NAME => VALUE}, without_vault => 1, without_cgid => 1,
#       host => a VaultTest::Net: it runs there)
sub start
{
    my ($class, $name, %with) = @_;
    my $self = bless {name => $name, mpm => 'event', config => '', size => '', env => {}, %with}, $class;
    $self->{dir} = vars('t_logs') . "/$name";
    mkdir $self->{dir} or -d $self->{dir} or die "$self->{dir}: $!\n";
    push @started, $self;
    for (1 .. 5) {
        $self->{port} = free_port();
        $self->_write_config;
        unlink $self->log, "$self->{dir}/output";
        $self->_launch;
        return $self->_tolerate_prefork unless $self->_has_ended;
        last unless grep { /make_sock: could not bind to address \S+:$self->{port}$/ } $self->_said;    # another process was quicker
        delete $self->{status};
    }
    die "the server $self->{name} did not start:\n", $self->_said;
}

# With this MPM the start logs a warning.
sub _tolerate_prefork
{
    my ($self) = @_;
    VaultTest::tolerate(qr{VLT00330}) if $self->{mpm} eq 'prefork' && !$self->{without_vault};
    return $self;
}

# A server that another test has started and will stop; checks its log from here on.
sub attach
{
    my ($class, $port, $tls_port, $pid, $log) = @_;
    return bless {port => $port, tls_port => $tls_port, pid => $pid, log => $log, over => $ENV{VAULT_OVER}, offset => 1 + (-s $log || 0)}, $class;
}

# Another test has checked its log.
sub ignore
{
    my ($self) = @_;
    $self->{ignored} = 1;
    return;
}

sub port { return $_[0]{port} }
sub address { return $_[0]{host} ? $_[0]{host}->address : '127.0.0.1' }
sub pid  { return $_[0]{pid} }
sub log  { return $_[0]{log} || "$_[0]{dir}/error_log" }

sub _write_config
{
    my ($self) = @_;
    my $top = vars('top_dir');
    my @modules = map { s/mpm_event/mpm_$self->{mpm}/gr } _lines("$top/t/conf/modules.conf");
    @modules = grep { !/http2_module/ } @modules if $self->{mpm} eq 'prefork';    # it warns that the two do not go together
    @modules = grep { !/cgid_module/ } @modules if $self->{without_cgid};
    open my $file, '>', "$self->{dir}/httpd.conf" or die "$self->{dir}/httpd.conf: $!\n";
    my $vault = $self->{without_vault} ? '' : qq(Include "$top/t/conf/extra.conf"\n);
    print $file @modules, <<"END", $SIZES{$self->{mpm}}, $self->{size}, $vault, $self->{config};
ServerRoot "$self->{dir}"
ServerName localhost
Listen @{[$self->address]}:$self->{port}
DocumentRoot "@{[vars('documentroot')]}"
DefaultRuntimeDir "$self->{dir}"
PidFile "$self->{dir}/httpd.pid"
ErrorLog "$self->{dir}/error_log"
LogLevel info@{[$vault ? ' vault:trace1 vault_test:debug' : '']}
<IfModule mod_cgid.c>
    ScriptSock "$self->{dir}/cgisock"
</IfModule>
SSLSessionCache none
TypesConfig /dev/null
Timeout 60
KeepAlive On
KeepAliveTimeout 30
MaxKeepAliveRequests 0
GracefulShutdownTimeout 20
<IfModule status_module>
    <Location "/server-status">
        SetHandler server-status
    </Location>
</IfModule>
END
    close $file or die "$self->{dir}/httpd.conf: $!\n";
    return;
}

# Restart gracefully with other directives.
sub reconfigure
{
    my ($self, $config) = @_;
    $self->{config} = $config;
    $self->_write_config;
    VaultTest::graceful_restart();
    return;
}

sub _launch
{
    my ($self) = @_;
    my $before = $self->_starts;
    my $pid = fork;
    die "fork: $!\n" unless defined $pid;
    if (!$pid) {
        POSIX::setsid();    # a stopping httpd sends TERM to its whole process group
        open STDOUT, '>>', "$self->{dir}/output";
        open STDERR, '>&', \*STDOUT;
        local @ENV{keys %{$self->{env}}} = values %{$self->{env}};
        exec $self->{host} ? $self->{host}->inside : (), $ENV{VAULT_HTTPD}, '-f', "$self->{dir}/httpd.conf", '-DFOREGROUND' or POSIX::_exit(1);
    }
    $self->{pid} = $pid;
    delete $self->{status};
    VaultTest::wait_until(sub { $self->_starts > $before || $self->_has_ended }, "the server $self->{name} runs");
    return;
}

# The messages from before it had a log, and those of the log.
sub _said
{
    my ($self) = @_;
    return (_lines("$self->{dir}/output"), $self->lines);
}

# It accepts connections before it has started completely, so this waits for a line of its log.
sub _starts
{
    my ($self) = @_;
    return scalar grep { /resuming normal operations/ } $self->lines;
}

# The configuration, as $server->{config} is now.
sub rewrite
{
    my ($self) = @_;
    $self->_write_config;
    return $self;
}

# Start it again, after a stop or crash.
sub again
{
    my ($self) = @_;
    $self->_launch;
    die "the server $self->{name} did not start again:\n", $self->_said if $self->_has_ended;
    return $self;
}

# Kill all its processes, as a power failure would.
sub crash
{
    my ($self) = @_;
    my @all = $self->processes;
    kill KILL => @all;
    VaultTest::wait_until(sub { $self->_has_ended && !grep { VaultTest::Main::state_of("/proc/$_") !~ /^[ZX]/ } @all }, "the server $self->{name} ends");
    return;
}

# Its parent and the children.
sub processes
{
    my ($self) = @_;
    return ($self->{pid}, grep { VaultTest::_is_child_of($_, $self->{pid}) } map { m{(\d+)$} } glob '/proc/[0-9]*');
}

# Has the process ended? Then its status is stored.
sub _has_ended
{
    my ($self) = @_;
    return 1 if defined $self->{status};
    return 0 unless waitpid($self->{pid}, POSIX::WNOHANG()) == $self->{pid};
    $self->{status} = $?;
    return 1;
}

# The content of the log, without the lines that only the stop has caused (see stop).
sub lines
{
    my ($self) = @_;
    return () if $self->{ignored} || !-f $self->log;
    open my $file, '<', $self->log or die $self->log . ": $!\n";
    seek $file, $self->{offset} - 1, 0 if $self->{offset};
    my @lines;
    while (my $line = readline $file) {
        push @lines, $line unless defined $self->{told} && tell $file > $self->{told} && $line =~ $LATE;
    }
    return @lines;
}

# Connections that a client has closed and the server has not (state 08, CLOSE_WAIT). The kernel tells at once.
sub _has_connections_to_close
{
    my ($self) = @_;
    my %ports = map { /^Listen \S*?(\d+)$/ ? (sprintf('%04X', $1) => 1) : () } _lines("$self->{dir}/httpd.conf");
    for my $line (map { -f $_ ? _lines($_) : () } qw(/proc/net/tcp /proc/net/tcp6)) {
        return 1 if $line =~ /^ *\d+: \w+:(\w+) \S+ 08 / && $ports{$1};
    }
    return 0;
}

# At TERM a child of httpd 2.4.71 shuts down the sockets of its workers (close_worker_sockets of the event MPM), and may
# read one whose memory a worker is just releasing: then it crashes. So TERM is sent when no connection is being closed:
# first no closed connection waits for a worker, and then no worker is closing one. A client of the test that keeps a
# closed connection open is not waited for.
sub _wait_for_closing
{
    my ($self) = @_;
    my $connection = VaultTest::Connection->new(address => $self->address, port => $self->{port}, patience => 3);
    for (1 .. 200) {
        my $closes = $self->_has_connections_to_close;
        $connection->request(GET => '/server-status?auto');
        my $answer = $connection->response;
        my ($board) = $answer->{body} =~ /^Scoreboard: (.*)$/m or last;    # without mod_status
        last if !$closes && $board !~ /C/ && $answer->{body} !~ /^ConnsAsyncClosing: [1-9]/m;
        Time::HiRes::sleep(0.01);                                         # between two looks at a fact
    }
    return $connection;
}

# Send TERM and wait for the end; returns the duration in seconds.
sub stop
{
    my ($self) = @_;
    return 0 if $self->_has_ended;
    my $connection = eval { $self->_wait_for_closing };    # a server that is on its way down does not answer
    return $self->stop_at_once;
}

# The same for a server whose children may crash.
sub stop_at_once
{
    my ($self) = @_;
    my $begin = Time::HiRes::time();
    $self->{told} = -s $self->log;
    kill TERM => $self->{pid};
    VaultTest::wait_until(sub { $self->_has_ended }, "the server $self->{name} ends");
    return Time::HiRes::time() - $begin;
}

# A test that died leaves no server running.
END {
    my $code = $?;
    for my $self (@started) {
        next if defined $self->{status} || !$self->{pid};
        kill TERM => $self->{pid};
        for (1 .. 500) {
            last if $self->_has_ended;
            Time::HiRes::sleep(0.02);
        }
        kill KILL => $self->{pid} unless $self->_has_ended;
    }
    $? = $code;
}

1;
