# SPDX-License-Identifier: Apache-2.0
# A raw HTTP/1.x connection, so that a test can send what a browser never would, and sees every byte received.
package VaultTest::Connection;
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP SOL_SOCKET SO_LINGER SO_RCVBUF TCP_NODELAY);
use Time::HiRes ();

# new(port =>, address => of another host, tls => 1, alpn => PROTOCOL, receive_buffer => BYTES (a client that reads little), patience => SECONDS, from => ADDRESS of this machine, to be another client)
sub new
{
    my ($class, %with) = @_;
    my $self = bless {buffer => '', patience => 20, %with}, $class;
    my $socket = IO::Socket::INET->new(Proto => 'tcp') or die "socket: $!\n";
    setsockopt $socket, SOL_SOCKET, SO_RCVBUF, pack('i', $with{receive_buffer}) if $with{receive_buffer};
    bind $socket, Socket::pack_sockaddr_in(0, Socket::inet_aton($with{from})) or die "from $with{from}: $!\n" if $with{from};
    connect $socket, Socket::pack_sockaddr_in($with{port}, Socket::inet_aton($with{address} // '127.0.0.1')) or die "port $with{port}: $!\n";
    setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, pack('i', 1);
    $self->{socket} = $with{tls} ? _start_tls($socket, $with{alpn}) : $socket;
    return $self;
}

# TLS contexts of OpenSSL, by protocol: creating one takes longer than a connection.
my %contexts;

sub _start_tls
{
    my ($socket, $alpn) = @_;
    require IO::Socket::SSL;
    my @protocol = $alpn ? (SSL_alpn_protocols => [$alpn]) : ();
    $contexts{$alpn // ''} //= IO::Socket::SSL::SSL_Context->new(SSL_verify_mode => IO::Socket::SSL::SSL_VERIFY_NONE(), @protocol);
    return IO::Socket::SSL->start_SSL($socket, SSL_reuse_ctx => $contexts{$alpn // ''}) || die "TLS: " . IO::Socket::SSL::errstr() . "\n";
}

# ---------------------------------------------------------------- sending

sub send_raw
{
    my ($self, $bytes) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my $sent = 0;
    while ($sent < length $bytes) {
        my $n = syswrite $self->{socket}, $bytes, length($bytes) - $sent, $sent;
        die "send: $!\n" unless defined $n;
        $sent += $n;
    }
    return $self;
}

# request(METHOD, PATH, {HEADER => VALUE}, BODY)
sub request
{
    my ($self, $method, $path, $headers, $body) = @_;
    my %headers = (Host => "localhost:$self->{port}", %{$headers || {}});
    $headers{'Content-Length'} = length $body if defined $body;
    my $version = $self->{http10} ? 'HTTP/1.0' : 'HTTP/1.1';
    my $head = join '', map { "$_: $headers{$_}\r\n" } grep { defined $headers{$_} } sort keys %headers;
    push @{$self->{methods}}, $method;
    return $self->send_raw("$method $path $version\r\n$head\r\n" . (defined $body ? $body : ''));
}

# Send a part of the body of the last request, whose header has announced the length.
sub send_body
{
    my ($self, $bytes) = @_;
    return $self->send_raw($bytes);
}

# Send a chunk, with Transfer-Encoding: chunked; `last`: it is the last one.
sub send_chunk
{
    my ($self, $bytes, $last) = @_;
    return $self->send_raw(sprintf("%x\r\n%s\r\n", length $bytes, $bytes) . ($last ? "0\r\n\r\n" : ''));
}

# Close the sending direction, and keep reading.
sub half_close
{
    my ($self) = @_;
    shutdown $self->{socket}, 1;
    return $self;
}

# Close in order (FIN).
sub close
{
    my ($self) = @_;
    CORE::close($self->{socket});
    return;
}

# Reset the connection (RST).
sub reset
{
    my ($self) = @_;
    setsockopt $self->{socket}, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0);
    CORE::close($self->{socket});
    return;
}

# ---------------------------------------------------------------- reading

# Read what arrives in the time left: the number of bytes, 0 at the end of the stream, undef if nothing came.
sub _fill
{
    my ($self, $deadline) = @_;
    my $left = $deadline - Time::HiRes::time();
    my $pending = $self->{socket}->can('pending') && $self->{socket}->pending;
    return undef unless $pending || IO::Select->new($self->{socket})->can_read($left > 0 ? $left : 0);
    $self->{socket}->blocking(0) if $self->{tls};    # what has come may be nothing but a session ticket
    my $n = sysread $self->{socket}, $self->{buffer}, 65536, length $self->{buffer};
    my $later = !defined $n && ($!{EAGAIN} || $!{EINTR});
    $self->{socket}->blocking(1) if $self->{tls};
    return $n if defined $n;
    return undef if $later;
    return 0;    # a reset ends the stream as well
}

# Read exactly this many bytes.
sub read_bytes
{
    my ($self, $n) = @_;
    my $deadline = Time::HiRes::time() + $self->{patience};
    while (length $self->{buffer} < $n) {
        my $got = $self->_fill($deadline);
        die "the connection ended after " . length($self->{buffer}) . " of $n bytes\n" if defined $got && $got == 0;
        die "only " . length($self->{buffer}) . " of $n bytes came in time\n" if Time::HiRes::time() > $deadline;
    }
    return substr $self->{buffer}, 0, $n, '';
}

# Read one byte, and no more from the socket.
sub read_byte
{
    my ($self) = @_;
    return sysread $self->{socket}, $self->{buffer}, 1, length $self->{buffer};
}

# Read up to and including the mark.
sub read_until
{
    my ($self, $mark) = @_;
    my $deadline = Time::HiRes::time() + $self->{patience};
    my $at;
    while (($at = index $self->{buffer}, $mark) < 0) {
        my $got = $self->_fill($deadline);
        die "the connection ended before an answer: \"$self->{buffer}\"\n" if defined $got && $got == 0;
        die "no answer in time: \"$self->{buffer}\"\n" if Time::HiRes::time() > $deadline;
    }
    return substr $self->{buffer}, 0, $at + length $mark, '';
}

sub read_to_end
{
    my ($self) = @_;
    my $deadline = Time::HiRes::time() + $self->{patience};
    while (1) {
        my $got = $self->_fill($deadline);
        last if defined $got && $got == 0;
        die "the connection was not closed in time\n" if Time::HiRes::time() > $deadline;
    }
    my $all = $self->{buffer};
    $self->{buffer} = '';
    return $all;
}

# Read the header of an answer: {status, headers (names in lower case), head}
sub head
{
    my ($self) = @_;
    my $head = $self->read_until("\r\n\r\n");
    my ($status) = $head =~ m{^HTTP/1\.[01] (\d{3})} or die "not an answer: $head\n";
    my %headers;
    while ($head =~ /^([^:\r\n]+):[ \t]*(.*?)\r$/mg) {
        my $name = lc $1;
        $headers{$name} = defined $headers{$name} ? "$headers{$name}, $2" : $2;
    }
    return {status => $status, headers => \%headers, head => $head, body => ''};
}

# Read one answer: {status, headers, head, body}
sub response
{
    my ($self) = @_;
    my $answer = $self->head;
    my $method = shift @{$self->{methods} || []} || 'GET';
    my $status = $answer->{status};
    my $bodiless = $method eq 'HEAD' || $status == 204 || $status == 304 || $status < 200;
    $answer->{body} = $self->_body($answer->{headers}) unless $bodiless;
    return $answer;
}

# Read the next chunk of an answer in chunks, whose header has been read; undef at the end.
sub some_body
{
    my ($self) = @_;
    my ($length) = $self->read_until("\r\n") =~ /^([0-9a-fA-F]+)/ or die "not a chunk\n";
    my $bytes = $self->read_bytes(hex $length);
    $self->read_bytes(2);
    return hex $length ? $bytes : undef;
}

sub _body
{
    my ($self, $headers) = @_;
    return $self->_chunks if lc($headers->{'transfer-encoding'} || '') eq 'chunked';
    return $self->read_bytes($headers->{'content-length'}) if defined $headers->{'content-length'};
    return $self->read_to_end;
}

sub _chunks
{
    my ($self) = @_;
    my $body = '';
    while (defined(my $chunk = $self->some_body)) {
        $body .= $chunk;
    }
    return $body;
}

# True if the server has neither sent anything nor closed. Does not wait: call it after a fact.
sub is_silent
{
    my ($self) = @_;
    return 0 if length $self->{buffer};
    return !defined $self->_fill(0);
}

# True if the server closes without sending anything.
sub is_closed
{
    my ($self) = @_;
    return 0 if length $self->{buffer};
    my $got = $self->_fill(Time::HiRes::time() + $self->{patience});
    return defined $got && $got == 0;
}

1;
