# SPDX-License-Identifier: Apache-2.0
# Databases for servers that are measured: made, filled, watched. Servers of databases are started as the tests start them.
package Bench::Database;
use strict;
use warnings;
use Exporter 'import';
use POSIX ();
use Bench::Server;

our @EXPORT = qw(database_kinds make_database stop_databases);

my $begun;

# Those that can be measured here, of sqlite3, pgsql and mysql.
sub database_kinds
{
    begin();
    return map { $_->driver } VaultTest::Database::databases();
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

sub stop_databases
{
    as_server(\&VaultTest::Database::stop_all) if $begun;
    $begun = 0;
}

# The folder has a short path: a socket's may have some hundred bytes only.
sub begin
{
    return if $begun;
    require "$place{source}/t/lib/VaultTest/Database.pm";
    $ENV{VAULT_DATABASES} = "$place{dir}/db/of";
    mkdir $_ or die "bench/run: $_: $!\n" for "$place{dir}/db", $ENV{VAULT_DATABASES};
    give_away("$place{dir}/db", $ENV{VAULT_DATABASES});
    $begun = 1;
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
