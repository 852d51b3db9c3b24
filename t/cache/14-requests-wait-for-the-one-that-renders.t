# SPDX-License-Identifier: Apache-2.0
# One request renders a response, and others wait for it, while a client disconnects, a notify comes, the server is restarted, or the time
# limit passes. Each request is answered, and never with a response that was outdated when the request was sent.
use strict;
use warnings;
use VaultTest;

needs_parking();

my $CONFIG = <<'END';
<Location "/kept/">
    SetHandler vault-test
    VaultCache On
</Location>
END
my $SIZE = "ThreadLimit 8\nThreadsPerChild 8\nStartServers 2\nServerLimit 8\nMaxRequestWorkers 64\n";

# The path of a response that shows the variable NAME and stops at the barrier NAME, when it has read that. It is known to be shared, so that
# others wait for it, and outdated.
sub prepared
{
    my ($name) = @_;
    my $path = "/kept/value?name=$name&after=$name&header=Vault-Shared:yes&header=Vault-Interest:$name";
    text_of("/test/set?name=$name&value=old");
    open_barrier($name);
    get($path) for 1 .. 2;
    text_of("/test/close?name=$name");
    text_of("/test/set?name=$name&value=one&notify=$name");
    return $path;
}

sub ask
{
    my ($path) = @_;
    my $connection = connect_to();
    $connection->request(GET => $path);
    return $connection;
}

# Starts one request that renders and has reached the barrier, and others that wait for it.
sub scene
{
    my ($name, $waiters) = @_;
    my $path = prepared($name);
    my $leader = ask($path);
    wait_arrived($name, 1);
    my @waiters = map { ask($path) } 1 .. $waiters;
    wait_waiting($waiters);
    return ($path, $leader, @waiters);
}

sub is_answered
{
    my ($connection, $body, $what) = @_;
    my $answer = $connection->response;
    is("$answer->{status} $answer->{body}", "200 $body", $what);
    return;
}

use_server(VaultTest::Server->start('waits', size => $SIZE, config => $CONFIG));

my ($path, $leader, @waiters) = scene('c14a', 2);
$leader->close;
open_barrier('c14a');
is_answered($_, 'one', 'the client of the one that renders has gone: others get its response') for @waiters;
is(arrived('c14a'), 1, '... and nothing is rendered again');

($path, $leader, @waiters) = scene('c14b', 3);
shift(@waiters)->close;
wait_waiting(2);
open_barrier('c14b');
is_answered($_, 'one', 'one that waits has gone: the others get the response') for $leader, @waiters;
is(arrived('c14b'), 1, '... which was rendered once');

($path, $leader, @waiters) = scene('c14c', 1);
text_of('/test/set?name=c14c&value=two&notify=c14c');
push @waiters, ask($path);
wait_waiting(2);
open_barrier('c14c');
is_answered($leader, 'one', 'a notify came while it was rendered: who asked before it gets what there was');
is_answered($_, 'two', '... and who has waited what there is') for @waiters;
my $before = status()->{Cached};
is(text_of($path), 'two', '... which is kept') for 1 .. 2;
cmp_ok(status()->{Cached}, '>', $before, '... by then');

($path, $leader, @waiters) = scene('c14d', 2);
graceful_restart();
my $later = ask($path);
wait_arrived('c14d', 2);
is(arrived('c14d'), 2, 'a request of a new configuration does not wait for one of an old');
open_barrier('c14d');
is_answered($_, 'one', 'a restart came while it was rendered: all are answered') for $leader, $later, @waiters;
wait_waiting(0);

# No request waits for longer than its connection may be silent.
use_server(VaultTest::Server->start('waits-shortly', size => $SIZE, config => "Timeout 2\n$CONFIG"));
$path = prepared('c14e');
$leader = ask($path);
wait_arrived('c14e', 1);
my $waiter = ask($path);
wait_arrived('c14e', 2);
open_barrier('c14e');
is_answered($_, 'one', 'one that has waited for too long renders for itself') for $waiter, $leader;
use_server();
finish();
