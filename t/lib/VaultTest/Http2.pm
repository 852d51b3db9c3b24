# SPDX-License-Identifier: Apache-2.0
# A connection of HTTP/2, frame by frame, with the face of VaultTest::Connection as far as HTTP/2 has such a thing: each request is a
# stream of it, and response() answers them in the order in which they were asked. The client reads as soon as it looks, and decides by
# itself how much it lets the server send:
#
#     my $slow = VaultTest::Http2->new(port => $port, window => 1000);    # no more than 1000 bytes of each answer
#     $slow->request(GET => '/large');
#     $slow->open_window;                                                 # now all of it, and of later ones too
#     $slow->cancel;                                                      # the oldest stream ends, the connection stays
#     $slow->newest_response;                                             # not in turn
package VaultTest::Http2;
use strict;
use warnings;
use VaultTest::Main qw(have_module);
use Time::HiRes ();
use VaultTest::Connection;

# Frames (RFC 9113, section 6), their flags, and the settings that matter here.
use constant {DATA => 0, HEADERS => 1, RST_STREAM => 3, SETTINGS => 4, PING => 6, GOAWAY => 7, WINDOW_UPDATE => 8, CONTINUATION => 9};
use constant {END_STREAM => 1, ACK => 1, END_HEADERS => 4, PADDED => 8, PRIORITY => 32};
use constant {HEADER_TABLE_SIZE => 1, ENABLE_PUSH => 2, INITIAL_WINDOW_SIZE => 4};
use constant {FIRST_WINDOW => 65_535, WIDE => 1 << 30, CANCEL => 8, LARGEST_FRAME => 16_384, TABLE => 4096};

# What a request may not have in HTTP/2 (section 8.2.2).
my %CONNECTION_FIELDS = map { $_ => 1 } qw(connection host keep-alive proxy-connection transfer-encoding upgrade);

sub usable
{
    return have_module('http2') && eval { require Protocol::HTTP2::HeaderCompression; 1 };
}

