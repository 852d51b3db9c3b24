# SPDX-License-Identifier: Apache-2.0
# The server of a database: how it starts, stops, crashes, freezes and comes back. The methods of VaultTest::Database for that.
package VaultTest::Database::Server;
use strict;
use warnings;
use Exporter 'import';
use File::Path qw(make_path remove_tree);
use IO::Socket::INET;
use POSIX ();
use Time::HiRes ();
use VaultTest::Main ();

our @EXPORT_OK = qw(program);

# The timeout of a server's start and stop.
use constant PATIENCE => 120;

# The path of a program, or undef.
sub program
{
    my ($name) = @_;
    my @versions = sort { ($b =~ m{/(\d+)/bin})[0] <=> ($a =~ m{/(\d+)/bin})[0] } glob '/usr/lib/postgresql/*/bin';
    my ($found) = grep { -x } map { "$_/$name" } split(/:/, $ENV{PATH} // ''), '/usr/bin', '/usr/sbin', '/usr/local/sbin', @versions;
    return $found;
}

# ---------------------------------------------------------------- start, stop

# The server's process, or undef if it does not run.
sub pid
{
    my ($self) = @_;
    open my $file, '<', $self->dir . '/pid' or return undef;
    my $pid = readline $file;
    chomp $pid;
    open my $name, '<', "/proc/$pid/comm" or return undef;
    return readline($name) =~ /^(?:postgres|mariadbd)/ && _is_alive($pid) ? $pid : undef;
}

sub start
{
    my ($self) = @_;
    make_path($self->dir);
    return $self if !$self->is_server || $self->pid;
    $self->_install unless -d $self->dir . '/data';
    return $self if $self->pid;
    my @command = $self->{driver} eq 'pgsql'
        ? (program('postgres'), '-D', $self->dir . '/data', '-k', $self->_socket, $self->_listening, '-F',
        '-c', 'max_connections=300', '-c', 'log_min_messages=warning')
        : (program('mariadbd'), '--no-defaults', '--datadir=' . $self->dir . '/data', '--tmpdir=' . $self->dir . '/data', '--socket=' . $self->_socket, $self->_listening,
        '--pid-file=' . $self->dir . '/mariadbd.pid', '--max-connections=300', '--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=32M',
        '--innodb-log-file-size=8M', '--skip-log-bin', '--character-set-server=utf8mb4');
    $self->_spawn(@command);
    # PostgreSQL does not start while a process of a killed server still exists: then try again.
    $self->_wait(
        sub {
            $self->_spawn(@command) unless _is_alive($self->{child});
            $self->_client($self->{driver} eq 'pgsql' ? 'postgres' : 'mysql', 'SELECT 1', 'root')->{code} == 0;
        },
        'is ready'
    );
    return $self;
}

# Restart it with a port, for a user with a password.
sub listen
{
    my ($self, $password) = @_;
    $self->start;
    $self->does('postgres', "DROP ROLE IF EXISTS remote; CREATE ROLE remote SUPERUSER LOGIN PASSWORD '$password'") if $self->{driver} eq 'pgsql';
    $self->_must_as_root("CREATE OR REPLACE USER remote\@'%' IDENTIFIED BY '$password' REQUIRE SSL; GRANT ALL ON *.* TO remote\@'%'") if $self->{driver} eq 'mysql';
    $self->stop;
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1, Proto => 'tcp') or die "no port: $!\n";
    $self->{port} = $socket->sockport;
    close $socket;
    $self->_certify;
    $ENV{PGPORT} = $self->{port} if $self->{driver} eq 'pgsql';    # it is part of the name of the socket
    return $self->start;
}

sub deafen
{
    my ($self) = @_;
    $self->stop;
    delete $self->{port};
    delete $ENV{PGPORT} if $self->{driver} eq 'pgsql';
    return $self->start;
}

# The certificate of the server, which is its own authority; and one of another server, which claims to be this one.
sub certificate { return $_[0]->dir . '/data/server.crt' }
sub certificate_of_another { return $_[0]->dir . '/data/other.crt' }

sub _certify
{
    my ($self) = @_;
    my $data = $self->dir . '/data';
    for my $name (qw(server other)) {
        _run('openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1',
            '-keyout', "$data/$name.key", '-out', "$data/$name.crt") unless -e "$data/$name.crt";
        chmod 0600, "$data/$name.key";
    }
    return if $self->{driver} ne 'pgsql';
    open my $file, '+<', "$data/pg_hba.conf" or die "$data/pg_hba.conf: $!\n";
    my $rules = do { local $/; readline $file };
    return if $rules =~ /remote/;
    seek $file, 0, 0;
    print $file "hostssl all remote 127.0.0.1/32 scram-sha-256\nhost all remote 127.0.0.1/32 reject\n$rules";
    close $file;
    return;
}

