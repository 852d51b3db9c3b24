# SPDX-License-Identifier: Apache-2.0
# Two servers and a nats-server: a notify on one of them reaches the pages of the other one, and no other page. The rows of the test module
# belong to one server each, so a row is added there silently, and the other server notifies. With each VaultClusterStrategy. Each server shows both.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;
use VaultTest::Vaultctl;
use JSON::PP ();

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $nats = VaultTest::Nats->start('first');
my %pairs = pairs_of('reaches', [$nats]);
my %servers;

# Any bytes: what has a meaning in subjects of NATS, and what has none there. When the engine knows of a new interest, the page checks for
# changes once, so that is awaited.
my @names = ('plain', 'DB-logs', 'a.b', 'a.*', '>', 'two words', "tab\there", "caf\xc3\xa9", '=41', 'x' x 200);
for my $case (map { my $strategy = $_; map { [$strategy, $_] } 0 .. $#names } reverse strategies()) {
    my ($strategy, $number) = @$case;
    my $interest = $names[$number];
    @servers{qw(a b)} = @{$pairs{$strategy}};
    my $rows = "cluster$number";
    my ($page, $poll) = waiting_page($servers{b}, $rows, $interest);
    on($servers{b}, sub { text_of("/test/add?name=$rows") });
    ok($poll->is_silent, '  a second one alone wakes no page');
    is(notify_on($servers{a}, $interest), 200, "  $strategy: the other server notifies");
    is_told($servers{b}, $page, $poll, "2\n", '  the page is told');
}

# ---------------------------------------------------------------- the status of the cluster

sub servers_of { my ($server) = @_; return @{on($server, sub { JSON::PP::decode_json(text_of('/vault/status?cluster')) })->{Servers}} }

# The row of the other server, as soon as its heartbeat has told what this code wants.
sub wait_row
{
    my ($wants, $what) = @_;
    my $row;
    wait_until(sub { (undef, $row) = servers_of($servers{a}); $row && $wants->($row) }, $what);
    return $row;
}

my $now = on($servers{b}, sub { status() });
my $row = wait_row(sub { $_[0]{NotifiesReceived} == $now->{NotifiesReceived} && $_[0]{Waiting} == $now->{Waiting} }, 'server a hears the figures of b');
is($row->{$_}, $now->{$_}, "... $_") for qw(Pages Interests NotifiesSent NotifiesExtraneous Engines);
cmp_ok($row->{NotifiesReceived}, '>=', scalar @names, '... which received the notifies');
like($row->{Address}, qr/^\S+:@{[$servers{b}->port]}$/, '... the address');
is("$row->{Strategy} $row->{EnginesMax}", 'subscriptions 1', '... its configuration');
ok(!$row->{This} && $row->{Compatible}, '... it is another server, and fits');
cmp_ok($row->{SeenSeconds}, '>', $row->{HeartbeatSeconds}, '... which is heard again and again');
my ($own) = servers_of($servers{a});
ok($own->{This}, 'server a shows itself');
is($own->{Server}, (servers_of($servers{b}))[1]{Server}, '... and b knows it by the same name');

# Any client of the engine can send a heartbeat.
my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $nats->{port}) or die "nats: $!\n";
my $beat = JSON::PP->new->canonical->encode({version => 1, server => 'zz<b>', ring => '<i>', address => "<script>\e[2J", figures => {Pages => -5}});
print $socket "CONNECT {}\r\nPUB subscriptions.beat " . length($beat) . "\r\n$beat\r\nPING\r\n";
announce(qr/VLT0049[78].*zz<b>/);
wait_until(sub { servers_of($servers{a}) == 3 }, 'an invented server is shown');
on($servers{a}, sub {
    like(text_of('/vault/status'), qr{<td>zz&lt;b&gt;</td><td>&lt;script&gt;\?\[2J</td><td>no</td>}, '... escaped in HTML');
    like(text_of('/vault/status?auto'), qr/^Server3Address: <script>\?\[2J$/m, '... and on one line in text');
    like(text_of('/vault/status?metrics'), qr/^vault_cluster_servers 3$/m, 'OpenMetrics counts the servers');
    SKIP: {
        skip 'vaultctl was not built', 3 unless -x vars('top_dir') . '/vaultctl';
        my $said = vaultctl('status', '--cluster');
        is($said->{code}, 0, 'vaultctl status --cluster') or diag($said->{err});
        like($said->{out}, qr/^$own->{Server} .* 1 of 1 \(asked\)\n$row->{Server} +\S+:@{[$servers{b}->port]} .* 1 of 1$/m, '... lists the servers');
        like($said->{out}, qr/^zz<b> .*another configuration or version/m, '... and says which one does not fit');
    }
});
wait_until(sub { servers_of($servers{a}) == 2 }, 'a server that is silent is shown no more');
finish();
