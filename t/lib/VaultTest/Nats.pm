# SPDX-License-Identifier: Apache-2.0
# A nats-server that belongs to the test, on a free port of the loopback. It is stopped by its process id at the end of the test.
#
#     my $nats = VaultTest::Nats->start('one');
#     cluster_server('a', $nats);               # a server with VaultCluster
package VaultTest::Nats;
use strict;
use warnings;
use Exporter 'import';
use IO::Socket::INET;
use POSIX ();
use VaultTest;
use VaultTest::Cluster;

our @EXPORT = qw(cluster_server has_cluster pairs_of);

my @started;

# Is there what a cluster needs?
sub has_cluster { return -f vars('top_dir') . '/modules/mod_vault_nats.so' && _program() }

sub _program
{
    my ($path) = grep { -x } map { "$_/nats-server" } split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/local/sbin';
    return $path;
}

# start(NAME, config => lines of its configuration file, host => a VaultTest::Net: it runs there)
sub start
{
    my ($class, $name, %with) = @_;
    my $self = bless {name => $name, config => '', %with, port => VaultTest::Server::free_port()}, $class;
    push @started, $self;
    return $self->again;
}

# Start it, after a stop, at the same port.
sub again
{
    my ($self) = @_;
    my $folder = vars('t_logs');
    open my $file, '>', "$folder/nats-$self->{name}.conf" or die "nats-$self->{name}.conf: $!\n";
    print $file "host: @{[$self->address]}\nport: $self->{port}\n$self->{config}";
    close $file;
    defined($self->{pid} = fork) or die "fork: $!\n";
    if (!$self->{pid}) {
        open STDOUT, '>>', "$folder/nats-$self->{name}.log";
        open STDERR, '>&', \*STDOUT;
        exec $self->{host} ? $self->{host}->inside : (), _program(), '-c', "$folder/nats-$self->{name}.conf" or POSIX::_exit(127);
    }
    wait_until(sub { $self->_answers }, "nats-server $self->{name} answers");
    return $self;
}

sub _answers
{
    my ($self) = @_;
    die "nats-server $self->{name} has ended; see its log\n" if waitpid($self->{pid}, POSIX::WNOHANG()) == $self->{pid};
    return IO::Socket::INET->new(PeerAddr => $self->address, PeerPort => $self->{port}, Timeout => 1);
}

sub address { return $_[0]{host} ? $_[0]{host}->address : '127.0.0.1' }
sub url { return "nats://@{[$_[0]->address]}:$_[0]{port}" }
sub pid { return $_[0]{pid} }

sub stop
{
    my ($self, $signal) = @_;
    return unless $self->{pid};
    kill $signal || 'TERM', $self->{pid};
    kill 'CONT', $self->{pid};
    waitpid $self->{pid}, 0;
    $self->{pid} = 0;
    return $self;
}

# A server that shares notifies by these engines: cluster_server(NAME, [NATS, …], config => …, size => …)
sub cluster_server
{
    my ($name, $engines, %with) = @_;
    my $module = vars('top_dir') . '/modules/mod_vault_nats.so';
    my $config = qq(LoadModule vault_nats_module "$module"\nVaultCluster @{[map { $_->url } @$engines]}\n);
    return VaultTest::Server->start("cluster-$name", %with, config => $config . ($with{config} || ''));
}

# Two servers for each strategy, which hear each other: pairs_of(NAME, [NATS, …], …) is {STRATEGY => [a, b], …}. With turns_engines b names the
# engines in another order.
sub pairs_of
{
    my ($name, $engines, %with) = @_;
    my %pairs;
    for my $strategy (strategies()) {
        my $config = "VaultClusterStrategy $strategy\nVaultClusterNamespace $strategy\n" . ($with{config} || '');
        my @b = $with{turns_engines} ? reverse @$engines : @$engines;
        $pairs{$strategy} = [cluster_server("$name-$strategy-a", $engines, %with, config => $config), cluster_server("$name-$strategy-b", \@b, %with, config => $config)];
    }
    for my $strategy (strategies()) {
        my $checks = $strategy eq 'subscriptions' ? @$engines + 1 : 2 * @$engines + 1;
        wait_checks($_, $checks, "$name-$strategy: both servers hear each other") for @{$pairs{$strategy}};
    }
    return %pairs;
}

END {
    my $status = $?;
    $_->stop for @started;
    $? = $status;
}

1;
