# SPDX-License-Identifier: Apache-2.0
# A process has MariaDB's client library once for all its feeds, and libdbi ends that library with each of its instances. When a child ends, no
# feed may still have a connection then: the library would crash, or refuse to connect.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

use constant FEEDS => 3;

my $preload = vars('top_dir') . '/modules/preload_journal.so';
my $journal = vars('t_logs') . "/client-library-$$";
plan(skip_all => 'nothing can be loaded in front of httpd here') if !-f $preload || ($ENV{VAULT_SANITIZER} // 'no') ne 'no';

# What each process did, in order: {process id => "close close end"}
sub journal
{
    my %done;
    open my $file, '<', $journal or return ();
    while (my $line = readline $file) {
        my ($process, $what) = split ' ', $line;
        $done{$process} = join ' ', $done{$process} // (), $what;
    }
    return %done;
}

for my $db (has_database() ? databases('mysql') : ()) {
    $db->make('ends', 'CREATE TABLE logs(id {serial},line {text});');
    my $server = use_server(VaultTest::Server->start('ends',
        size => "ServerLimit 1\nStartServers 1\n",
        config => join('', map { $db->feed("ends$_", 'ends') } 1 .. FEEDS),
        env => {LD_PRELOAD => $preload, VAULT_TEST_JOURNAL => $journal}));
    my ($child) = VaultTest::children();
    for my $feed (map { "ends$_" } 1 .. FEEDS) {
        ok(calls_feed($feed, all => {table => 'logs'})->{rows}, "$feed has a connection");
    }
    $server->stop;
    my %done = journal();
    like($done{$child}, qr/^close(?: close){@{[FEEDS - 1]},}(?: end)+$/, 'the child has closed all connections when it ends the library');
}
unlink $journal;
finish();
