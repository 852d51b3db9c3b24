# SPDX-License-Identifier: Apache-2.0
# Three servers are restarted one after the other while rows are written: gracefully, with pages that stay on their servers; and then by a stop and
# a start, with VaultPageStore. No page is loaded again, and none misses a row. During an update a server of another version is beside them: the log
# of each says so, and they go on.
use strict;
use warnings;
use VaultTest::Net;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Fleet;
use VaultTest::Random;
use VaultTest::Viewers;

for my $why (grep { $_ } net_missing(), VaultTest::Fleet::missing()) {
    plan skip_all => $why;
}

my $fleet = VaultTest::Fleet->start('rolling');
my @servers = $fleet->servers;
my $viewers;
begin_random(21);
# A server that stops is missed by the others, and its engines see that it has gone.
tolerate(qr/VLT0049[48]/);

sub until_true
{
    my ($fact, $what) = @_;
    return wait_until(sub { $viewers->step; $fact->() }, $what);
}

sub open_viewers
{
    my (@roam) = @_;
    $viewers = VaultTest::Viewers->open('/fleet/rows.shtml', map { ($_) x 4 } @servers);
    $viewers->roam(@roam) if @roam;
    until_true(sub { !grep { !$_->{poll} } @{$viewers->{pages}} }, 'the pages are loaded');
    return;
}

# Writes rows, does this with each server, and awaits some more answers before the next.
sub roll
{
    my ($what, $restart) = @_;
    my $writer = $fleet->start_writer(21);
    for my $server (@servers) {
        $restart->($server);
        my $answers = $viewers->{answers};
        until_true(sub { $viewers->{answers} >= $answers + 2 * @{$viewers->{pages}} }, "answers after a restart");
    }
    $writer->end;
    my $truth = $fleet->truth;
    until_true(sub { !$viewers->behind($truth) }, "$what: every page shows all rows");
    pass("$what: every page shows all " . keys(%$truth) . ' rows');
    is(join('; ', $viewers->faults), '', '... each once');
    is($viewers->reloads, 0, '... and no page was loaded again');
    return;
}

open_viewers();
roll('graceful restarts', sub {
    my ($server) = @_;
    my $before = said($server, 'resuming normal operations');
    kill USR1 => $server->pid;
    until_true(sub { said($server, 'resuming normal operations') > $before }, 'the server has restarted');
});

$fleet->use_store;
open_viewers(@servers);
roll('stops and starts', sub {
    my ($server) = @_;
    $server->stop;
    $server->again;
});

# ---------------------------------------------------------------- another version

# As a client of NATS, publish the heartbeat of a server with other messages than ours, and hear ours.
my $engine = $fleet->part('nats1');
my $nats = VaultTest::Connection->new(address => $engine->{host}->address, port => $engine->{nats}{port}, patience => PATIENCE);
$nats->read_until("\r\n");
$nats->send_raw(qq(CONNECT {"verbose":false}\r\nSUB *.beat 1\r\n));
my ($subject) = $nats->read_until("\r\n") =~ /^MSG (\S+) / or die "no heartbeat\n";
my ($beat) = $nats->read_until("\r\n") =~ /^(\{.*"version": ?\d+.*\})/ or die "a heartbeat has no version\n";
my $other = $beat =~ s/"version": ?(\d+)/'"version": ' . ($1 + 1)/er =~ s/"server": ?"[^"]*"/"server": "a-newer-one"/r;
announce(qr/VLT00497: server a-newer-one at .* has another version of mod_vault/);
# It is published repeatedly, as a server does: the last of our servers may connect only now.
until_true(
    sub {
        $nats->send_raw("PUB $subject " . length($other) . "\r\n$other\r\n");
        return !grep { !said($_, 'VLT00497') } @servers;
    },
    'each server says that another one has another version'
);
pass('each server says that another one has another version');
my ($last) = $fleet->sql('SELECT 1 + max(id) FROM t');
$fleet->write_row($last, $servers[0]);
until_true(sub { !grep { !$_->{shows}{"t$last"} } @{$viewers->{pages}} }, 'servers of one version go on');
pass('... and servers of one version go on');
finish();
