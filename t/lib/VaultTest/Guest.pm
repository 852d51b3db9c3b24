# SPDX-License-Identifier: Apache-2.0
# A request that the test module suspends (t/test_module/suspend.c), and what became of it.
#
#     my $guest = VaultTest::Guest->start('s01', calls => 'resume');    # sent, not waited for
#     wait_waiting(1);
#     open_barrier('s01');                                              # a thread of the module's calls it
#     is_deeply($guest->facts, {runs => 2, resumed => 1, …}, 'why');
package VaultTest::Guest;
use strict;
use warnings;
use VaultTest;

# start(NAME, on => CONNECTION, path => '/suspend/x', method =>, headers => {}, body => TEXT; the rest is the query)
sub start
{
    my ($class, $name, %with) = @_;
    my $self = bless {name => $name, map { $_ => delete $with{$_} } qw(on path method headers content)}, $class;
    $self->{on} ||= connect_to();
    $with{name} = $name;
    my $query = join '&', map { "$_=$with{$_}" } sort keys %with;
    $self->{on}->request($self->{method} || 'GET', ($self->{path} || '/suspend/x') . "?$query", $self->{headers}, $self->{content});
    return $self;
}

sub connection { return $_[0]{on} }
sub response   { return $_[0]{response} ||= $_[0]{on}->response }

# What the handler has said: {runs => 2, suspended => 0, resumed => 1, timeout => 0, suspends => 'ok', calls => '', wrote => ''}
sub facts
{
    my ($self) = @_;
    my $answer = $self->response;
    return {status => $answer->{status}, body => $answer->{body}} if $answer->{status} != 200;
    return {$answer->{body} =~ /(\w+)=(\S*)/g};
}

# How often the hooks have run for requests of this name: "suspended resumed completed"
sub hooks
{
    my ($self) = @_;
    return join ' ', map { variable("$self->{name}-$_") || 0 } qw(suspended resumed completed);
}

# The hooks have run so often; request_completed may run a moment after the answer has come.
sub wait_hooks
{
    my ($self, $hooks, $why) = @_;
    wait_until(sub { $self->hooks eq $hooks }, "$why: the hooks have run $hooks times, and not " . $self->hooks);
    pass($why);
    return;
}

# What the calls of the module's thread returned; waits for them.
sub calls
{
    my ($self) = @_;
    return wait_until(sub { variable("$self->{name}-calls") }, "the thread has called $self->{name}");
}

sub variable
{
    my ($name) = @_;
    return text_of("/test/get?name=$name");
}

1;
