# SPDX-License-Identifier: Apache-2.0
# Requests over HTTP/2, each a curl of its own, with the face of VaultTest::Connection as far as HTTP/2 has such a thing: nothing raw,
# no half of a connection.
package VaultTest::Stream;
use strict;
use warnings;
use POSIX ();
use Time::HiRes ();

sub usable
{
    return (`curl --version 2>/dev/null` || '') =~ /HTTP2/ && Apache::Test::have_module('http2');
}

# new(port =>, patience => SECONDS)
sub new
{
    my ($class, %with) = @_;
    return bless {patience => 20, %with, curls => []}, $class;
}

sub _options
{
    my ($method, $headers, $body) = @_;
    my @options = $method eq 'HEAD' ? ('--head') : ('--request', $method, '--include');
    push @options, map { ('--header', "$_: $headers->{$_}") } grep { defined $headers->{$_} } sort keys %{$headers || {}};
    push @options, '--header', 'Content-Type:', '--data-binary', '@-' if defined $body;
    return @options;
}

sub request
{
    my ($self, $method, $path, $headers, $body) = @_;
    pipe my $out, my $in or die "pipe: $!\n";
    pipe my $ours, my $theirs or die "pipe: $!\n";
    my $pid = fork;
    die "fork: $!\n" unless defined $pid;
    if (!$pid) {
        open STDIN, '<&', $out or POSIX::_exit(1);
        open STDOUT, '>&', $theirs or POSIX::_exit(1);
        close $_ for $in, $ours, $out, $theirs;
        exec 'curl', '--silent', '--http2-prior-knowledge', '--max-time', $self->{patience}, _options($method, $headers, $body),
            "http://localhost:$self->{port}$path"
            or POSIX::_exit(1);
    }
    close $_ for $out, $theirs;
    print $in $body if defined $body;
    close $in;
    push @{$self->{curls}}, {pid => $pid, socket => $ours};
    $self->{socket} = $self->{curls}[0]{socket};
    return $self;
}

sub response
{
    my ($self) = @_;
    my $curl = shift @{$self->{curls}} or die "nothing was asked\n";
    $self->{socket} = @{$self->{curls}} ? $self->{curls}[0]{socket} : undef;
    my $text = do { local $/; readline $curl->{socket} };
    waitpid $curl->{pid}, 0;
    my ($head, $body) = split /\r\n\r\n/, $text, 2;
    my ($status) = $head =~ m{^HTTP/2 (\d{3})} or die "not an answer over HTTP/2: \"$text\"\n";
    my %headers = map { /^([^:]+):[ \t]*(.*)$/ ? (lc $1 => $2) : () } split /\r\n/, $head;
    return {status => $status, headers => \%headers, head => $head, body => $body // ''};
}

sub is_silent
{
    my ($self) = @_;
    return !IO::Select->new($self->{socket})->can_read(0);
}

# The client goes: with its connection, as it has one a request.
sub reset
{
    my ($self) = @_;
    for my $curl (splice @{$self->{curls}}) {
        kill KILL => $curl->{pid};
        waitpid $curl->{pid}, 0;
    }
    return;
}

sub close { return $_[0]->reset }

sub DESTROY
{
    local ($?, $!);
    $_[0]->reset;
    return;
}

1;