# new(port =>, window => BYTES that may come of each answer (without it: as many as there are), and what VaultTest::Connection takes)
sub new
{
    my ($class, %with) = @_;
    require Protocol::HTTP2::HeaderCompression;
    my $window = delete $with{window};
    my $wire = VaultTest::Connection->new(patience => 20, %with, alpn => 'h2');
    my $self = bless {
        port => $with{port}, patience => $wire->{patience}, wire => $wire, socket => $wire->{socket}, scheme => $with{tls} ? 'https' : 'http',
        streams => {}, asked => [], next => 1, reads => !defined $window, may_send => FIRST_WINDOW, first_may_send => FIRST_WINDOW,
        decoder => _header_table(emitted_headers => [], frame => {}), encoder => _header_table(),
    }, $class;
    my %settings = ((ENABLE_PUSH) => 0, (INITIAL_WINDOW_SIZE) => $window // WIDE);
    $wire->send_raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    $self->_send(SETTINGS, 0, 0, join '', map { pack 'nN', $_, $settings{$_} } sort keys %settings);
    $self->_send(WINDOW_UPDATE, 0, 0, pack 'N', WIDE);
    return $self;
}

sub _header_table
{
    return {header_table => [], ht_size => 0, max_ht_size => TABLE, settings => {(HEADER_TABLE_SIZE) => TABLE}, @_};
}

# What Protocol::HTTP2 asks of a connection whose headers it decodes.
sub decode_context { return $_[0]{decoder} }
sub error          { die "the server's headers cannot be decoded\n" }
sub stream_error   { die "the server's headers cannot be decoded\n" }

# ---------------------------------------------------------------- sending

sub _send
{
    my ($self, $type, $flags, $id, $payload) = @_;
    return if $self->{says_nothing};
    $self->{wire}->send_raw(substr(pack('N', length $payload), 1) . pack('CCN', $type, $flags, $id) . $payload);
    return;
}

# request(METHOD, PATH, {HEADER => VALUE}, BODY); with a header that announces a body, and none, send_body() sends it
sub request
{
    my ($self, $method, $path, $headers, $body) = @_;
    my $id = $self->{next};
    $self->{next} += 2;
    my %headers = map { lc $_ => $headers->{$_} } grep { defined $headers->{$_} } keys %{$headers || {}};
    $headers{'content-length'} = length $body if defined $body;
    my $announced = defined $body || exists $headers{'content-length'} || exists $headers{'transfer-encoding'};
    my @list = (':method', $method, ':scheme', $self->{scheme}, ':authority', "localhost:$self->{port}", ':path', $path);
    push @list, map { ($_, $headers{$_}) } grep { !$CONNECTION_FIELDS{$_} } sort keys %headers;
    $self->{streams}{$id} = {id => $id, to_send => '', unread => '', interim => [], may_send => $self->{first_may_send}};
    push @{$self->{asked}}, $id;
    $self->_send(HEADERS, END_HEADERS | ($announced ? 0 : END_STREAM), $id,
        Protocol::HTTP2::HeaderCompression::headers_encode($self->{encoder}, \@list));
    $self->send_body($body, 1) if defined $body;
    return $self;
}

# A part of the body of the request that was asked last; `last`: nothing comes behind it. What the server does not let us send now goes
# when it does and the client reads.
sub send_body
{
    my ($self, $bytes, $last) = @_;
    my $stream = $self->{streams}{$self->{asked}[-1]};
    $stream->{to_send} .= $bytes;
    $stream->{to_end} ||= $last;
    $self->_send_on($stream);
    return $self;
}

sub send_chunk { return send_body(@_) }

sub _send_on
{
    my ($self, $stream) = @_;
    while (length $stream->{to_send} || $stream->{to_end}) {
        my ($room) = sort { $a <=> $b } $stream->{may_send}, $self->{may_send}, LARGEST_FRAME;
        return if $room <= 0 && length $stream->{to_send};
        my $piece = length $stream->{to_send} ? substr $stream->{to_send}, 0, $room, '' : '';
        my $end = $stream->{to_end} && !length $stream->{to_send};
        $stream->{to_end} = 0 if $end;
        $stream->{may_send} -= length $piece;
        $self->{may_send} -= length $piece;
        $self->_send(DATA, $end ? END_STREAM : 0, $stream->{id}, $piece);
    }
    return;
}

# The oldest stream is of no interest any more; the connection stays.
sub cancel
{
    my ($self) = @_;
    my $id = shift @{$self->{asked}} or die "nothing was asked\n";
    $self->_send(RST_STREAM, 0, $id, pack 'N', CANCEL);
    delete $self->{streams}{$id};
    return $self;
}

# The server may send so much more of the oldest answer.
sub let_come
{
    my ($self, $bytes) = @_;
    $self->_send(WINDOW_UPDATE, 0, $self->{asked}[0], pack 'N', $bytes);
    return $self;
}

# The server may send all it has, from here on.
sub open_window
{
    my ($self) = @_;
    $self->{reads} = 1;
    $self->_send(SETTINGS, 0, 0, pack 'nN', INITIAL_WINDOW_SIZE, WIDE);
    return $self;
}

# We say nothing more, but still listen.
sub half_close
{
    my ($self) = @_;
    $self->{wire}->half_close;
    $self->{says_nothing} = 1;
    return $self;
}

sub close { return $_[0]{wire}->close }
sub reset { return $_[0]{wire}->reset }

# ---------------------------------------------------------------- frames that come

# Take what has come by the deadline: bytes read, 0 at the end of the connection, undef when nothing came.
sub _pump
{
    my ($self, $deadline) = @_;
    my $wire = $self->{wire};
    my $got = $wire->_fill($deadline);
    while (length $wire->{buffer} >= 9) {
        my ($high, $low, $type, $flags, $id) = unpack 'CnCCN', $wire->{buffer};
        my $length = $high << 16 | $low;
        last if length $wire->{buffer} < 9 + $length;
        my $payload = substr $wire->{buffer}, 0, 9 + $length, '';
        $self->_take($type, $flags, $id & 0x7fff_ffff, substr $payload, 9);
    }
    $self->{ended} = 1 if defined $got && $got == 0;
    $self->_send_on($_) for values %{$self->{streams}};
    return $got;
}

sub _wait
{
    my ($self, $fact, $what) = @_;
    my $deadline = Time::HiRes::time() + $self->{patience};
    until ($fact->()) {
        die "the connection ended before $what\n" if $self->{ended};
        die "not in time: $what\n" if Time::HiRes::time() > $deadline;
        $self->_pump($deadline);
    }
    return;
}

sub _take
{
    my ($self, $type, $flags, $id, $payload) = @_;
    my $stream = $self->{streams}{$id};
    if ($type == SETTINGS) {
        return if $flags & ACK;
        $self->_settings(unpack '(nN)*', $payload);
        $self->_send(SETTINGS, ACK, 0, '');
    }
    elsif ($type == PING) {
        $self->_send(PING, ACK, 0, $payload) unless $flags & ACK;
    }
    elsif ($type == WINDOW_UPDATE) {
        my $holder = $id ? $stream : $self;
        $holder->{may_send} += unpack 'N', $payload if $holder;
    }
    elsif ($type == GOAWAY) {
        $self->{goaway} = 1;
    }
    elsif ($type == RST_STREAM) {
        @$stream{qw(ended reset)} = (1, unpack 'N', $payload) if $stream;
    }
    elsif ($type == DATA) {
        $self->_take_data($stream, _unpadded($flags, $payload), length $payload, $flags);
    }
    elsif ($type == HEADERS || $type == CONTINUATION) {
        $self->_take_headers($stream, $type, $flags, $payload);
    }
    return;
}

sub _settings
{
    my ($self, %settings) = @_;
    if (defined(my $size = $settings{+INITIAL_WINDOW_SIZE})) {
        $_->{may_send} += $size - $self->{first_may_send} for values %{$self->{streams}};
        $self->{first_may_send} = $size;
    }
    return;
}

sub _unpadded
{
    my ($flags, $payload) = @_;
    return $payload unless $flags & PADDED;
    my $padding = unpack 'C', $payload;
    return substr $payload, 1, length($payload) - 1 - $padding;
}

sub _take_data
{
    my ($self, $stream, $data, $length, $flags) = @_;
    $self->_send(WINDOW_UPDATE, 0, 0, pack 'N', $length) if $length;
    return unless $stream;
    $stream->{unread} .= $data;
    if ($flags & END_STREAM) {
        $stream->{ended} = 1;
    }
    elsif ($self->{reads} && $length) {
        $self->_send(WINDOW_UPDATE, 0, $stream->{id}, pack 'N', $length);
    }
    return;
}

# Of streams that were given up, too: the tables of both sides change with each.
sub _take_headers
{
    my ($self, $stream, $type, $flags, $payload) = @_;
    if ($type == HEADERS) {
        $payload = _unpadded($flags, $payload);
        $payload = substr $payload, 5 if $flags & PRIORITY;
        @$self{qw(block block_flags)} = ('', $flags);
    }
    $self->{block} .= $payload;
    return unless $flags & END_HEADERS;
    Protocol::HTTP2::HeaderCompression::headers_decode($self, \$self->{block}, 0, length $self->{block}, 0);
    my @list = splice @{$self->{decoder}{emitted_headers}};
    return unless $stream;
    my ($head, %headers) = ('');
    while (my ($name, $value) = splice @list, 0, 2) {
        $headers{$name} = defined $headers{$name} ? "$headers{$name}, $value" : $value;
        $head .= $name eq ':status' ? "HTTP/2 $value\r\n" : "$name: $value\r\n";
    }
    my $status = delete $headers{':status'};
    my $answer = {status => $status, headers => \%headers, head => $head, body => ''};
    if (defined $status) {    # else they are trailers
        $status < 200 ? push @{$stream->{interim}}, $answer : ($stream->{answer} = $answer);
    }
    $stream->{ended} = 1 if $self->{block_flags} & END_STREAM;
    return;
}

# ---------------------------------------------------------------- answers

sub _oldest
{
    my ($self) = @_;
    my $id = $self->{asked}[0] or die "nothing was asked\n";
    return $self->{streams}{$id};
}

sub _forget_oldest
{
    my ($self) = @_;
    delete $self->{streams}{shift @{$self->{asked}}};
    return;
}

# The head of the oldest answer, when it has come, and nothing of the body: {status, headers, head}
sub head
{
    my ($self) = @_;
    my $stream = $self->_oldest;
    $self->_wait(sub { @{$stream->{interim}} || $stream->{answer} || $stream->{ended} }, 'an answer');
    return shift @{$stream->{interim}} if @{$stream->{interim}};
    die "the stream was reset ($stream->{reset}) before an answer\n" unless $stream->{answer};
    return $stream->{answer};
}

# What has come of the oldest answer's body since, at least something; undef at its end.
sub some_body
{
    my ($self) = @_;
    my $stream = $self->_oldest;
    $self->_wait(sub { length $stream->{unread} || $stream->{ended} }, 'more of an answer');
    return substr $stream->{unread}, 0, length $stream->{unread}, '' if length $stream->{unread};
    die "the stream was reset ($stream->{reset}) in its answer\n" if $stream->{reset};
    $self->_forget_oldest;
    return;
}

# One answer: {status, headers (names in lower case), body}
sub response
{
    my ($self) = @_;
    my $answer = $self->head;
    return $answer if $answer->{status} < 200;
    while (defined(my $part = $self->some_body)) {
        $answer->{body} .= $part;
    }
    return $answer;
}

# The answer to the last request, independently of the others.
sub newest_response
{
    my ($self) = @_;
    unshift @{$self->{asked}}, pop @{$self->{asked}};
    return $self->response;
}

# All that the server has said of the oldest answer when the connection has ended.
sub read_to_end
{
    my ($self) = @_;
    my $stream = $self->_oldest;
    $self->_wait(sub { $self->{ended} }, 'the end of the connection');
    return ($stream->{answer} ? $stream->{answer}{head} : '') . $stream->{unread};
}

# True while the server has said nothing of the oldest answer that was not read. No waiting: order it after a fact.
sub is_silent
{
    my ($self) = @_;
    my $stream = $self->_oldest;
    1 while $self->_pump(0);
    return !$self->{ended} && !$stream->{ended} && !length $stream->{unread} && !@{$stream->{interim}};
}

# True when the server closes without a further answer.
sub is_closed
{
    my ($self) = @_;
    return eval { $self->_wait(sub { $self->{ended} }, 'the end of the connection'); 1 } && !@{$self->{asked}};
}

1;
