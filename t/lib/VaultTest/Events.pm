# SPDX-License-Identifier: Apache-2.0
# A stream of events in a browser. It decides nothing by itself, so that a test can also violate the protocol.
#
#     my $stream = VaultTest::Events->open([$page]);       # its head and its first comment have come
#     my $event = $stream->event;                          # {id, page, seq, updates} or {page, status, …}; comments are skipped
#     VaultTest::Events->open([$page], html => 1)->html;   # {id, type, data} of a stream of HTML
#     $stream->read_on;                                    # takes a piece of what comes, for the next event
#     $stream->beat;                                       # the next comment; dies if it is an event
package VaultTest::Events;
use strict;
use warnings;
use JSON::PP ();
use VaultTest ();

# The URL for several pages, for HTML, or for one page.
sub path
{
    my ($pages, %with) = @_;
    my $base = $with{path} || '/vault/poll';
    return "$base?page=" . $pages->[0]->id . '&as=html' . ($with{more} // '') if $with{html};
    return "$base?page=" . $pages->[0]->id . '&seq=' . $pages->[0]->seq if @$pages == 1 && !$with{several};
    return "$base?pages=" . join ',', map { $_->id . '.' . $_->seq } @$pages;
}

# ask([PAGE, …], last => Last-Event-ID, path =>, several =>, html =>, more => what the URL says besides, connection =>, headers =>, and what connect_to() takes): nothing is read yet
sub ask
{
    my ($class, $pages, %with) = @_;
    my $connection = $with{connection} || VaultTest::connect_to(%with);
    my %headers = (Accept => 'text/event-stream', %{$with{headers} || {}});
    $headers{'Last-Event-ID'} = $with{last} if defined $with{last};
    $connection->request(GET => path($pages, %with), \%headers);
    return bless {connection => $connection, text => ''}, $class;
}

sub open
{
    my $self = ask(@_);
    $self->head;
    die "$self->{status} where a stream was needed\n" if $self->{status} != 200;
    $self->{beginning} = $self->block;
    return $self;
}

sub head
{
    my ($self) = @_;
    my $answer = $self->{connection}->head;
    @$self{qw(status headers)} = @$answer{qw(status headers)};
    return $answer->{head};
}

# Read up to and including the next empty line; undef at the end of the stream.
sub block
{
    my ($self) = @_;
    while (index($self->{text}, "\n\n") < 0) {
        my $part = $self->{connection}->some_body;
        return unless defined $part;
        $self->{text} .= $part;
    }
    return substr $self->{text}, 0, index($self->{text}, "\n\n") + 2, '';
}

# The next event, or undef at the end of the stream.
sub event
{
    my ($self) = @_;
    while (defined(my $block = $self->block)) {
        next if $block !~ /^data: (.*)$/m;
        my $event = JSON::PP->new->decode($1);
        ($event->{id}) = $block =~ /^id: (.*)$/m;
        return $event;
    }
    return;
}

# The next event of a stream of HTML as an EventSource parses it, {id, type, data}: id is what it would send as
# Last-Event-ID from then on. undef at the end of the stream.
sub html
{
    my ($self) = @_;
    while (defined(my $block = $self->block)) {
        my (@data, $type);
        for (split /\n/, $block) {
            my ($field, $value) = /^([^:]*)(?:: ?(.*))?$/s;
            push @data, $value // '' if $field eq 'data';
            $type = $value if $field eq 'event';
            $self->{id} = $value if $field eq 'id';
            $self->{retry} = $value if $field eq 'retry';
        }
        return {id => $self->{id}, type => $type // 'message', data => join "\n", @data} if @data;
    }
    return;
}

# Read a part of what arrives, and leave it for event().
sub read_on
{
    my ($self) = @_;
    $self->{text} .= $self->{connection}->some_body;
    return;
}

sub beat
{
    my ($self) = @_;
    my $block = $self->block;
    die 'the stream ended, or said something' unless defined $block && $block =~ /\A:[^\n]*\n\n\z/;
    return 1;
}

# Silent, and without reading anything that was not asked for.
sub is_silent
{
    my ($self) = @_;
    return $self->{text} eq '' && $self->{connection}->is_silent;
}

sub reset { return $_[0]{connection}->reset }

1;
