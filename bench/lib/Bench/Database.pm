# SPDX-License-Identifier: Apache-2.0
# Databases for servers that are measured: made, filled, watched. Servers of databases are started as the tests start them.
package Bench::Database;
use strict;
use warnings;
use Exporter 'import';
use POSIX ();
use Bench::Server;

our @EXPORT = qw(database_kinds database_pid database_session make_database make_database_apart stop_databases);

my $begun;
my @homes;    # folders, each with servers of its own

# Those that can be measured here, of sqlite3, pgsql and mysql.
sub database_kinds
{
    begin();
    return map { $_->driver } VaultTest::Database::databases();
}

# The process of the server that make_database uses, or undef.
sub database_pid
{
    my ($kind) = @_;
    return VaultTest::Database::database($kind)->pid;
}

# Another program, connected to the database of that name that make_database_apart has made: VaultTest::Database::session.
sub database_session
{
    my ($kind, $named) = @_;
    local $ENV{VAULT_DATABASES} = "$place{dir}/db/$named";
    return VaultTest::Database::database($kind)->session($named);
}

# A new database, with the tables and rows of `sql` ({serial}, {text} and {integer} as in t/lib/VaultTest/Database.pm); those
# named after it are watched. Returns the parameters of VaultFeed.
sub make_database
{
    my ($kind, $named, $sql, @watched) = @_;
    begin();
    as_server(sub { VaultTest::Database::database($kind)->make($named, $sql) });
    my $parameters = VaultTest::Database::database($kind)->parameters($named);
    as_server(sub { watch($parameters, @watched) }) if @watched;
    return $parameters;
}

# The same on a server of its own, so that what the server uses is used for this database. Returns the server's process, too, or undef.
sub make_database_apart
{
    my ($kind, $named, @more) = @_;
    begin();
    local $ENV{VAULT_DATABASES} = make_home($named);
    my $parameters = make_database($kind, $named, @more);
    return ($parameters, VaultTest::Database::database($kind)->pid);
}

sub stop_databases
{
    for my $home (splice @homes) {
        local $ENV{VAULT_DATABASES} = $home;
        as_server(\&VaultTest::Database::stop_all);
    }
    $begun = 0;
}

# The folder has a short path: a socket's may have some hundred bytes only.
sub begin
{
    return if $begun;
    local @INC = ("$place{source}/t/lib", @INC);
    require VaultTest::Database;
    $ENV{VAULT_DATABASES} = make_home('of');
    $begun = 1;
}

sub make_home
{
    my ($named) = @_;
    my $home = "$place{dir}/db/$named";
    for my $folder (grep { !-d } "$place{dir}/db", $home) {
        mkdir $folder or die "bench/run: $folder: $!\n";
        give_away($folder);
    }
    push @homes, $home;
    return $home;
}

# No server of a database runs as root, and what httpd is to write is its user's.
sub as_server
{
    my ($code) = @_;
    my $pid = fork() // die "bench/run: no process: $!\n";
    if ($pid == 0) {
        become_server();
        my $done = eval { $code->(); 1 };
        print STDERR $@ if !$done;
        POSIX::_exit($done ? 0 : 1);
    }
    waitpid $pid, 0;
    die "bench/run: the database could not be made\n" if $?;
}

sub become_server
{
    return if $> != 0;
    my ($user, $group) = (getpwnam((account())[0]))[2, 3];
    ($(, $)) = ($group, "$group $group");
    ($<, $>) = ($user, $user);
    chdir "/";
}

sub watch
{
    my ($parameters, @tables) = @_;
    my @command = ("$place{build}/vaultctl/vaultctl", 'watch', '--yes', split(/ /, $parameters), @tables);
    open(my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @command) or die "bench/run: $command[0]: $!\n";
    my $said = do { local $/; <$pipe> };
    close $pipe;
    die "bench/run: @command:\n$said" if $?;
}

1;
