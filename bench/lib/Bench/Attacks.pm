# SPDX-License-Identifier: Apache-2.0
# What one hostile client does, resource by resource. An attack keeps a number of connections busy, asks at most so many times a second, and ends by
# itself when its time is up.
#
#     {name => 'pages', connections => 8, talk => sub { return sub { my ($answer) = @_; … request } }}
#
# talk     is called for each connection and gives a sub. That gets the answer so far, undef at first and when the connection has ended, and returns
#          the next request; undef: nothing more until the connection ends; a reference to a request: ask it on a new connection and read nothing
# needs    what the server must have beside the usual: database, messages, tls, http2
# frames   instead of talk: frames of HTTP/2, by a sub that returns when time is up
package Bench::Attacks;
use strict;
use warnings;
use Exporter 'import';
use Bench::Loop;
use Time::HiRes qw(time);

our @EXPORT = qw(attacks attack);

use constant {FROM => '127.0.0.66', TICK => 0.02, UNREAD => 3};

my $HOST = "Host: localhost\r\n";
my $USER = "Authorization: Basic bWFsbG9yeTpw\r\n";    # mallory:p
my $QUIET = '/test/page?poll=/test/value%3Fname=h0%26interest=evil{}';
my $BIG = '/test/page?' . join '&', map { "poll=/test/big%3Fbytes=1000000%26n=$_" } 1 .. 4;
my $FEED = '/vault/feed/tests/echo?x=';
my $LARGE = '/vault/feed/database/get_new_instances?table=large&limit=100';
my $SEARCH = '/vault/feed/database/filter?table=large&where.body=none{}';    # reads all rows
my $STREAM = "Accept: text/event-stream\r\n";

# ---------------------------------------------------------------- requests and conversations

my $serial = 0;

# {} is a number that was not used before.
sub fresh { my ($text) = @_; my $n = ++$serial . 'x'; return $text =~ s/\{\}/$n/gr }

