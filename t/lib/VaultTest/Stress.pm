# SPDX-License-Identifier: Apache-2.0
# The stress programs (bench/stress, bench/stale) on a server of the test's own.
#
#     stress(event => seed => 7, pages => 60, …);      # options of the program by name
#     stress(event => …, meanwhile => sub { … });      # called when all pages are loaded, while the program runs
#     stale(event => seed => 7, readers => 300, …, before_stop => sub { … })
#
# The seeds are fixed, so that a run that fails says something about the change. VAULT_STRESS_SEED=random make check-httpd T=t/stress tries new
# ones; a failure is run again with the seed that was printed: VAULT_STRESS_SEED=N. VAULT_STRESS_SECONDS=600 VAULT_STRESS_READERS=2000 make check-httpd
# T=t/stress/04-nothing-stale-is-served.t looks for longer.
package VaultTest::Stress;
use strict;
use warnings;
use Exporter 'import';
use VaultTest;
use VaultTest::Site qw(live_folder live_tag site_file site_path);

our @EXPORT = qw(seed stale stress);

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
    mkdir "$dir/kept" or -d "$dir/kept" or die "$dir/kept: $!\n";
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

# Starts a server, runs a program on it, and stops it. Returns the lines that the program wrote.
sub _run
{
    my ($program, $mpm, $what, %with) = @_;
    my %own = map { $_ => delete $with{$_} } qw(size config meanwhile before_stop);
    my $name = "$program-$mpm-$with{seed}";
    my $dir = vars('t_logs') . "/$name";
    _write_files($dir, $with{tables} // 1);
    my $config = _config($dir, ($own{config} // '') =~ s/\@dir\@/$dir/gr);
    my $server = use_server(VaultTest::Server->start($name, without_cgid => 1, mpm => $mpm, size => $own{size} // '', config => $config));
    my @arguments = (vars('top_dir') . "/$program", '--port', $server->port, '--parent', $server->pid, '--patience', PATIENCE,
        $program eq 'stress' ? ('--vary', "$dir/varied.conf") : (), map { $with{$_} eq '' ? "--$_" : ("--$_", $with{$_}) } sort keys %with);
    note("@arguments");
    open my $out, '-|', @arguments or die "$arguments[0]: $!\n";
    my @said;
    while (defined(my $line = readline $out)) {
        push @said, $line;
        $own{meanwhile}->() if $own{meanwhile} && $line =~ /^Loaded:/;
    }
    close $out;
    my $good = $? == 0;
    ok($good, "seed $with{seed}: $what") or diag(@said);
    note(@said);
    my $figures = {map { /^(\w+): (\S+)$/ } @said};
    $own{before_stop}->($figures, $dir) if $own{before_stop};
    tolerate(@VIOLENT);
    $server->stop;
    use_server();
    return $figures;
}

# stress(MPM, OPTION => VALUE, …): the figures that it printed. cache => 'On': outputs are kept
sub stress
{
    my ($mpm, %with) = @_;
    $with{config} = ($with{config} // '') . qq(<LocationMatch "^/(test|vault/feed)/">\nVaultCache @{[delete $with{cache} // 'Off']}\n</LocationMatch>\n);
    $with{tables} = 0 unless -f vars('top_dir') . '/modules/vault_feed_database.so';
    return _run('stress', $mpm, 'every page shows every row once', %with);
}

# stale(MPM, OPTION => VALUE, …): the same of bench/stale, on the site that it asks for
sub stale
{
    my ($mpm, %with) = @_;
    my $tag = '<!--#feed name="database" method="get_new_instances" table="t0" limit="1" template="row.html" -->';
    site_file('/stale/row.html', '{{#rows}}[{{id}}]{{/rows}}');
    site_file('/stale/response.shtml', "<p>$tag</p>" . 'x' x 2000);    # more than is kept in memory
    site_file($_, '[<!--#vault cached="/shared/value?name=stale&header=Vault-Shared:yes&header=Vault-Interest:stale" -->]')
        for '/stale/parts/part.shtml', '/stale/whole.shtml';    # the one is not kept itself, the other is
    live_tag('/stale/page', $tag);
    $with{config} = live_folder('/stale') . <<"END";
VaultSharedMemory 128M
VaultMaxPages 20000
VaultMaxPagesPerClient 20000
VaultPageTimeout 30
VaultMaxMemoryPerClient 128M
VaultMaxWaitingPerClient 20000
SSIErrorMsg "[ssi error]"
VaultCacheMemoryMax 1K
VaultCacheRoot "\@dir\@/kept"
<Directory "@{[site_path('/stale')]}">
    VaultCache On
</Directory>
<Directory "@{[site_path('/stale/parts')]}">
    VaultCache Off
</Directory>
<Location "/shared/">
    SetHandler vault-test
    VaultCache On
</Location>
END
    return _run('stale', $mpm, 'nothing outdated is served', %with);
}

1;
