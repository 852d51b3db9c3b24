# SPDX-License-Identifier: Apache-2.0
# An application that speaks where VaultLongPoll is off has no live pages: with httpd's own LogLevel, warn, the log says so once for each place.
use strict;
use warnings;
use VaultTest;

my $server = VaultTest::Server->start(
    'off',
    size => "StartServers 2\nServerLimit 2\nThreadLimit 2\nThreadsPerChild 2\nMinSpareThreads 1\nMaxSpareThreads 4\nMaxRequestWorkers 4\nAsyncRequestWorkerFactor 60\n",
    config => join('', map { qq(<Location "$_">\nSetHandler vault-test\nVaultLongPoll Off\n</Location>\n) } '/one/', '/two/', '/two/inside/')
);
use_server($server);

my $HEADERS = 'header=Vault-Poll:/one/echo&header=Vault-Interest:x';
for my $path (map { "$_/echo?text=x&$HEADERS" } '/one', '/two', '/two/inside') {
    for my $child ((children(2))[0, 1]) {
        my $connection = connect_in($child);
        for my $n (1 .. 4) {
            $connection->request(GET => $path);
            is($connection->response->{status}, 200, "$path is answered by child $child, $n");
        }
        $connection->close;
    }
}
tolerate(qr/VLT00008/);    # children of two threads
announce(qr{\[vault:warn\].*VLT00064: Vault-Poll of /(?:one|two|two/inside)/echo has no effect});

my @lines = grep { /VLT00064/ } $server->lines;
my @warnings = grep { /\[vault:warn\]/ } @lines;
is(join(' ', sort map { m{VLT00064: Vault-Poll of (\S+)/echo has} } @warnings), '/one /two /two/inside', 'one warning for each place');
is(scalar grep({ /\[vault:info\]/ } @lines), 3 * 8 * 2 - 3, 'the rest is for who asks for more');
is(scalar keys %{{map { /\[pid (\d+)/ ? ($1 => 1) : () } @lines}}, 2, 'by two children');

finish();