# Its log line about the addresses where it listens.
sub _listening
{
    my ($self) = @_;
    my $port = $self->{port};
    return $port ? ("--port=$port", '--bind-address=127.0.0.1', '--ssl-cert=' . $self->certificate, '--ssl-key=' . $self->dir . '/data/server.key') : '--skip-networking'
        if $self->{driver} eq 'mysql';
    return ('-c', 'listen_addresses=') if !$port;
    return ('-c', 'listen_addresses=127.0.0.1', '-p', $port, '-c', 'ssl=on');
}

sub _spawn
{
    my ($self, @command) = @_;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        # In a process group of its own, so that the end of this test does not stop the server.
        POSIX::setsid();
        open STDIN, '<', '/dev/null';
        open STDOUT, '>>', $self->log;
        open STDERR, '>&', \*STDOUT;
        POSIX::close($_) for 3 .. 255;
        exec { $command[0] } @command or POSIX::_exit(127);
    }
    open my $file, '>', $self->dir . '/pid' or die $self->dir . "/pid: $!\n";
    print $file "$pid\n";
    close $file;
    $self->{child} = $pid;
    return;
}

sub _install
{
    my ($self) = @_;
    my $data = $self->dir . '/data';
    make_path($self->_socket) if $self->{driver} eq 'pgsql';
    my @command = $self->{driver} eq 'pgsql'
        ? (program('initdb'), '-D', "$data.new", '-U', 'vault', '--auth=trust', '-E', 'UTF8', '--no-locale', '--no-sync', '--no-instructions')
        : (program('mariadb-install-db'), '--no-defaults', "--datadir=$data.new", '--auth-root-authentication-method=normal', '--skip-test-db',
        '--skip-name-resolve');
    my $said = _run(@command);
    rename "$data.new", $data or die "@command: $said\n";
    if ($self->{driver} eq 'mysql') {
        $self->start;
        $self->_must_as_root("CREATE USER vault\@localhost; GRANT ALL ON *.* TO vault\@localhost;");
    }
    return;
}

sub _must_as_root
{
    my ($self, $sql) = @_;
    my $made = $self->_client('mysql', $sql, 'root');
    die "$sql: $made->{said}\n" if $made->{code} || $made->{said} =~ /^ERROR/m;
    return;
}

# Grant rights, by statements that end with a semicolon and a new line; in MariaDB only root can do that.
sub grant
{
    my ($self, $name, $sql) = @_;
    $self->{driver} eq 'mysql' ? $self->_must_as_root($_) : $self->does($name, $_) for grep { /\S/ } split /;\n/, $sql;
    return;
}

# Run a program to its end; returns its output. It must succeed.
sub _run
{
    my (@command) = @_;
    my $pid = open(my $out, '-|') // die "fork: $!\n";
    if (!$pid) {
        open STDERR, '>&', \*STDOUT;
        exec { $command[0] } @command or POSIX::_exit(127);
    }
    my $said = do { local $/; readline $out } // '';
    close $out or die "@command ended with $?:\n$said\n";
    return $said;
}

sub _wait
{
    my ($self, $fact, $what) = @_;
    my $end = Time::HiRes::time() + PATIENCE;
    until ($fact->()) {
        die "the server of $self->{driver} never $what; its log is " . $self->log . "\n" if Time::HiRes::time() > $end;
        waitpid $self->{child}, POSIX::WNOHANG() if $self->{child};
        Time::HiRes::sleep(0.05);
    }
    return;
}

# All processes of the server.
sub processes
{
    my ($self) = @_;
    my $pid = $self->pid // return;
    return ($pid, $self->{driver} eq 'pgsql' ? _children($pid) : ());
}

# Stop it in order: connections end.
sub stop { return $_[0]->_end($_[0]{driver} eq 'pgsql' ? 'INT' : 'TERM') }

# Kill it, as a power failure would.
sub crash
{
    my ($self) = @_;
    my @all = $self->processes;
    kill KILL => @all;
    delete $self->{walwriter};
    $self->_wait(sub { !grep { _is_alive($_) } @all }, 'ends');
    return;
}

# Stop PostgreSQL's WAL writer until the crash, as on a slow disk.
sub stop_walwriter
{
    my ($self) = @_;
    my $named = "SELECT pid FROM pg_stat_activity WHERE backend_type='walwriter'";
    ($self->{walwriter}) = $self->does('postgres', $named);
    kill STOP => $self->{walwriter};
    return;
}

