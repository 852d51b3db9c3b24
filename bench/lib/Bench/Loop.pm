# SPDX-License-Identifier: Apache-2.0
# Many HTTP/1.1 clients in one process: connections that do not block, and timers.
#
#     my $loop = Bench::Loop->new(port => $port);
#     my $c = $loop->connection(from => '127.0.1.7', answered => sub { my ($c, $answer) = @_; … });
#     $c->ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
#     $loop->after(0.5, sub { … });
#     $loop->run_until($time);
#
# answered   gets {status, head, body}; status 0: the connection ended or could not be made. What is asked next goes on the same connection, or
#            on a new one if the server has closed it
# some       of an answer in chunks: gets the text that came, instead of the body
# unread     after the request nothing is read
package Bench::Loop;
use strict;
use warnings;
use Errno qw(EAGAIN EINPROGRESS EINTR);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use Socket;
use Time::HiRes qw(time);

sub new
{
    my ($class, %with) = @_;
    return bless {readers => '', writers => '', connections => {}, timers => [], %with}, $class;
}

sub after
{
    my ($self, $seconds, $code) = @_;
    push @{$self->{timers}}, [time + $seconds, $code];
    return;
}

sub connection
{
    my ($self, %with) = @_;
    return bless {loop => $self, port => $self->{port}, in => '', out => '', %with}, 'Bench::Loop::Connection';
}

sub run_until
{
    my ($self, $end) = @_;
    while ((my $now = time) < $end) {
        my @due = grep { $_->[0] <= $now } @{$self->{timers}};
        @{$self->{timers}} = grep { $_->[0] > $now } @{$self->{timers}};
        $_->[1]->() for @due;
        my $next = $end;
        for my $timer (@{$self->{timers}}) {
            $next = $timer->[0] if $timer->[0] < $next;
        }
        my $wait = $next - time;
        $self->_once($wait > 0 ? $wait : 0);
    }
    return;
}

sub _once
{
    my ($self, $wait) = @_;
    my $found = select my $readable = $self->{readers}, my $writable = $self->{writers}, undef, $wait;
    return if $found <= 0;
    for my $fd (keys %{$self->{connections}}) {
        my $c = $self->{connections}{$fd};
        $c->_write if $c && vec $writable, $fd, 1;
        $c = $self->{connections}{$fd};
        $c->_read if $c && vec $readable, $fd, 1;
    }
    return;
}

package Bench::Loop::Connection;
use strict;
use warnings;
use Errno qw(EAGAIN EINPROGRESS EINTR);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use Socket;

sub ask
{
    my ($self, $request) = @_;
    @$self{qw(asked head left ended)} = (1, undef, undef, 0);
    $self->{out} .= $request;
    return $self->_failed if !$self->{socket} && !$self->_connect;
    $self->_write;
    return;
}

sub close
{
    my ($self) = @_;
    my $socket = delete $self->{socket} or return;
    my $fd = fileno $socket;
    vec($self->{loop}{readers}, $fd, 1) = 0;
    vec($self->{loop}{writers}, $fd, 1) = 0;
    delete $self->{loop}{connections}{$fd};
    CORE::close $socket;
    @$self{qw(in out asked)} = ('', '', 0);
    return;
}

sub _connect
{
    my ($self) = @_;
    socket my $socket, PF_INET, SOCK_STREAM, 0 or return 0;
    setsockopt $socket, SOL_SOCKET, SO_RCVBUF, pack 'i', 4096 if $self->{unread};
    fcntl $socket, F_SETFL, fcntl($socket, F_GETFL, 0) | O_NONBLOCK;
    bind $socket, pack_sockaddr_in(0, inet_aton($self->{from})) or return 0 if $self->{from};
    connect($socket, pack_sockaddr_in($self->{port}, inet_aton('127.0.0.1'))) || $! == EINPROGRESS or return 0;
    setsockopt $socket, Socket::IPPROTO_TCP(), Socket::TCP_NODELAY(), pack 'i', 1;
    my $fd = fileno $socket;
    $self->{socket} = $socket;
    $self->{in} = '';
    $self->{loop}{connections}{$fd} = $self;
    vec($self->{loop}{readers}, $fd, 1) = $self->{unread} ? 0 : 1;
    vec($self->{loop}{writers}, $fd, 1) = 1;
    return 1;
}

sub _write
{
    my ($self) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my $fd = fileno $self->{socket};
    my $n = length $self->{out} ? syswrite $self->{socket}, $self->{out} : 0;
    if (!defined $n) {
        return if $! == EAGAIN || $! == EINTR || $!{ENOTCONN};
        return $self->_failed;
    }
    substr $self->{out}, 0, $n, '';
    vec($self->{loop}{writers}, $fd, 1) = length $self->{out} ? 1 : 0;
    return;
}

sub _failed
{
    my ($self) = @_;
    my $asked = $self->{asked};
    $self->close;
    @$self{qw(in out asked)} = ('', '', 0);
    $self->{answered}->($self, {status => 0, head => '', body => ''}) if $asked;
    return;
}

sub _read
{
    my ($self) = @_;
    my $n = sysread $self->{socket}, $self->{in}, 65536, length $self->{in};
    return if !defined $n && ($! == EAGAIN || $! == EINTR);
    return $self->_failed if !$n;
    $self->_parse;
    return;
}

sub _parse
{
    my ($self) = @_;
    if (!$self->{head}) {
        return if $self->{in} !~ s/\A(.*?\r\n)\r\n//s;
        my $head = $1;
        my ($status) = $head =~ m{^HTTP/1\.1 (\d+)};
        $self->{head} = {status => $status // 0, head => $head, body => ''};
        $self->{left} = $head =~ /^Transfer-Encoding: chunked/mi ? undef
            : $head =~ /^Content-Length: (\d+)/mi ? $1 : 0;
    }
    my $answer = $self->{head};
    if (defined $self->{left}) {
        return if length $self->{in} < $self->{left};
        $answer->{body} = substr $self->{in}, 0, $self->{left}, '';
        return $self->_done($answer);
    }
    while ($self->{in} =~ /\A([0-9a-fA-F]+)[^\n]*\r\n/) {
        my ($length, $before) = (hex $1, $+[0]);
        return if length $self->{in} < $before + $length + 2;
        my $text = substr substr($self->{in}, 0, $before + $length + 2, ''), $before, $length;
        return $self->_done($answer) if !$length;
        $self->{some} && $answer->{status} == 200 ? $self->{some}->($self, $text) : ($answer->{body} .= $text);
        return if !$self->{socket};
    }
    return;
}

sub _done
{
    my ($self, $answer) = @_;
    $self->{asked} = 0;
    $self->{head} = undef;
    $self->close if $answer->{head} =~ /^Connection: close/mi;
    $self->{answered}->($self, $answer);
    return;
}

1;
