# SPDX-License-Identifier: Apache-2.0
# vaultctl tells what it has done, and what it would have to be told: where the server is, and that tables are watched now.
use strict;
use warnings;
use IO::Socket::INET;
use VaultTest;
use VaultTest::Site;
use VaultTest::Vaultctl;

needs_vaultctl();
my $program = vars('top_dir') . '/vaultctl';

# No server listens there; and the user has not given that URL.
my $nowhere = 'http://127.0.0.1:' . VaultTest::Server::free_port() . '/';
my $hint = qr/; if the server is elsewhere, --url or VAULTCTL_URL says where$/m;
unlike(vaultctl('status', '--url', $nowhere)->{err}, $hint, 'who says --url knows');
SKIP: {
    skip 'a server listens on port 80 here', 2 if IO::Socket::INET->new(PeerAddr => 'localhost', PeerPort => 80, Timeout => 2);
    for my $command ('status', 'notify x') {
        my $said = qx(env -u VAULTCTL_URL -u http_proxy -u HTTP_PROXY -u all_proxy -u ALL_PROXY $program $command 2>&1);
        like($said, qr{^vaultctl: http://localhost/vault/\w+(?:\?\w+)?: .*$hint}, "$command without --url");
    }
}

SKIP: {
    skip 'vaultctl was built without a database', 7 unless has_database();
    my $database = vars('t_logs') . "/said-$$.db";
    my $init = vars('t_logs') . "/said-$$.sql";
    open my $file, '>', $init or die "$init: $!\n";
    print $file "CREATE TABLE items(id INTEGER PRIMARY KEY,name TEXT);\nCREATE TABLE bids(id INTEGER PRIMARY KEY,item INTEGER);\n";
    close $file or die "$init: $!\n";
    my @where = ("database=$database", "init=$init");
    my $said = vaultctl('watch', '-y', @where, 'items', 'bids');
    is("$said->{code} $said->{err}", '0 ', 'watch -y');
    is($said->{out}, "items: watched\nbids: watched\n", '... says what it has done');
    is(vaultctl('watched', @where)->{out}, "bids\nitems\n", '... and has');
    is(vaultctl('unwatch', '-y', @where, 'bids')->{out}, "bids: watched no more\n", 'unwatch -y as well');
    unlike(vaultctl('watch', '--dry-run', @where, 'bids')->{out}, qr/watched$/m, 'a dry run has done nothing');
    $said = vaultctl('watch', @where, 'bids');
    is($said->{code}, 1, 'the question is not answered');
    unlike($said->{out}, qr/watched$/m, '... and nothing is said to be done');
    unlink $database, $init;
}

finish();