# It ends when it has been told to, and writes nothing before.
sub _end_walwriter
{
    my ($self) = @_;
    my $pid = delete $self->{walwriter} or return;
    $self->_wait(sub { !_is_alive($pid) || _is_told_to_quit($pid) }, 'tells its processes to end');
    kill CONT => $pid;
    return;
}

sub _is_told_to_quit
{
    my ($pid) = @_;
    open my $file, '<', "/proc/$pid/status" or return 1;
    my $status = do { local $/; readline $file } // '';
    return $status =~ /^ShdPnd:\s*([0-9a-f]+)/m ? hex(substr $1, -4) & 1 << POSIX::SIGQUIT - 1 : 1;
}

# End PostgreSQL without a checkpoint, as in an immediate shutdown.
sub abort
{
    my ($self) = @_;
    my $pid = $self->pid // return;
    kill QUIT => $pid;
    $self->_end_walwriter;
    $self->_wait(sub { !_is_alive($pid) }, 'ends');
    return;
}

# Kill one process of PostgreSQL, as when memory is short: the others end at once, and the postmaster goes on.
sub crash_of_one
{
    my ($self) = @_;
    my $session = $self->session('postgres');
    my ($victim) = $session->does('SELECT pg_backend_pid()');
    my ($postmaster, @others) = $self->processes;
    kill KILL => $victim;
    $self->_end_walwriter;
    $self->_wait(sub { !grep { _is_alive($_) && _parent($_) == $postmaster } @others }, 'ends its processes');
    $self->_wait(sub { $self->_client('postgres', 'SELECT 1')->{code} == 0 }, 'recovers');
    die "another postmaster runs\n" if $self->pid != $postmaster;
    return;
}

sub _parent
{
    my ($pid) = @_;
    open my $file, '<', "/proc/$pid/stat" or return 0;
    return (readline($file) // '') =~ /\) \S (\d+)/ ? $1 : 0;
}

sub _end
{
    my ($self, $signal) = @_;
    my $pid = $self->pid // return;
    kill $signal => $pid;
    $self->_wait(sub { !_is_alive($pid) }, 'ends');
    return;
}

# Make PostgreSQL number transactions as after four billion of them.
sub grow_old
{
    my ($self) = @_;
    $self->start;
    $self->stop;
    _run(program('pg_resetwal'), '-e', 1, '-D', $self->dir . '/data');
    return $self->start;
}

# Make a backup of this database with the feed's own tables; of a server, of all its data.
sub keep
{
    my ($self, $name) = @_;
    my $kept = $self->is_server ? $self->dir . '/kept' : $self->file('kept');
    remove_tree($kept);
    return $self->does($name, "VACUUM INTO '$kept'") if !$self->is_server;
    $self->stop;
    _run('cp', '-R', '-p', $self->dir . '/data', $kept);
    return $self->start;
}

# Restore it, and run these statements, each in a transaction of its own, before other clients can connect.
sub restore
{
    my ($self, $name, @sql) = @_;
    if (!$self->is_server) {
        $self->does('kept', join ';', @sql);
        unlink map { $self->file($name) . $_ } '-wal', '-shm';
        rename $self->file('kept'), $self->file($name) or die "rename: $!\n";
        return $self;
    }
    $self->stop;
    my $data = $self->dir . '/data';
    rename $data, "$data.away" or die "$data: $!\n";
    rename $self->dir . '/kept', $data or die "$data: $!\n";
    $self->{apart} = 1;
    make_path($self->dir . '/apart', $self->{driver} eq 'pgsql' ? $self->_socket : ());
    $self->start;
    my $session = $self->session($name);
    $session->does($_) for @sql;
    undef $session;
    $self->stop;
    delete $self->{apart};
    remove_tree("$data.away");
    return $self->start;
}

# Make it accept connections without answering, until thaw().
sub freeze
{
    my ($self) = @_;
    $self->{frozen} = [$self->processes];
    VaultTest::Main::freeze(@{$self->{frozen}});
    return;
}

sub thaw
{
    my ($self) = @_;
    kill CONT => @{delete $self->{frozen}};
    return;
}

sub _children
{
    my ($parent) = @_;
    my @found;
    for my $stat (glob '/proc/[0-9]*/stat') {
        open my $file, '<', $stat or next;
        my ($pid, $ppid) = (readline($file) // '') =~ /^(\d+) \(.*\) \S (\d+)/ or next;
        push @found, $pid if $ppid == $parent;
    }
    return @found;
}

# A zombie, which its parent has not collected, is not alive.
sub _is_alive
{
    my ($pid) = @_;
    waitpid $pid, POSIX::WNOHANG();
    return VaultTest::Main::state_of("/proc/$pid") !~ /^[ZX]/;
}

1;
