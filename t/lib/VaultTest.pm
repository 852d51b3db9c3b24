# SPDX-License-Identifier: Apache-2.0
# What the .t files share: raw connections, pages that poll, facts to wait for, and a look at the error log at the end.
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
# Nothing here sleeps to order events. wait_until() looks at a fact until it holds and fails the test when it does not in time.
package VaultTest;
use strict;
use warnings;
use Exporter 'import';
use Test::More;
use Time::HiRes ();
use VaultTest::Connection;
use VaultTest::Http2;
use VaultTest::Main qw(have_module vars);
use VaultTest::Page;
use VaultTest::Server;

our @EXPORT = (
    @Test::More::EXPORT,
    qw(announce arrived children connect_in connect_to descriptors error_log_lines finish get graceful_restart have_bell have_http2
        have_module have_tls live_page needs_bell open_barrier open_page over PATIENCE port_of post read_file server_pid status
        status_of_children text_of tolerate use_server vars view_of wait_arrived wait_counter wait_replaced wait_until wait_waiting with_deadline)
);

# How long a fact may take before the test gives up: much longer than it ever takes, also under a sanitizer on a busy machine.
use constant PATIENCE => 60;

# AH01882: OpenSSL is not the one that mod_ssl was compiled with. AH01873: there is no TLS session cache, on purpose.
# AH10159, AH00484: the servers of the tests are small, and the MPM says so when they are busy.
my $NOT_OURS = qr/\bAH(?:01882|01873|10159|00484):/;

my (@announced, @tolerated, $log_start, $finished, $server);

sub read_file
{
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return scalar(readline $file) // '';
}

# From here on talk to this VaultTest::Server; to the main server again without one.
sub use_server
{
    ($server) = @_;
    return $server;
}

# ---------------------------------------------------------------- requests

# The port of a vhost by the name it has in t/conf/*.conf.in; of the main server without one.
sub port_of
{
    my ($vhost) = @_;
    return $server ? $server->port : VaultTest::Main::port() unless defined $vhost;
    my $port = VaultTest::Main::port($vhost);
    die "there is no vhost \"$vhost\" in t/conf\n" unless $port;
    return $port;
}

# connect_to(vhost => NAME, tls => 1, http2 => 1, receive_buffer => BYTES, from => '127.0.0.2'): a connection of its own. Where
# VaultTest::Family runs the test over another protocol it is one of that; http1 => 1: HTTP/1.1 on the same virtual host, as pages answer on no other
sub connect_to
{
    my (%with) = @_;
    my $over = $with{vhost} ? '' : over();
    %with = (port => $server->{tls_port}, tls => 1, %with) if $over && $server->{tls_port};
    my $class = $with{http2} || ($over eq 'h2' && !$with{http1}) ? 'VaultTest::Http2' : 'VaultTest::Connection';
    return $class->new(port => port_of($with{vhost}), patience => PATIENCE, %with);
}

# What VaultTest::Family runs the test over: 'tls', 'h2', or '': HTTP/1.1 as it is.
sub over
{
    return ($server && $server->{over}) || '';
}

# get(PATH, vhost => …, headers => {…}): one request on a connection of its own; {status, headers, body}
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

# The body of a request that must succeed.
sub text_of
{
    my ($path, %with) = @_;
    my $answer = get($path, %with);
    die "$path: $answer->{status} where 200 was needed\n$answer->{body}\n" if $answer->{status} != 200;
    return $answer->{body};
}

# A view with a page in it; see VaultTest::Page.
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

