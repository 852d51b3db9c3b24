# SPDX-License-Identifier: Apache-2.0
# The tests of t/poll and t/suspend once more, under another MPM or over another protocol.
#
#     run_families('worker');
#
# All of them share one server of that kind; each runs as a process of its own, which VAULT_AT tells where the server is and VAULT_OVER
# how to talk to it (VaultTest.pm). A test that has no meaning there stands in the table below, with the reason. VAULT_ONLY="poll/03
# suspend/07" in the environment runs these alone.
package VaultTest::Family;
use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(basename dirname);
use VaultTest;

our @EXPORT = qw(run_families);

# Polls and suspended requests wait in threads under some of these, as in a build with --disable-parking.
my %KINDS = (
    event => {mpm => 'event', parks => 1},
    worker => {mpm => 'worker', config => "VaultLongPollThreads 24\n"},
    prefork => {mpm => 'prefork', config => "VaultLongPollThreads 60\n"},
    tls => {mpm => 'event', over => 'tls', parks => 1},
    h2 => {mpm => 'event', over => 'h2', config => "Protocols h2c http/1.1\nVaultLongPollThreads 24\n",
        in_tls => "Protocols h2 http/1.1\n"},
);
my %SIZES = (
    event => "StartServers 3\nServerLimit 8\nThreadLimit 64\nThreadsPerChild 8\nMinSpareThreads 24\nMaxSpareThreads 1000\n"
        . "MaxRequestWorkers 24\nAsyncRequestWorkerFactor 60\n",
    worker => "StartServers 3\nServerLimit 6\nThreadLimit 64\nThreadsPerChild 32\nMinSpareThreads 1\nMaxSpareThreads 1000\n"
        . "MaxRequestWorkers 96\n",
    prefork => "StartServers 24\nServerLimit 64\nMinSpareServers 8\nMaxSpareServers 64\nMaxRequestWorkers 64\n",
);

# What a test is about that these do not have, or that it looks at with servers of its own.
my @OWN = ('it has servers or virtual hosts of its own', qw(event worker prefork tls h2));
my %NOT = (
    'poll/01' => [['it needs three children of several threads', qw(prefork)]],
    'poll/04' => [['it has more polls than threads, and each of HTTP/2 holds one', qw(h2)]],
    'poll/05' => [['HTTP/2 has no field Connection, and no version 1.0', qw(h2)]],
    'poll/06' => [['HTTP/2 has no pipelines: each request is a stream; t/poll/17 has two polls on a connection', qw(h2)]],
    'poll/07' => [\@OWN],
    'poll/09' => [\@OWN],
    'poll/10' => [['it has more slow clients than threads; t/poll/17 and t/stream/09 have as many as HTTP/2 allows', qw(h2)]],
    'poll/12' => [['it is about parked polls, and no poll of HTTP/2 is parked', qw(h2)]],
    'poll/14' => [\@OWN],
    'poll/15' => [\@OWN],
    'poll/16' => [\@OWN],
    'poll/17' => [\@OWN],
    'suspend/08' => [\@OWN],
    'suspend/09' => [\@OWN],
    'suspend/10' => [\@OWN],
);

sub _why_not
{
    my ($kind, $file) = @_;
    my ($key) = $file =~ m{(\w+/\d\d)-[^/]*$};
    return 'it is one of these itself' if $file =~ m{/2\d-[^/]*$};
    for my $row (@{$NOT{$key} || []}) {
        my ($reason, @kinds) = @$row;
        return $reason if grep { $_ eq $kind } @kinds;
    }
    return;
}

sub _server
{
    my ($kind) = @_;
    my $with = $KINDS{$kind};
    my $top = vars('top_dir');
    my $config = qq(Include "$top/t/conf/poll.conf"\n) . ($with->{config} || '');
    my $tls = VaultTest::Server::free_port();
    $tls = 0 unless $with->{over} && have_tls();
    $config .= <<"END" if $tls;
Listen 127.0.0.1:$tls
<VirtualHost *:$tls>
    @{[$with->{in_tls} || '']}
    SSLEngine On
    SSLCertificateFile "$top/certificate.pem"
    SSLCertificateKeyFile "$top/key.pem"
</VirtualHost>
END
    my $server = VaultTest::Server->start("family-$kind", mpm => $with->{mpm}, size => $SIZES{$with->{mpm}}, config => $config);
    my $at = join ' ', $server->port, $tls, $server->pid, $server->log;
    return ($server, $at);
}

# One file: ok when all of its tests are.
sub _run
{
    my ($file) = @_;
    open my $tap, '-|', "$^X '$file' 2>&1" or die "$file: $!\n";
    my @lines = readline $tap;
    close $tap;
    my ($passed, $failed) = (scalar(grep { /^ok / } @lines), scalar(grep { /^not ok / } @lines));
    my $name = basename(dirname($file)) . '/' . basename($file, '.t');
    my ($skipped) = map { /^1\.\.0 # SKIP (.*)/ ? $1 : () } @lines;
    ok($? == 0 && !$failed && ($passed || $skipped), "$name: " . ($skipped ? "not here, $skipped" : "$passed tests")) or diag(@lines);
    return;
}

sub run_families
{
    my ($kind) = @_;
    my $with = $KINDS{$kind};
    plan(skip_all => "httpd has no MPM $with->{mpm}") unless VaultTest::Server::has_mpm($with->{mpm});
    plan(skip_all => 'mod_ssl, openssl or IO::Socket::SSL is not there') if $kind eq 'tls' && !have_tls();
    plan(skip_all => 'mod_http2 or Protocol::HTTP2 is not there') if $kind eq 'h2' && !have_http2();
    my ($server, $at) = _server($kind);
    local $ENV{VAULT_AT} = $at;
    local $ENV{VAULT_OVER} = $with->{over} || '';
    local $ENV{VAULT_PARKING} = $with->{parks} && have_parking() ? 'yes' : 'no';
    my @only = split ' ', $ENV{VAULT_ONLY} // '';
    for my $file (sort glob vars('t_dir') . '/{poll,suspend}/*.t') {
        next if @only && !grep { $file =~ m{/\Q$_\E-} } @only;
        my $why = _why_not($kind, $file);
        $why ? note("$file: $why") : _run($file);
    }
    $server->ignore;    # each of them has looked at its log
    return;
}

1;
