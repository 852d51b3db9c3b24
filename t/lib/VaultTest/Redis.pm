# SPDX-License-Identifier: Apache-2.0
# A Redis of the test's own, on a port of 127.0.0.1 (or, with host => a VaultTest::Net, there), that keeps nothing on disk. With password => a word,
# its default user needs that.
#
#     my $redis = VaultTest::Redis->start('shared') or …;    # undef: redis-server is not installed
#     $redis->ask(SET => 'key', 'value');
package VaultTest::Redis;
use strict;
use warnings;
use IO::Socket::INET;
use POSIX ();
use VaultTest::Main qw(vars);
use VaultTest::Server;

my @started;

sub _program
{
    my ($path) = grep { -x } map { "$_/redis-server" } split(/:/, $ENV{PATH}), '/usr/bin', '/usr/local/bin';
    return $path;
}

sub start
{
    my ($class, $name, %with) = @_;
    _program() or return;
    my $self = bless {%with, port => VaultTest::Server::free_port(), dir => vars('t_logs') . "/redis-$name"}, $class;
    mkdir $self->{dir} or -d $self->{dir} or die "$self->{dir}: $!\n";
    push @started, $self;
    return $self->again;
}

# Start it, after a stop, at the same port. It has lost what it knew.
sub again
{
    my ($self) = @_;
    my $program = _program();
    my $pid = fork;
    die "fork: $!\n" unless defined $pid;
    if (!$pid) {
        open STDOUT, '>', "$self->{dir}/output";
        open STDERR, '>&', \*STDOUT;
        my %options = (bind => $self->address, port => $self->{port}, save => '', appendonly => 'no', dir => $self->{dir}, daemonize => 'no', 'protected-mode' => 'no',
            $self->{password} ? (requirepass => $self->{password}) : ());
        exec $self->{host} ? $self->{host}->inside : (), $program, map { ("--$_", $options{$_}) } sort keys %options or POSIX::_exit(1);
    }
    $self->{pid} = $pid;
    VaultTest::wait_until(sub { eval { $self->ask('PING') eq 'PONG' } }, 'Redis answers');
    return $self;
}

sub port { return $_[0]{port} }
sub address { return $_[0]{host} ? $_[0]{host}->address : '127.0.0.1' }

# One command; its answer: a text, a number, a list, or undef.
sub ask
{
    my ($self, @words) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => $self->address, PeerPort => $self->{port}, Timeout => 10) or die "no connection to Redis: $@\n";
    binmode $socket;
    if ($self->{password}) {
        print $socket "AUTH $self->{password}\r\n";
        _read($socket);
    }
    print $socket '*' . @words . "\r\n", map { '$' . length($_) . "\r\n$_\r\n" } @words;
    return _read($socket);
}

sub _read
{
    my ($socket) = @_;
    my $line = readline $socket // die "Redis has closed the connection\n";
    my ($kind, $rest) = $line =~ /^([-+:\$*])(.*)\r\n\z/ or die "Redis says: $line\n";
    die "Redis says: $rest\n" if $kind eq '-';
    return $rest if $kind =~ /[+:]/;
    return [map { _read($socket) } 1 .. $rest] if $kind eq '*';
    return if $rest < 0;
    my $got = read $socket, my $text, $rest + 2;
    die "Redis has closed the connection\n" unless $got == $rest + 2;
    return substr $text, 0, $rest;
}

sub keys { return @{$_[0]->ask(KEYS => '*')} }

sub freeze { kill STOP => $_[0]{pid}; return }
sub thaw { kill CONT => $_[0]{pid}; return }

sub stop
{
    my ($self) = @_;
    return unless $self->{pid};
    kill KILL => $self->{pid};
    waitpid $self->{pid}, 0;
    delete $self->{pid};
    return;
}

END {
    my $code = $?;
    $_->stop for @started;
    $? = $code;
}

1;
