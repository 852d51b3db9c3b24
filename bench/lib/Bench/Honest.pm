# SPDX-License-Identifier: Apache-2.0
# A hundred honest pages of twenty addresses, a writer, and visitors who come anew: what they notice, phase by phase.
#
# A row is a number, one more than the one before in its group; each page of the group must show each number once, in order. What a page shows is
# checked as it comes. A page that is told 410 is loaded again and begins anew; what its visitor had not seen before counts as seen late.
package Bench::Honest;
use strict;
use warnings;
use JSON::PP ();
use Time::HiRes qw(time);

use constant {GROUPS => 10, ADDRESSES => 20, WRITE_EVERY => 0.05, VISIT_EVERY => 0.25, TOO_LATE => 10};

my $json = JSON::PP->new;

# new(loop =>, pages => how many, streams => how many of them, visits => [paths], site => {
#     page => sub { my ($group) = @_; path of a page }, write => sub { my ($group, $row) = @_; request }, rows => sub { my ($update) = @_; numbers }})
sub new
{
    my ($class, %with) = @_;
    my $self = bless {phase => 'before', figures => {}, sent => {}, wrote => {}, %with}, $class;
    $self->{pages} = [map { $self->_new_page($_) } 0 .. $with{pages} - 1];
    return $self;
}

