# SPDX-License-Identifier: Apache-2.0
# A page in a browser: its id, its seq, and polls. It decides nothing by itself, so that a test can also violate the
# protocol.
package VaultTest::Page;
use strict;
use warnings;
use Exporter 'import';
use JSON::PP ();
use VaultTest::Connection;

our @EXPORT_OK = qw(texts vault_headers);

# Creates a page from the answer to a view; dies if that has no page.
sub new
{
    my ($class, $answer, %with) = @_;
    my ($id) = $answer->{body} =~ /data-vault-page="([^"]+)"/
        or die "no page in the answer: $answer->{status} $answer->{body}\n";
    return bless {id => $id, seq => 0, html => $answer->{body}, answer => $answer, with => \%with}, $class;
}

# Creates a page from the answer {page, seq} to a request for subscriptions.
sub of
{
    my ($class, $made, %with) = @_;
    return bless {id => $made->{page}, seq => $made->{seq}, with => \%with}, $class;
}

sub id  { return $_[0]{id} }
sub seq { return $_[0]{seq} }
sub html { return $_[0]{html} }

# Another tab with the same page: same id, same seq, and its own nonce if one is given.
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

# Send a poll without waiting for the answer, on a new connection or on the given one.
sub start_poll
{
    my ($self, $connection, %headers) = @_;
    $connection ||= VaultTest::connect_to(%{$self->{with}});
    $connection->request('GET', $self->path, \%headers);
    return $connection;
}

# Read the answer to a poll; its seq becomes the page's.
sub finish_poll
{
    my ($self, $connection) = @_;
    my $answer = $self->read_poll($connection);
    $self->{seq} = $answer->{seq} if defined $answer->{seq};
    return $answer;
}

# Read the answer to a poll as if it were lost: the page keeps its seq.
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

# The text of the updates that the only poll of this page brings; undef: it found nothing and waits.
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

# The text of all updates in an answer, concatenated.
sub text
{
    my ($answer) = @_;
    return join '', map { $_->{body} } @{$answer->{updates} || []};
}

# The same where the order does not matter: sorted, and joined by |.
sub texts
{
    my ($answer) = @_;
    return join '|', sort map { $_->{body} } @{$answer->{updates} || []};
}

# The names of mod_vault's headers that are left in an answer and should not be.
sub vault_headers
{
    my ($answer) = @_;
    return join ' ', sort grep { /^vault-/ } keys %{$answer->{headers}};
}

1;