# False where every poll waits in a thread: --disable-bell, or httpd before 2.4.63.
sub have_bell
{
    return ($ENV{VAULT_BELL} // 'yes') ne 'no';
}

# For tests that hold more polls than there are threads for, or look into the bell itself.
sub needs_bell
{
    plan(skip_all => 'this httpd module was built without the bell') unless have_bell();
    return;
}

sub have_tls
{
    return have_module('ssl') && -f vars('top_dir') . '/certificate.pem' && eval { require IO::Socket::SSL; 1 };
}

# mod_http2, and what the client of the tests needs.
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

# The status in JSON, where each child stands by itself.
sub status_of_children
{
    require JSON::PP;
    return JSON::PP::decode_json(text_of('/vault/status?json'));
}

# The process ids of the children that httpd's parent does not know to be gone, in numerical order: it looks once a
# second.
sub _known
{
    return sort { $a <=> $b } map { $_->{Pid} } @{status_of_children()->{Children}};
}

# Those that serve: not one of an older generation, which ends by itself.
sub children
{
    return grep { _listens($_) } _known();
}

# A keep-alive connection to this child: others are opened and held until one gets there. Use it at once: a busy child closes those that idle.
sub connect_in
{
    my ($pid, %with) = @_;
    my @elsewhere;
    return wait_until(
        sub {
            my $connection = connect_to(%with);
            $connection->request(GET => '/test/pid');
            return $connection if $connection->response->{body} == $pid;
            push @elsewhere, $connection;
            return;
        },
        "a connection to child $pid"
    );
}

# How many files, sockets and the like a process has open.
sub descriptors
{
    my ($pid) = @_;
    opendir my $dir, "/proc/$pid/fd" or die "/proc/$pid/fd: $!\n";
    return scalar grep { !/^\./ } readdir $dir;
}

# At least N more of a counter than in the status given.
sub wait_counter
{
    my ($name, $before, $n) = @_;
    return wait_until(sub { my $s = status(); $s->{$name} >= $before->{$name} + $n && $s }, "$name grows by $n");
}

# The child with this process id is dead, everybody knows, and another one serves in its place.
sub wait_replaced
{
    my ($pid) = @_;
    return wait_until(sub { my @now = _known(); @now >= 3 && !grep { $_ == $pid } @now }, "child $pid is replaced");
}

# The barriers of the test module: how many came, wait until so many have come, let all through.
sub arrived      { return text_of("/test/arrived?name=$_[0]") }
sub wait_arrived { my ($name, $n) = @_; return wait_until(sub { arrived($name) >= $n }, "$n come to the barrier $name") }
sub open_barrier { return text_of("/test/open?name=$_[0]") }

# wait_until(sub { … true … }, 'what is awaited'): what the sub returned
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

# Exactly N polls wait, on all children.
sub wait_waiting
{
    my ($n) = @_;
    return wait_until(sub { my $s = status(); ($s->{Waiting} // -1) == $n }, "$n polls wait");
}

# with_deadline(SECONDS, sub { … }): dies when it takes longer
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

# The processes that take connections for the server.
sub _accepting
{
    return grep { _is_child_of($_, server_pid()) && _listens($_) } map { m{(\d+)$} } glob '/proc/[0-9]*';
}

sub _is_child_of
{
    my ($pid, $parent) = @_;
    open my $stat, '<', "/proc/$pid/stat" or return 0;
    return (readline($stat) // '') =~ /\) \S (\d+) / && $1 == $parent;
}

# Does a process have a socket that listens? One that is gone has none.
sub _listens
{
    my ($pid) = @_;
    my %listening = map { $_ => 1 } map { _listening_sockets("/proc/$pid/net/$_") } qw(tcp tcp6);
    opendir my $dir, "/proc/$pid/fd" or return 0;
    return scalar grep { (readlink("/proc/$pid/fd/$_") // '') =~ /^socket:\[(\d+)\]$/ && $listening{$1} } readdir $dir;
}

# The inodes of those that listen (0A).
sub _listening_sockets
{
    my ($table) = @_;
    open my $file, '<', $table or return ();
    return map { my @columns = split; $columns[3] eq '0A' ? $columns[9] : () } readline $file;
}

# Restart gracefully and wait until the new generation, and no other child, answers. An old child that has not been told yet, as on a busy
# machine, takes connections like the new ones: a poll that came to it would be answered without news at once.
sub graceful_restart
{
    my $before = grep { /resuming normal operations/ } error_log_lines();
    my @old = _accepting();    # none, where a test has killed them all
    kill USR1 => server_pid();
    wait_until(sub { (grep { /resuming normal operations/ } error_log_lines()) > $before }, 'the server has restarted');
    wait_until(sub { !grep { _listens($_) } @old }, 'the old children take no connections any more');
    wait_until(sub { eval { get('/test/pid')->{status} == 200 } }, 'the new generation answers');
    return;
}

# ---------------------------------------------------------------- the error log

sub _log_file { return vars('t_logs') . '/error_log' }

# The lines since this test began, of the server it talks to.
sub error_log_lines
{
    return $server ? $server->lines : _main_lines();
}

# The lines of the server that this test shares with others, since it began.
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

# tolerate(qr/…/, …): lines that this test may cause, or not
sub tolerate
{
    push @tolerated, @_;
    return;
}

# Lines that a test should have announced: warnings and worse, children that died of a signal, and whatever did not come
# through httpd's log (the C library, a sanitizer).
sub _is_trouble
{
    my ($line) = @_;
    return 1 if $line =~ /exit signal|AddressSanitizer|runtime error:|assertion/i;
    return 0 if $line =~ /^\s*$|$NOT_OURS/;
    return $line =~ /^\[[^\]]+\] \[[^\]:]*:(\w+)\]/ ? $1 =~ /^(?:emerg|alert|crit|error|warn)$/ : 1;
}

# The last line of every test.
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
