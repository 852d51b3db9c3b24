# SPDX-License-Identifier: Apache-2.0
# An engine is stopped by SIGSTOP while a server publishes, until the buffers of the connection are full. The server gives the connection up, and
# the child with the connection can end. Without and with TLS. When the engine continues, the pages of the other server are told.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $folder = vars('t_logs');
system("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 "
    . "-keyout $folder/stops-key.pem -out $folder/stops-cert.pem >/dev/null 2>&1") == 0 or die "openssl\n";

my %rows = (
    plain => ['', ''],
    tls => ["tls { cert_file: \"$folder/stops-cert.pem\", key_file: \"$folder/stops-key.pem\" }\n", "VaultClusterCACertificateFile $folder/stops-cert.pem\n"],
);
announce(qr{VLT0049[46]});    # what was not taken is more than the outbox holds

# Which sockets of a process lead to this port, and would stay open in the programs that it starts?
sub inherited
{
    my ($pid, $port) = @_;
    my $hex = sprintf ':%04X', $port;
    my %sockets = map { (split)[9] => 1 } grep { (split)[2] =~ /$hex$/ } split /\n/, read_file('/proc/net/tcp');
    my @all = grep { (readlink($_) // '') =~ /^socket:\[(\d+)\]/ && $sockets{$1} } glob "/proc/$pid/fd/*";
    return (scalar @all, scalar grep { my $info = $_ =~ s{/fd/}{/fdinfo/}r; read_file($info) !~ /^flags:\s+0*2\d{6}$/m } @all);
}

# Both at the same time, since most of it is waiting.
my @names = sort keys %rows;
my (%nats, %a, %b, %page, %poll, %gateway);
for my $name (@names) {
    my ($engine, $directives) = @{$rows{$name}};
    $nats{$name} = VaultTest::Nats->start("stops-$name", config => $engine);
    $a{$name} = cluster_server("stops-$name-a", [$nats{$name}], config => $directives);
    $b{$name} = cluster_server("stops-$name-b", [$nats{$name}], config => $directives);
}
for my $name (@names) {
    wait_said($_, 'VLT00493', 1) for $a{$name}, $b{$name};
    $gateway{$name} = gateway_of($a{$name});
    is(join(' ', inherited($gateway{$name}, $nats{$name}{port})), '1 0', "$name: programs do not inherit the connection");
    ($page{$name}, $poll{$name}) = waiting_page($b{$name}, "stops-$name");
}
for my $name (@names) {
    kill 'STOP', $nats{$name}->pid;
    on($b{$name}, sub { text_of("/test/add?name=stops-$name") });
    notify_on($a{$name}, "stops-$name");
}

# The socket takes about 2.6 MB, and a batch of the gateway is a little less. The outbox has room for 5140 such names: three bytes each in
# a subject, one here.
my $long = '.' x 200;
for my $burst (1 .. 3) {
    on($a{$_}, sub { text_of("/test/notify?times=4500&interest=$long") }) for @names;
    for my $name (@names) {
        wait_until(sub { on($a{$name}, sub { status()->{NotifiesSent} >= 4000 * $burst }) || said($a{$name}, 'VLT00494') }, "$name: notifies are sent");
    }
}
for my $name (@names) {
    wait_said($a{$name}, 'VLT00494', 1, "$name: the server gives the connection up");
    pass("$name: the server gives the connection up");
    on($a{$name}, sub { graceful_restart() });
}
for my $name (@names) {
    wait_until(sub { !kill 0, $gateway{$name} }, "$name: the child that had it ends");
    pass("$name: the child that had it ends");
    kill 'CONT', $nats{$name}->pid;
    is_told($b{$name}, $page{$name}, $poll{$name}, "2\n", "$name: the page is told when the engine continues");
}
finish();
