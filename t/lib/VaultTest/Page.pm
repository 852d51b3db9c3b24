# SPDX-License-Identifier: Apache-2.0
# A page as a browser holds it: its id, the seq it has, and polls. Decides nothing by itself, so that a test can do it wrong.
package VaultTest::Page;
use strict;
use warnings;
use Exporter 'import';
use JSON::PP ();
use VaultTest::Connection;

our @EXPORT_OK = qw(texts vault_headers);

# Of the answer to a view; dies when there is no page in it.
sub new
{
    my ($class, $answer, %with) = @_;
    my ($id) = $answer->{body} =~ /data-vault-page="([^"]+)"/
        or die "no page in the answer: $answer->{status} $answer->{body}\n";
    return bless {id => $id, seq => 0, html => $answer->{body}, answer => $answer, with => \%with}, $class;
}

# Of {page, seq} that a page without HTML was answered.
sub of
{
    my ($class, $made, %with) = @_;
    return bless {id => $made->{page}, seq => $made->{seq}, with => \%with}, $class;
}

sub id  { return $_[0]{id} }
sub seq { return $_[0]{seq} }
sub html { return $_[0]{html} }

# Another tab that believes to be the same page: same id, same seq, a nonce of its own if it is given one.
sub duplicate
{
    my ($self, %with) = @_;
    return bless {%$self, with => {%{$self->{with}}, %with}}, ref $self;
}

sub path
{
    my ($self) = @_;
    my $tab = defined $self->{with}{tab} ? "&tab=$self->{with}{tab}" : '';
    return ($self->{with}{poll_path} || '/vault/poll') . "?page=$self->{id}&seq=$self->{seq}$tab";
}

# Send a poll and do not wait for it; on a connection of its own, or on the one given.
sub start_poll
{
    my ($self, $connection, %headers) = @_;
    $connection ||= VaultTest::connect_to(%{$self->{with}});
    $connection->request('GET', $self->path, \%headers);
    return $connection;
}

# The answer to a poll; its seq becomes the page's.
sub finish_poll
{
    my ($self, $connection) = @_;
    my $answer = $self->read_poll($connection);
    $self->{seq} = $answer->{seq} if defined $answer->{seq};
    return $answer;
}

# The answer to a poll, as lost on the way: the page goes on with the seq it had.
sub read_poll
{
    my ($self, $connection) = @_;
    my $answer = $connection->response;
    if ($answer->{status} == 200) {
        my $json = JSON::PP->new->allow_nonref(0)->decode($answer->{body});
        @$answer{qw(seq updates refused)} = @$json{qw(seq updates refused)};
    }
    return $answer;
}

sub poll
{
    my ($self, @on) = @_;
    return $self->finish_poll($self->start_poll(@on));
}

# What a poll of this page brings, the only one there is: the text of its updates; undef: it found nothing and waits.
sub news
{
    my ($self) = @_;
    my $before = VaultTest::status();
    my $poll = $self->start_poll;
    my $now = VaultTest::wait_until(
        sub { my $s = VaultTest::status(); ($s->{Waiting} == 1 || $s->{Answers} > $before->{Answers}) && $s },
        'the poll is answered or waits'
    );
    my $text = $now->{Waiting} ? undef : text($self->finish_poll($poll));
    $poll->close;
    VaultTest::wait_waiting(0);
    return $text;
}

# All that the updates of an answer say, one after another.
sub text
{
    my ($answer) = @_;
    return join '', map { $_->{body} } @{$answer->{updates} || []};
}

# The same where the order does not matter: sorted, with a | between any two.
sub texts
{
    my ($answer) = @_;
    return join '|', sort map { $_->{body} } @{$answer->{updates} || []};
}

# The names of mod_vault's headers that an answer should not have any more.
sub vault_headers
{
    my ($answer) = @_;
    return join ' ', sort grep { /^vault-/ } keys %{$answer->{headers}};
}

1;
