# SPDX-License-Identifier: Apache-2.0
# Shared by the .t files: raw connections, pages that poll, facts to wait for, and a check of the error log at the
# end.
#
#     use VaultTest;
#     my $page = open_page('/test/page?poll=/test/rows%3Fname=n%26interest=I');
#     my $poll = $page->start_poll;                       # sent, not waited for
#     wait_waiting(1);                                    # a fact: the status page says that one poll waits
#     text_of('/test/add?name=n&notify=I');
#     my $answer = $page->finish_poll($poll);             # {status, headers, body, updates}
#     is($answer->{updates}[0]{body}, "1\n", 'why');
#     finish();                                           # the error log holds nothing that was not announced
#
# Nothing here sleeps to order events. wait_until() checks a fact until it holds, and fails the test if that takes
# too long.
package VaultTest;
use strict;
use warnings;
use Exporter 'import';
use Test::More;
use Time::HiRes ();
use VaultTest::Connection;
use VaultTest::Http2;
use VaultTest::Main qw(freeze have_module vars);
use VaultTest::Page;
use VaultTest::Server;

our @EXPORT = (
    @Test::More::EXPORT,
    qw(announce arrived children connect_in connect_to descriptors error_log_lines finish freeze get graceful_restart have_parking have_http2
        have_module have_tls live_page needs_parking open_barrier open_page over PATIENCE poll_in port_of post read_file server_pid status
        status_of_children text_of tolerate use_server vars view_of wait_arrived wait_counter wait_replaced wait_until wait_waiting waiting_poll
        with_deadline)
);

# The timeout of a fact: much longer than it ever takes, even under a sanitizer on a busy machine.
use constant PATIENCE => 60;

# AH01882: OpenSSL differs from the one that mod_ssl was compiled with. AH01873: there is no TLS session cache, on
# purpose. AH10159, AH00484: the servers of the tests are small, and the MPM logs that they are busy.
my $NOT_OURS = qr/\bAH(?:01882|01873|10159|00484):/;

my (@announced, @tolerated, $log_start, $finished, $server);

sub read_file
{
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return scalar(readline $file) // '';
}

# From here on use this VaultTest::Server; without an argument, the main server again.
sub use_server
{
    ($server) = @_;
    return $server;
}

# ---------------------------------------------------------------- requests

# The port of a vhost by its name in t/conf/*.conf.in; without a name, of the main server.
sub port_of
{
    my ($vhost) = @_;
    return $server ? $server->port : VaultTest::Main::port() unless defined $vhost;
    my $port = VaultTest::Main::port($vhost);
    die "there is no vhost \"$vhost\" in t/conf\n" unless $port;
    return $port;
}

# connect_to(vhost => NAME, tls => 1, http2 => 1, receive_buffer => BYTES, from => '127.0.0.2'): a new connection.
# If VaultTest::Family runs the test over another protocol, it uses that; http1 => 1: HTTP/1.1 on the same virtual
# host, since pages belong to one virtual host
sub connect_to
{
    my (%with) = @_;
    my $over = $with{vhost} ? '' : over();
    $with{address} = $server->address if $server && !$with{vhost};
    %with = (port => $server->{tls_port}, tls => 1, %with) if $over && $server->{tls_port};
    my $class = $with{http2} || ($over eq 'h2' && !$with{http1}) ? 'VaultTest::Http2' : 'VaultTest::Connection';
    return $class->new(port => port_of($with{vhost}), patience => PATIENCE, %with);
}

# The protocol over which VaultTest::Family runs the test: 'tls', 'h2', or '' for plain HTTP/1.1.
sub over
{
    return ($server && $server->{over}) || '';
}

# get(PATH, vhost => …, headers => {…}): one request on a new connection; {status, headers, body}
sub get
{
    my ($path, %with) = @_;
    my $connection = connect_to(%with, http1 => 1);
    $connection->request($with{method} || 'GET', $path, {Connection => 'close', %{$with{headers} || {}}}, $with{body});
    return $connection->response;
}

sub post
{
    my ($path, $body, %with) = @_;
    my $headers = {'Content-Type' => 'application/x-www-form-urlencoded', %{$with{headers} || {}}};
    return get($path, %with, method => 'POST', body => $body, headers => $headers);
}

# The body of the answer to a request that must succeed.
sub text_of
{
    my ($path, %with) = @_;
    my $answer = get($path, %with);
    die "$path: $answer->{status} where 200 was needed\n$answer->{body}\n" if $answer->{status} != 200;
    return $answer->{body};
}

# Loads a page; see VaultTest::Page.
sub open_page
{
    my ($path, %with) = @_;
    return VaultTest::Page->new(get($path, %with), %with);
}

# The path of a page with these long-poll methods: view_of('/test/rows?name=n&interest=I', …)
sub view_of
{
    return '/test/page?' . join '&', map { 'poll=' . _escape($_) } @_;
}

sub _escape
{
    my ($text) = @_;
    $text =~ s/([^A-Za-z0-9_.~-])/sprintf '%%%02X', ord $1/ge;
    return $text;
}

