# SPDX-License-Identifier: Apache-2.0
# A server that answers every request with the bytes it was last given; its process is stopped by its id when the object goes.
#
#     my $stub = VaultTest::Stub->new;
#     $stub->answers("HTTP/1.1 200 OK\r\n\r\n{}");
#     $stub->url                                  # http://127.0.0.1:PORT/
package VaultTest::Stub;
use strict;
use warnings;
use IO::Socket::INET;
use POSIX ();
use VaultTest::Main qw(vars);

my $number = 0;

sub new
{
    my ($class) = @_;
    my $listener = IO::Socket::INET->new(Listen => 16, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "no port: $!\n";
    my $self = bless {port => $listener->sockport, file => vars('t_logs') . "/stub-$$-" . $number++, owner => $$}, $class;
    $self->answers("HTTP/1.1 204 No Content\r\n\r\n");
    $self->{pid} = fork;
    die "fork: $!\n" unless defined $self->{pid};
    if (!$self->{pid}) {
        $self->_serve($listener);
        POSIX::_exit(0);
    }
    return $self;
}

sub _serve
{
    my ($self, $listener) = @_;
    local $SIG{PIPE} = 'IGNORE';
    while (my $client = $listener->accept) {
        my $head = '';
        1 while $head !~ /\r\n\r\n/ && sysread $client, $head, 4096, length $head;
        open my $file, '<:raw', $self->{file} or next;
        local $/;
        syswrite $client, scalar readline $file;
        shutdown $client, 1;    # not only when the next one comes; a close would cut off what has not been read yet
    }
    return;
}

sub url { return "http://127.0.0.1:$_[0]{port}/" }

# In one step, so that no request sees half of it.
sub answers
{
    my ($self, $bytes) = @_;
    open my $file, '>:raw', "$self->{file}.new" or die "$self->{file}: $!\n";
    print $file $bytes;
    close $file or die "$self->{file}: $!\n";
    rename "$self->{file}.new", $self->{file} or die "$self->{file}: $!\n";
    return;
}

sub DESTROY
{
    my ($self) = @_;
    return unless $$ == $self->{owner} && $self->{pid};
    local ($?, $!);
    kill 'KILL', $self->{pid};
    waitpid $self->{pid}, 0;
    unlink $self->{file};
    return;
}

1;
