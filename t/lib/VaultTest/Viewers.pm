# SPDX-License-Identifier: Apache-2.0
# Pages of several servers in one process, which poll as browsers do and keep what they show: texts in square brackets, each once.
#
#     my $viewers = VaultTest::Viewers->open('/fleet/rows.shtml', map { ($_) x 5 } @servers);     # a list of paths: in turns
#     $viewers->roam(@servers);              # each poll of a page goes to one of these servers, by random()
#     $viewers->step;                        # often: takes what has come
#     $viewers->behind({t1 => 1, …})         # the pages that do not show just that, with what they lack; {t1 => PATH}: only pages of that path show it
#     $viewers->faults                       # errors: a text that came twice, an answer with an unexpected status
#     $viewers->reloads($server)             # how often pages of this server were gone; without a server: of all
package VaultTest::Viewers;
use strict;
use warnings;
use Time::HiRes qw(time);
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Random;

sub open
{
    my ($class, $path, @servers) = @_;
    my @paths = ref $path ? @$path : $path;
    my $number = 0;
    my @pages = map { {number => $number, path => $paths[$number++ % @paths], server => $_, due => 0, shows => {}, reloads => 0} } @servers;
    return bless {pages => \@pages, faults => [], answers => 0, refused => 0}, $class;
}

sub roam { my ($self, @servers) = @_; $self->{servers} = \@servers; return }
sub faults { return @{$_[0]{faults}} }

# A connection that ends, or an answer that does not come to its end, is no fault: the page polls again.
sub step
{
    my ($self) = @_;
    for my $page (@{$self->{pages}}) {
        next if time < $page->{due} || $page->{poll} && $page->{poll}->is_silent;
        next if eval { on($page->{server}, sub { $self->_continue($page) }); 1 };
        delete $page->{poll};
        $page->{due} = time + 0.2;
    }
    use_server();
    return;
}

sub _continue
{
    my ($self, $page) = @_;
    return $self->_load($page) if !$page->{page};
    if (!$page->{poll}) {
        $page->{server} = $self->{servers}[random(scalar @{$self->{servers}})] if $self->{servers};
        return $page->{poll} = on($page->{server}, sub { $page->{page}->start_poll });
    }
    return $self->_take($page, $page->{page}->finish_poll(delete $page->{poll}));
}

sub _load
{
    my ($self, $page) = @_;
    my $answer = get($page->{path}, patience => 5);
    if ($answer->{status} != 200 || $answer->{body} !~ /data-vault-page=/) {
        $self->{refused}++;
        $page->{due} = time + 0.3;
        return;
    }
    $page->{page} = VaultTest::Page->new($answer, patience => 5);
    $page->{shows} = {};
    return $self->_show($page, $answer->{body});
}

sub _take
{
    my ($self, $page, $answer) = @_;
    my $status = $answer->{status};
    if ($status == 200) {
        $self->{answers}++;
        $self->_show($page, VaultTest::Page::text($answer));
    }
    elsif ($status == 410) {
        delete $page->{page};
        $page->{reloads}++;
        $page->{due} = time + 0.3;
    }
    elsif ($status == 503) {
        $self->{refused}++;
        $page->{due} = time + 0.3;
    }
    elsif ($status != 204) {
        $self->_fault($page, "a poll is answered with $status");
    }
    return;
}

sub _show
{
    my ($self, $page, $text) = @_;
    for my $shown ($text =~ /\[(\w+)\]/g) {
        $self->_fault($page, "$shown comes twice") if $page->{shows}{$shown}++;
    }
    return;
}

sub _fault
{
    my ($self, $page, $what) = @_;
    push @{$self->{faults}}, "page $page->{number} of " . $page->{server}->address . ": $what";
    return;
}

sub behind
{
    my ($self, $truth) = @_;
    my @behind;
    for my $page (@{$self->{pages}}) {
        my %due = map { $_ => 1 } grep { $truth->{$_} =~ /^(?:1|\Q$page->{path}\E)\z/ } keys %$truth;
        my @less = grep { !$page->{shows}{$_} } sort keys %due;
        my @more = grep { !$due{$_} } sort keys %{$page->{shows}};
        next if $page->{page} && !@less && !@more;
        push @behind, "page $page->{number} of " . $page->{server}->address . ($page->{page} ? " lacks @less; has too much: @more" : ' is not loaded');
    }
    return @behind;
}

sub reloads
{
    my ($self, $server) = @_;
    my $sum = 0;
    $sum += $_->{reloads} for grep { !$server || $_->{server} == $server } @{$self->{pages}};
    return $sum;
}

1;
