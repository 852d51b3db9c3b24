# SPDX-License-Identifier: Apache-2.0
# The stress program (bench/stress) on a server of the test's own.
#
#     stress(event => seed => 7, pages => 60, …);      # options of the program by name
#     stress(event => …, meanwhile => sub { … });      # called when all pages are loaded, while the program runs
#
# The seeds are fixed, so that a run that fails says something about the change. VAULT_STRESS_SEED=random make check-httpd T=t/stress tries new
# ones; a failure is run again with the seed that was printed: VAULT_STRESS_SEED=N.
package VaultTest::Stress;
use strict;
use warnings;
use Exporter 'import';
use VaultTest;

our @EXPORT = qw(seed stress);

# What a server must say when its children are killed and its methods fail, and may say when it is restarted all the time.
my @VIOLENT = (
    qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/,
    qr/VLT00030: method .* failed: its handler answered 500/,
    qr/AH1039[23]: children are killed successively!/,
    qr/AH00052: child pid \d+ exit signal Killed/,
);

# The usual seed of a test, unless the environment says which, or any.
sub seed
{
    my ($usual) = @_;
    my $said = $ENV{VAULT_STRESS_SEED} || $usual;
    return $said eq 'random' ? 1 + int rand 1_000_000 : $said;
}

sub _config
{
    my ($dir, $more) = @_;
    my $top = vars('top_dir');
    my $feed = "$top/modules/vault_feed_database.so";
    my $database = -f $feed ? <<"END" : '';
VaultFeed database "$feed" "database=$dir/stress.db" "init=$dir/stress.sql" timeout=20
<Location "/vault/feed">
    SetHandler vault-feed
    VaultFeedExpose database get_new_instances save
</Location>
END
    return <<"END" . $database . $more . qq(Include "$dir/varied.conf"\n);
VaultSharedMemory 32M
VaultMaxPages 1000
VaultMaxMemoryPerClient 32M
VaultMaxInterestsPerClient 10000000
VaultPageTimeout 300
Timeout 100
LogLevel vault:info
END
}

# The tables, and an empty part of the configuration for the program to write.
sub _write_files
{
    my ($dir, $tables) = @_;
    mkdir $dir or -d $dir or die "$dir: $!\n";
    unlink glob "$dir/stress.db*";
    open my $sql, '>', "$dir/stress.sql" or die "$dir/stress.sql: $!\n";
    for my $table (0 .. $tables - 1) {
        print $sql "CREATE TABLE t$table (id INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER);\nINSERT INTO t$table (n) VALUES (0);\n";
    }
    close $sql or die "$dir/stress.sql: $!\n";
    open my $varied, '>', "$dir/varied.conf" or die "$dir/varied.conf: $!\n";
    close $varied;
    return;
}

# stress(MPM, OPTION => VALUE, …): 1 when it found no fault
sub stress
{
    my ($mpm, %with) = @_;
    my ($size, $config, $meanwhile) = (delete $with{size} // '', delete $with{config} // '', delete $with{meanwhile});
    my $name = "stress-$mpm-$with{seed}";
    my $dir = vars('t_logs') . "/$name";
    $with{tables} = 0 unless -f vars('top_dir') . '/modules/vault_feed_database.so';
    _write_files($dir, $with{tables} // 0);
    my $server = use_server(VaultTest::Server->start($name, without_cgid => 1, mpm => $mpm, size => $size, config => _config($dir, $config)));
    my @arguments = (vars('top_dir') . '/stress', '--port', $server->port, '--parent', $server->pid, '--vary', "$dir/varied.conf",
        '--patience', PATIENCE, map { $with{$_} eq '' ? "--$_" : ("--$_", $with{$_}) } sort keys %with);
    note("@arguments");
    open my $out, '-|', @arguments or die "$arguments[0]: $!\n";
    my @said;
    while (defined(my $line = readline $out)) {
        push @said, $line;
        $meanwhile->() if $meanwhile && $line =~ /^Loaded:/;
    }
    close $out;
    my $good = $? == 0;
    ok($good, "seed $with{seed}: every page shows every row once") or diag(@said);
    note(@said);
    tolerate(@VIOLENT);
    $server->stop;
    use_server();
    return {map { /^(\w+): (\S+)$/ } @said};
}

1;