sub get { return "GET $_[0] HTTP/1.1\r\nHost: localhost\r\n" . join('', @_[1 .. $#_]) . "\r\n" }

sub _figure { my ($self, $phase) = @_; return $self->{figures}{$phase // $self->{phase}} //= {map { $_ => [] } qw(delivery visit)} }
sub _count { my ($self, $what) = @_; $self->_figure->{$what}++; return }

# ---------------------------------------------------------------- pages

sub _new_page
{
    my ($self, $n) = @_;
    my $page = {group => $n % GROUPS, from => '127.0.1.' . (1 + $n % ADDRESSES), is_stream => $n < $self->{streams}, seen => 0, last => 0};
    return $page;
}

sub start
{
    my ($self) = @_;
    my $after = 0;
    for my $page (@{$self->{pages}}) {
        $self->{loop}->after($after += 0.005, sub { $self->_load($page) });
    }
    return;
}

sub all_wait { my ($self) = @_; return !grep { !$_->{waits} } @{$self->{pages}} }

sub _load
{
    my ($self, $page) = @_;
    $page->{c}->close if $page->{c};
    @$page{qw(id seq last waits)} = (undef, 0, 0, 0);
    $page->{c} = $self->{loop}->connection(
        from => $page->{from},
        answered => sub { $self->_answered($page, $_[1]) },
        some => sub { $self->_events($page, $_[1]) },
    );
    $page->{c}->ask(get($self->{site}{page}->($page->{group})));
    return;
}

sub _poll
{
    my ($self, $page) = @_;
    $page->{events} = '';
    $page->{waits} = 1;
    $page->{c}->ask(get("/vault/poll?page=$page->{id}&seq=$page->{seq}", $page->{is_stream} ? "Accept: text/event-stream\r\n" : ()));
    return;
}

sub _answered
{
    my ($self, $page, $answer) = @_;
    my $status = $answer->{status};
    if (!$page->{id} && $status == 200 && $answer->{body} =~ /data-vault-page="(\w+)"/) {
        $page->{id} = $1;
        return $self->_poll($page);
    }
    if ($page->{id} && ($status == 200 || $status == 204)) {
        $self->_shows($page, $json->decode($answer->{body})) if $status == 200 && !$page->{is_stream};
        return $self->_poll($page);
    }
    return $self->_trouble($page, $status, $answer->{head} =~ /^Retry-After: (\d+)/mi ? $1 : 1);
}

# Refused, expired, or cut off: what a browser does then.
sub _trouble
{
    my ($self, $page, $status, $wait) = @_;
    $self->_count($status == 503 ? 'refused' : $status == 410 ? 'gone' : $status ? 'odd' : 'cut');
    $page->{id} = undef if $status == 410 || !$status && !$page->{waits};
    $self->{loop}->after($status == 503 ? $wait : 0.2, sub { $page->{id} ? $self->_poll($page) : $self->_load($page) });
    return;
}

sub _events
{
    my ($self, $page, $text) = @_;
    $page->{events} .= $text;
    while ($page->{events} =~ s/\A(.*?)\n\n//s) {
        my ($event) = $1 =~ /^data: (.*)$/m or next;
        my $said = $json->decode($event);
        if ($said->{status}) {
            $page->{c}->close;
            return $self->_trouble($page, $said->{status}, $said->{retry} // 1);
        }
        $self->_shows($page, $said);
        $self->_acknowledge($page) if ++$page->{unacknowledged} >= 4;
    }
    return;
}

sub _acknowledge
{
    my ($self, $page) = @_;
    $page->{unacknowledged} = 0;
    $self->{idle}{$page->{from}} //= [];
    my $c = pop @{$self->{idle}{$page->{from}}} // $self->{loop}->connection(from => $page->{from});
    $c->{answered} = sub {
        $self->_count($_[1]{status} == 503 ? 'refused' : 'odd') if $_[1]{status} && $_[1]{status} !~ /^(?:204|410)$/;
        push @{$self->{idle}{$page->{from}}}, $_[0];
    };
    $c->ask("POST /vault/poll?page=$page->{id}&seq=$page->{seq}&ack=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    return;
}

sub _shows
{
    my ($self, $page, $said) = @_;
    my $now = time;
    $page->{seq} = $said->{seq};
    for my $row (sort { $a <=> $b } map { $self->{site}{rows}->($_) } @{$said->{updates}}) {
        $self->_count('doubled') if $row <= $page->{last};
        $self->_count('missed') if $row > $page->{last} + 1 && $page->{last};
        $page->{last} = $row;
        next if $row <= $page->{seen};
        $page->{seen} = $row;
        my $sent = $self->{sent}{$page->{group}}{$row} or next;
        push @{$self->_figure($sent->[1])->{delivery}}, $now - $sent->[0];
    }
    return;
}

# ---------------------------------------------------------------- the writer, and visitors

sub write_and_visit
{
    my ($self) = @_;
    $self->{wants} = 1;
    $self->_tick(WRITE_EVERY, sub { $self->_write });
    $self->_tick(VISIT_EVERY, sub { $self->_visit });
    return;
}

sub stop { $_[0]{wants} = 0; return }

sub visits_wait { my ($self) = @_; return scalar keys %{$self->{visiting}} }

# Visitors who still have no answer when the pages have theirs are turned away.
sub end_visits { my ($self) = @_; $_->(0) for values %{$self->{visiting}}; return }

sub _tick
{
    my ($self, $every, $code, $due) = @_;
    return if !$self->{wants};
    $code->();
    $due = ($due // time) + $every;
    my $wait = $due - time;
    $self->{loop}->after($wait > 0 ? $wait : 0, sub { $self->_tick($every, $code, $wait > -1 ? $due : time) });
    return;
}

sub _write
{
    my ($self) = @_;
    my $group = $self->{next_group}++ % GROUPS;
    return $self->_count('writes_late') if $self->{writing}{$group};
    my $row = 1 + ($self->{wrote}{$group} // 0);
    $self->{writing}{$group} = 1;
    $self->{sent}{$group}{$row} = [time, $self->{phase}];
    my $c = $self->{writers}{$group} //= $self->{loop}->connection(from => '127.0.0.1');
    my $reused = defined $c->{socket};
    $c->{answered} = sub {
        my ($c, $answer) = @_;
        if (!$answer->{status} && $reused) {    # the server closed it while it was idle: a browser asks again
            $reused = 0;
            return $c->ask($self->{site}{write}->($group, $row));
        }
        $self->{writing}{$group} = 0;
        return $self->{wrote}{$group} = $row if $answer->{status} == 200;
        delete $self->{sent}{$group}{$row};
        $self->_count('write_failed');
    };
    $c->ask($self->{site}{write}->($group, $row));
    return;
}

sub _visit
{
    my ($self) = @_;
    my ($began, $phase) = (time, $self->{phase});
    my $path = $self->{visits}[$self->{next_visit}++ % @{$self->{visits}}];
    my $c = $self->{loop}->connection(from => '127.0.2.' . (1 + $self->{next_visit} % 200));
    my $done;
    my $end = sub {
        return if $done++;
        delete $self->{visiting}{$began};
        push @{$self->_figure($phase)->{visit}}, time - $began;
        $self->_figure($phase)->{turned_away}++ if $_[0] != 200;
        $c->close;
    };
    $self->{visiting}{$began} = $end;
    $c->{answered} = sub { $end->($_[1]{status}) };
    $self->{loop}->after(TOO_LATE, sub { $end->(0) });
    $c->ask(get($path, "Connection: close\r\n"));
    return;
}

# ---------------------------------------------------------------- what was noticed

# Rows that were written and that a page does not show.
sub behind
{
    my ($self) = @_;
    my $behind = 0;
    for my $page (@{$self->{pages}}) {
        my $wrote = $self->{wrote}{$page->{group}} // 0;
        $behind += $wrote - $page->{last} if $page->{last} < $wrote;
    }
    return $behind;
}

# {missed, doubled, …, delivery => [p50, p99, max], visit => [p50, p99, max]}, in ms
sub figures_of_phase
{
    my ($self, $phase) = @_;
    my $figure = $self->_figure($phase);
    return {%$figure, map { $_ => [_percentiles(@{$figure->{$_}})] } qw(delivery visit)};
}

sub _percentiles
{
    my @sorted = sort { $a <=> $b } @_ or return (0, 0, 0);
    return map { 1000 * $sorted[int(($#sorted) * $_)] } 0.5, 0.99, 1;
}

1;
