# SPDX-License-Identifier: Apache-2.0
# Hosts that belong to the test, each a network namespace with an address of its own, joined by a bridge. The test itself is at 10.77.0.254.
#
#     use VaultTest::Net;                                # before VaultTest: this process enters a namespace of its own
#     plan skip_all => $why if my $why = net_missing();
#     my $a = VaultTest::Net->host('a');                 # 10.77.0.1
#     exec $a->inside, 'nats-server', …                  # a program of that host
#     $a->cut($b); $a->join($b);                         # what $a sends to $b is dropped silently
#     $a->slow; $a->fast;
#
# A user who is not root may do so in a user namespace, where the kernel allows those. A cut is a neighbour entry with the address of no host:
# unlike a firewall rule it needs iproute2 only. Slow is a token bucket (tbf), whose queue delays and then drops: netem is missing in many kernels.
package VaultTest::Net;
use strict;
use warnings;
use Exporter 'import';
use IPC::Open2 qw(open2);

our @EXPORT = qw(net_missing);

my $NETWORK = '10.77.0';
my (@hosts, $missing);

# tc is where only root looks for programs. In the usual case this process becomes another one, and comes here again.
BEGIN {
    $ENV{PATH} .= ":/usr/sbin:/sbin";
    if (!$ENV{VAULT_NET}) {
        local $ENV{VAULT_NET} = 1;
        my @enter = qw(unshare --user --net --map-current-user --keep-caps);
        my $said = `@enter ip link add br0 type bridge 2>&1`;
        exec @enter, $^X, $0, @ARGV if $? == 0;
        $missing = 'no network namespace can be made: ' . ($said =~ s/\n.*//sr || "unshare: $!");
    }
}

sub net_missing { return $missing }

sub _ip
{
    my (@words) = @_;
    system(@words) == 0 or die "@words ended with $?\n";
    return;
}

sub _begin
{
    _ip(qw(ip link set lo up));
    _ip(qw(ip link add br0 type bridge));
    _ip(qw(ip link set br0 up));
    _ip(qw(ip addr add), "$NETWORK.254/24", qw(dev br0));
    return;
}

# A host. Its only process at first keeps the namespace, and ends with this test.
sub host
{
    my ($class, $name) = @_;
    _begin() if !@hosts;
    my $self = bless {name => $name, address => "$NETWORK." . (1 + @hosts)}, $class;
    push @hosts, $self;
    $self->{keeper} = open2(my $out, $self->{in}, 'unshare', '--net', 'sh', '-c', 'echo made; exec cat >/dev/null');
    die "no network namespace for $name\n" if (readline($out) // '') ne "made\n";
    my $port = 'port' . @hosts;
    _ip(qw(ip link add), $port, qw(type veth peer name eth0 netns), $self->{keeper});
    _ip(qw(ip link set), $port, qw(master br0 up));
    $self->_in(qw(ip addr add), "$self->{address}/24", qw(dev eth0));
    $self->_in(qw(ip link set), $_, 'up') for qw(lo eth0);
    return $self;
}

sub name { return $_[0]{name} }
sub address { return $_[0]{address} }

# What precedes a command, so that it runs on this host.
sub inside { return ('nsenter', "--net=/proc/$_[0]{keeper}/ns/net") }

sub _in { my ($self, @words) = @_; return _ip($self->inside, @words) }

sub cut
{
    my ($self, $other) = @_;
    return $self->_in(qw(ip neigh replace), $other->address, qw(lladdr 02:00:00:00:00:ff dev eth0 nud permanent));
}

sub join { my ($self, $other) = @_; return $self->_in(qw(ip neigh del), $other->address, qw(dev eth0)) }

# Is that possible here?
sub can_slow
{
    my ($self) = @_;
    return 0 if eval { $self->slow; 1 } ? 0 : 1;
    $self->fast;
    return 1;
}

sub slow { return $_[0]->_in(qw(tc qdisc add dev eth0 root tbf rate 256kbit burst 4000 latency 300ms)) }
sub fast { return $_[0]->_in(qw(tc qdisc del dev eth0 root)) }

END {
    my $code = $?;
    for my $host (@hosts) {
        close $host->{in};
        waitpid $host->{keeper}, 0;
    }
    $? = $code;
}

1;