sub get { return "GET $_[0] HTTP/1.1\r\n$HOST" . join('', @_[1 .. $#_]) . "\r\n" }

sub post
{
    my ($type, $path, $body, @more) = @_;
    return "POST $path HTTP/1.1\r\n${HOST}Content-Type: $type\r\nContent-Length: " . length($body) . "\r\n" . join('', @more) . "\r\n$body";
}

sub form { return post('application/x-www-form-urlencoded', @_) }
sub json { my ($path, @urls) = @_; return post('application/json', $path, '{"add":[' . join(',', map { qq("$_") } @urls) . ']}') }

# The same again and again.
sub repeat
{
    my ($request) = @_;
    return sub {
        return sub { return ref $request ? $request->() : fresh($request) };    # a sub where a body has {}
    };
}

# The beginning of a request, and no more of it until the server ends the connection.
sub beginning
{
    my ($request) = @_;
    return sub {
        my $said;
        return sub { my ($answer) = @_; return $answer ? undef : $request };
    };
}

# A page, and then what `then` makes of its id, a counter and the answer; where that is nothing, another page.
sub with_page
{
    my ($path, $then) = @_;
    return sub {
        my ($id, $n);
        return sub {
            my ($answer) = @_;
            ($id, $n) = ($1, 0) if $answer && $answer->{body} =~ /data-vault-page="(\w+)"/;
            $id = undef if !$answer || $answer->{status} == 410;
            my $next = $id ? $then->($id, $n++, $answer) : undef;
            $id = undef if !defined $next;
            return $next // get(fresh($path));
        };
    };
}

sub poll_of
{
    my ($id, undef, $answer) = @_;
    my $seq = $answer->{body} =~ /"seq":(\d+)/ ? $1 : 0;
    return get("/vault/poll?page=$id&seq=$seq");
}

# ---------------------------------------------------------------- the attacks

my @ATTACKS = (
    {name => 'pages', connections => 8, talk => repeat(get($QUIET))},
    {name => 'memory', connections => 8, talk => repeat(sub { json('/vault/page', map { fresh("$FEED$_-{}") . 'x' x 980 } 1 .. 16) })},
    {name => 'interests', connections => 8,
        talk => repeat(get('/test/page?' . join '&', 'poll=/test/count', map { "view=h0&interest={}i$_" } 1 .. 200))},
    {name => 'properties', connections => 8, talk => with_page($QUIET, \&property)},
    {name => 'unacknowledged', connections => 16, talk => with_page('/test/page?poll=/test/big%3Fbytes=20000%26n={}', \&unacknowledged)},
    {name => 'waiting', connections => 1500, talk => with_page($QUIET, \&poll_of)},
    {name => 'streams', connections => 1500, talk => with_page($QUIET, sub { get("/vault/poll?page=$_[0]&seq=0", $STREAM) })},
    {name => 'unread', connections => 60, talk => with_page($BIG, sub { \get("/vault/poll?page=$_[0]&seq=0") })},
    {name => 'qos', connections => 300, rate => 2000, talk => repeat(get('/backend/{}'))},
    {name => 'notifies', connections => 8, talk => repeat(form('/vault/notify', 'interest=h0'))},
    {name => 'notify-names', connections => 8, talk => repeat(sub { form('/vault/notify', fresh('interest=evil{}')) })},
    {name => 'slow-bodies', connections => 300, talk => beginning(form('/vault/poll', 'x' x 500) =~ s/x{499}\z//r)},
    {name => 'slow-heads', connections => 300, talk => beginning("GET /vault/poll HTTP/1.1\r\nHost: l")},
    {name => 'connections', connections => 1500, talk => sub { return sub { return '' } }},
    {name => 'methods', connections => 8, talk => repeat(sub { json('/vault/page', map { fresh("$FEED$_-{}") } 1 .. 100) })},
    {name => 'forms', connections => 8, talk => repeat(form('/vault/poll', join '&', map { "a$_=" . '%41' x 40 } 1 .. 100))},
    {name => 'names', connections => 8,
        talk => repeat(get('/test/page?' . join '&', 'poll=/test/count', map { 'view=h0&interest=' . chr(97 + $_ % 26) x 8 . '{}' . 'a' x ($_ % 60) } 1 .. 60))},
    {name => 'status', connections => 8, talk => repeat(get('/open-status?pages'))},
    {name => 'page-calls', connections => 8, talk => repeat(sub { json('/vault/page', fresh("$FEED\{}")) })},
    {name => 'feed-calls', connections => 16, needs => 'database', talk => repeat(get($LARGE))},
    {name => 'slow-queries', connections => 16, needs => 'database', talk => repeat(get($SEARCH))},
    {name => 'channels', connections => 8, needs => 'messages', talk => repeat(sub { form('/vault/feed/messages/create_channel', fresh('channel=c{}'), $USER) })},
    {name => 'messages', connections => 8, needs => 'messages', talk => repeat(sub { form('/vault/feed/messages/post_message', fresh('channel=lobby&text=x{}'), $USER) })},
    {name => 'tls-handshakes', connections => 100, needs => 'tls', talk => beginning("\x16\x03\x01\x02\x00\x01")},
    {name => 'h2-resets', needs => 'http2', frames => \&h2_resets},
    {name => 'h2-window-0', needs => 'http2', frames => \&h2_window},
    {name => 'h2-polls', needs => 'http2', frames => \&h2_polls},
    {name => 'h2-continuation', needs => 'http2', frames => \&h2_continuation},
);

sub attacks { return @ATTACKS }

sub property
{
    my ($id, $n) = @_;
    return $n < 16 ? get("/test/property?key=k$n&value=" . 'v' x 3000, "X-Vault-Page: $id\r\n") : undef;
}

# Answers that are staged and never acknowledged; then another page.
sub unacknowledged
{
    my ($id, $n) = @_;
    return $n < 8 ? get("/vault/poll?page=$id&seq=0") : undef;
}

# ---------------------------------------------------------------- one client that asks

# {STATUS => how many answers}: status 0 is a connection that ended without one
sub attack
{
    my ($attack, %with) = @_;
    my $end = time + $with{seconds};
    return $attack->{frames}->($end, %with) if $attack->{frames};
    my $loop = Bench::Loop->new(port => ($attack->{needs} // '') eq 'tls' ? $with{tls_port} : $with{port});
    my (%answers, @ready);
    my ($connections) = sort { $a <=> $b } $with{connections}, $attack->{connections};
    push @ready, new_talker($loop, $attack->{talk}->($_), \%answers, \@ready) for 1 .. $connections;
    my $rate = $attack->{rate} // $with{rate};
    my $last = time;
    my $tick;
    $tick = sub {
        my $now = time;
        my $may = 1 + int(($now - $last) * $rate);
        $last = $now;
        $_->() for splice @ready, 0, $may;
        $loop->after(TICK, $tick);
    };
    $tick->();
    $loop->run_until($end);
    return \%answers;
}

# A sub that asks the next thing on its connection, and puts itself among the ready when there is an answer.
sub new_talker
{
    my ($loop, $says, $answers, $ready) = @_;
    my ($answer, $c, $step);
    my $answered = sub {
        my ($connection, $now) = @_;
        $answers->{$now->{status}}++;
        $answer = $now->{status} ? $now : undef;
        push @$ready, $step;
    };
    $c = $loop->connection(from => FROM, answered => $answered, some => sub { });
    $step = sub {
        my $request = $says->($answer);
        return if !defined $request;
        return $c->ask($request) if !ref $request;
        my $unread = $loop->connection(from => FROM, unread => 1, answered => $answered);
        $unread->ask($$request);
        $loop->after(UNREAD, sub { $unread->close; $answer = undef; push @$ready, $step });
    };
    return $step;
}

# ---------------------------------------------------------------- frames of HTTP/2

sub h2
{
    my ($port, @more) = @_;
    require VaultTest::Http2;
    return VaultTest::Http2->new(port => $port, from => FROM, @more);
}

sub page_ids
{
    my ($port, $path, $n) = @_;
    require VaultTest::Connection;
    my $c = VaultTest::Connection->new(port => $port, from => FROM);
    return map { $c->request(GET => fresh($path))->response->{body} =~ /data-vault-page="(\w+)"/ ? $1 : () } 1 .. $n;
}

# Polls that are opened and reset at once, 100 on each connection.
sub h2_resets
{
    my ($end, %with) = @_;
    my ($id) = page_ids($with{port}, $QUIET, 1);
    my $n = 0;
    while (time < $end) {
        my $c = h2($with{port});
        $n += eval { $c->request(GET => "/vault/poll?page=$id&seq=0")->cancel; 1 } // 0 for 1 .. 100;
        $c->close;
        select undef, undef, undef, 0.05;
    }
    return {resets => $n};
}

# Answers of which nothing may come.
sub h2_window
{
    my ($end, %with) = @_;
    my @connections;
    for (1 .. 10) {
        my $c = h2($with{port}, window => 0);
        $c->request(GET => "/vault/poll?page=$_&seq=0") for page_ids($with{port}, $BIG, 10);
        push @connections, $c;
    }
    hold($end, @connections);
    return {streams => 100};
}

sub h2_polls
{
    my ($end, %with) = @_;
    my @connections;
    for (1 .. 8) {
        my $c = h2($with{port});
        $c->request(GET => "/vault/poll?page=$_&seq=0") for page_ids($with{port}, $QUIET, 50);
        push @connections, $c;
    }
    hold($end, @connections);
    return {streams => 400};
}

# The head of a request that goes on in small frames and never ends.
sub h2_continuation
{
    my ($end, %with) = @_;
    my $n = 0;
    while (time < $end) {
        my $c = h2($with{port});
        eval {
            $c->_send(1, 0, 1, "\x82");
            $n++, $c->_send(9, 0, 1, "\x40\x01a\x01b" x 40) for 1 .. 200;
        };
        $c->close;
        select undef, undef, undef, 0.05;
    }
    return {frames => $n};
}

sub hold
{
    my ($end, @connections) = @_;
    while (time < $end) {
        eval { $_->_pump(time + 0.01) } for @connections;
        select undef, undef, undef, 0.05;
    }
    return;
}

1;