# live_page([METHOD, …], tab => …): a page with these methods
sub live_page
{
    my ($methods, %with) = @_;
    return open_page(view_of(@$methods), %with);
}

# False if every poll waits in a thread: --disable-parking, or httpd before 2.4.63.
sub have_parking
{
    return ($ENV{VAULT_PARKING} // 'yes') ne 'no';
}

# For tests with more polls than threads, or about parked connections.
sub needs_parking
{
    plan(skip_all => 'this build of the module never parks a poll') unless have_parking();
    return;
}

sub have_tls
{
    return have_module('ssl') && -f vars('top_dir') . '/certificate.pem' && eval { require IO::Socket::SSL; 1 };
}

# Are mod_http2 and the HTTP/2 client of the tests available?
sub have_http2 { return VaultTest::Http2::usable() }

# ---------------------------------------------------------------- facts

# The counters of all children: {Waiting => 3, Notifies => 17, …}
sub status
{
    return _parse_status(text_of('/vault/status?auto'));
}

sub _parse_status
{
    my ($text) = @_;
    return {$text =~ /^([^:\n]+): *(.*?) *$/mg};
}

# The status in JSON, with an entry for each child.
sub status_of_children
{
    require JSON::PP;
    return JSON::PP::decode_json(text_of('/vault/status?json'));
}

# The process ids of the children that httpd's parent considers alive, in numerical order. The parent checks once a
# second.
sub _known
{
    return sort { $a <=> $b } map { $_->{Pid} } @{status_of_children()->{Children}};
}

# The serving children, without those of an older generation, which end by themselves: waits until there are N, or one. Children
# of a server that has started, or has lost some, come one after the other.
sub children
{
    my ($n) = @_;
    $n //= 1;
    return @{wait_until(sub { my @now = _listening(_known()); @now >= $n && \@now }, "$n children serve")};
}

# A keep-alive connection to this child. Use it at once, since a busy child closes idle ones. All children wake for a connection, and one of
# them may always be the last to come for it. So several connections come at a time when one has not been enough.
sub connect_in
{
    my ($pid, %with) = @_;
    my $tries = 0;
    return wait_until(
        sub {
            my @some = map { connect_to(%with) } 0 .. $tries++ % 4;
            $_->request(GET => '/test/pid') for @some;
            my ($there, @others) = sort { $b->[1] <=> $a->[1] } map { [$_, $_->response->{body} == $pid ? 1 : 0] } @some;
            $_->[0]->close for @others, $there->[1] ? () : $there;
            return $there->[1] && (!@others || _still_serves($there->[0])) && $there->[0];
        },
        "a connection to child $pid"
    );
}

# Closing the others may have kept all threads of the child busy for a moment.
sub _still_serves
{
    my ($connection) = @_;
    return eval { $connection->request(GET => '/test/pid'); $connection->response };
}

# A poll of this page that waits in this child: sent again if the child closed the connection while it idled.
sub poll_in
{
    my ($pid, $page) = @_;
    my $before = status()->{Waiting};
    while (1) {
        my $poll = $page->start_poll(connect_in($pid));
        my $how = wait_until(sub { !$poll->is_silent ? 'answered' : status()->{Waiting} > $before && 'waits' }, "a poll waits in child $pid");
        return $poll if $how eq 'waits';
        die "a poll in child $pid is answered instead of waiting\n" if !$poll->is_closed;
    }
}

# The number of open descriptors of a process.
sub descriptors
{
    my ($pid) = @_;
    opendir my $dir, "/proc/$pid/fd" or die "/proc/$pid/fd: $!\n";
    return scalar grep { !/^\./ } readdir $dir;
}

# A counter has grown by at least N since the given status.
sub wait_counter
{
    my ($name, $before, $n) = @_;
    return wait_until(sub { my $s = status(); $s->{$name} >= $before->{$name} + $n && $s }, "$name grows by $n");
}

# The child with this process id is dead, the parent knows it, and another one serves.
sub wait_replaced
{
    my ($pid) = @_;
    return wait_until(sub { my @now = _known(); @now >= 3 && !grep { $_ == $pid } @now }, "child $pid is replaced");
}

# The barriers of the test module: how many requests arrived, wait for that many, let all through.
sub arrived      { return text_of("/test/arrived?name=$_[0]") }
sub wait_arrived { my ($name, $n) = @_; return wait_until(sub { arrived($name) >= $n }, "$n come to the barrier $name") }
sub open_barrier { return text_of("/test/open?name=$_[0]") }

# wait_until(sub { … true … }, 'what is awaited'): returns the result of the sub
sub wait_until
{
    my ($fact, $what, $patience) = @_;
    my $deadline = Time::HiRes::time() + ($patience || PATIENCE);
    while (Time::HiRes::time() < $deadline) {
        my $value = $fact->();
        return $value if $value;
        Time::HiRes::sleep(0.01);    # between two looks at a fact
    }
    fail("in time: $what");
    finish();
    exit 1;
}

# Exactly N polls wait, in all children.
sub wait_waiting
{
    my ($n) = @_;
    return wait_until(sub { my $s = status(); ($s->{Waiting} // -1) == $n }, "$n polls wait");
}

# A poll of this page that waits as the Nth, before its own short time is up: sent again if that was up before the status was read.
# Returns it, and how many were answered with nothing.
sub waiting_poll
{
    my ($page, $n) = @_;
    for (my $over = 0; ; $over++) {
        my $poll = $page->start_poll;
        my $how = wait_until(sub { status()->{Waiting} == $n ? 'waits' : !$poll->is_silent && 'over' }, "a poll waits as number $n");
        return ($poll, $over) if $how eq 'waits';
        die "a poll is answered with $_ instead of waiting\n" for grep { $_ != 204 } $page->read_poll($poll)->{status};
    }
}

# with_deadline(SECONDS, sub { … }): dies if it takes longer
sub with_deadline
{
    my ($seconds, $code) = @_;
    local $SIG{ALRM} = sub { die "not within $seconds s\n" };
    alarm $seconds;
    my @result = $code->();
    alarm 0;
    return wantarray ? @result : $result[0];
}

sub server_pid
{
    return $server->pid if $server;
    open my $file, '<', vars('t_pid_file') or die vars('t_pid_file') . ": $!\n";
    return 0 + readline $file;
}

# The processes that accept connections for the server.
sub _accepting
{
    return _listening(grep { _is_child_of($_, server_pid()) } map { m{(\d+)$} } glob '/proc/[0-9]*');
}

sub _is_child_of
{
    my ($pid, $parent) = @_;
    open my $stat, '<', "/proc/$pid/stat" or return 0;
    return (readline($stat) // '') =~ /\) \S (\d+) / && $1 == $parent;
}

# Those of these processes that have a listening socket. An ended one has none.
sub _listening
{
    my @pids = @_;
    my %sockets = map { ("socket:[$_]" => 1) } map { _listening_sockets("/proc/net/$_") } qw(tcp tcp6);
    return grep { grep { $sockets{readlink($_) // ''} } glob "/proc/$_/fd/*" } @pids;
}

# The inodes of listening sockets (state 0A).
sub _listening_sockets
{
    my ($table) = @_;
    open my $file, '<', $table or return ();
    return map { my @columns = split; $columns[3] eq '0A' ? $columns[9] : () } readline $file;
}

# Restart gracefully, and wait until only the new generation answers. An old child that has not been stopped yet, as
# on a busy machine, accepts connections like the new ones, and would answer a poll without updates at once.
sub graceful_restart
{
    my $before = grep { /resuming normal operations/ } error_log_lines();
    my @old = _accepting();    # none, where a test has killed them all
    kill USR1 => server_pid();
    wait_until(sub { (grep { /resuming normal operations/ } error_log_lines()) > $before }, 'the server has restarted');
    wait_until(sub { !_listening(@old) }, 'the old children take no connections any more');
    wait_until(sub { eval { get('/test/pid')->{status} == 200 } }, 'the new generation answers');
    return;
}

# ---------------------------------------------------------------- the error log

sub _log_file { return vars('t_logs') . '/error_log' }

# The lines since this test began, of the server that it uses.
sub error_log_lines
{
    return $server ? $server->lines : _main_lines();
}

# The lines of the server shared with other tests, since this test began.
sub _shared_lines
{
    return $server && $server->{offset} ? $server->lines : ();
}

sub _main_lines
{
    open my $log, '<', _log_file() or return ();
    seek $log, $log_start, 0;
    return readline $log;
}

# announce(qr/VLT00010/, …): lines that this test causes on purpose
sub announce
{
    push @announced, @_;
    return;
}

# tolerate(qr/…/, …): lines that this test may cause
sub tolerate
{
    push @tolerated, @_;
    return;
}

# Lines that a test should have announced: warnings and worse, children that died of a signal, and everything that
# does not come from httpd's log (the C library, a sanitizer).
sub _is_trouble
{
    my ($line) = @_;
    return 1 if $line =~ /exit signal|AddressSanitizer|runtime error:|assertion/i;
    return 0 if $line =~ /^\s*$|$NOT_OURS/;
    return $line =~ /^\[[^\]]+\] \[[^\]:]*:(\w+)\]/ ? $1 =~ /^(?:emerg|alert|crit|error|warn)$/ : 1;
}

# Must be the last call of every test.
sub finish
{
    return if $finished++;
    $_->stop for VaultTest::Server::all();
    my @lines = (_main_lines(), _shared_lines(), map { $_->lines } VaultTest::Server::all());
    my @trouble = grep { my $line = $_; _is_trouble($line) && !grep { $line =~ $_ } @announced, @tolerated } @lines;
    my @silent = grep { my $wanted = $_; !grep { $_ =~ $wanted } @lines } @announced;
    ok(!@trouble, 'the error log holds nothing that was not announced') or diag(@trouble[0 .. ($#trouble > 30 ? 30 : $#trouble)]);
    if (@announced) {
        ok(!@silent, 'the error log holds all that was announced') or diag(map { "no line matches $_\n" } @silent);
    }
    done_testing();
    return;
}

$log_start = -s _log_file() || 0;
use_server(VaultTest::Server->attach(split ' ', $ENV{VAULT_AT})) if $ENV{VAULT_AT};

1;
