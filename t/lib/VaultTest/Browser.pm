# SPDX-License-Identifier: Apache-2.0
# A browser with one cookie: it sends what it was sent last, with each request of its tabs.
package VaultTest::Browser;
use strict;
use warnings;

# VaultTest::Browser->new(headers => {…}, name => COOKIE, …): what else its requests have, as for VaultTest::get()
sub new
{
    my ($class, %with) = @_;
    return bless {name => 'vault_session', %with}, $class;
}

# The value of the cookie; undef: none. With an argument, what it is from now on.
sub id
{
    my ($self, @id) = @_;
    $self->{id} = $id[0] if @id;
    return $self->{id};
}

# The headers of its requests.
sub headers
{
    my ($self) = @_;
    return {%{$self->{headers} || {}}, $self->{id} ? (Cookie => "theme=dark; $self->{name}=$self->{id}; last=1") : ()};
}

sub _with
{
    my ($self) = @_;
    return map { exists $self->{$_} ? ($_ => $self->{$_}) : () } qw(from vhost);
}

# Keep the cookie of an answer, which says how it was set: undef, it was not.
sub keep
{
    my ($self, $answer) = @_;
    my ($id, $how) = ($answer->{headers}{'set-cookie'} // '') =~ /^\Q$self->{name}\E=([^;]*)(.*)$/ or return $answer;
    @$self{qw(id how)} = ($id, $how);
    return $answer;
}

# How the cookie was set, after its value.
sub how { return $_[0]{how} }

sub get
{
    my ($self, $path, %with) = @_;
    return $self->keep(VaultTest::get($path, $self->_with, %with, headers => {%{$self->headers}, %{$with{headers} || {}}}));
}

sub text
{
    my ($self, $path) = @_;
    return $self->get($path)->{body};
}

# A tab: a page, see VaultTest::Page.
sub open
{
    my ($self, $path, %with) = @_;
    my $answer = $self->get($path);
    return VaultTest::Page->new($answer, $self->_with, %with);
}

# Send a poll of a tab with the cookie of now.
sub start_poll
{
    my ($self, $page) = @_;
    return $page->start_poll(undef, %{$self->headers});
}

1;
