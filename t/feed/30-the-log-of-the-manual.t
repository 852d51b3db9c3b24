# SPDX-License-Identifier: Apache-2.0
# The access log that docs/directives.md shows for VaultFeedLog: its table, on each database, takes what its directive saves, and has the columns
# that the examples show.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $manual = read_file(vars('top_dir') . '/docs/directives.md');
my ($directives) = $manual =~ /^```apache\n(VaultFeedLog database save .*?)^```/ms or die "the manual has no VaultFeedLog\n";
my %names = (sqlite3 => 'SQLite', pgsql => 'PostgreSQL', mysql => 'MariaDB');

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    my ($table) = $manual =~ /^(CREATE TABLE logs .*;) +-- $names{$driver}$/m or die "the manual has no table for $driver\n";
    $db->make('manual_log', $table);
    my $server = use_server(VaultTest::Server->start("manual-log-$driver",
        config => $db->feed('log', 'manual_log', '', undef) . $directives =~ s/VaultFeedLog database/VaultFeedLog log/gr
            . "<Location /vault/feed>\nSetHandler vault-feed\nVaultFeedExpose log all\n</Location>\n"));
    get('/nothing-there');
    my $rows;
    wait_until(sub { ($rows) = get('/vault/feed/log/all?table=logs'); $rows = JSON::PP->new->decode($rows->{body}); grep { $_->{status} == 404 } @$rows },
        "$driver: the request is there");
    my ($row) = grep { $_->{status} == 404 } @$rows;
    is(join(' ', sort keys %$row), 'id request status time', "$driver: the columns of the examples");
    like($row->{request}, qr{^GET /nothing-there HTTP/1\.1$}, '... the request');
    like($row->{time}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/, '... the time');
    $server->stop;
    use_server();
}
finish();
