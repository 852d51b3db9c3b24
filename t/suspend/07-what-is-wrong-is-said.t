# SPDX-License-Identifier: Apache-2.0
# Whatever is done wrong with a request is refused, with an error that says which mistake it was, and no request hangs by it.
use strict;
use warnings;
use VaultTest;
use VaultTest::Guest;

my $connection = connect_to();
sub guest
{
    my ($name, %with) = @_;
    return VaultTest::Guest->start("s07-$name", on => $connection, %with);
}

# ---------------------------------------------------------------- times
for my $timeout (0, -1) {
    my $guest = guest("time$timeout", timeout => $timeout);
    is($guest->facts->{suspends}, 'einval', "a time-out of $timeout");
    is($guest->hooks, '0 0 0', '  it was not suspended');
}
my $wrong = guest('again', timeout => 300, shorter => -5);
is($wrong->facts->{suspends}, 'ok,einval', 'a second time-out that is none changes nothing');

# ---------------------------------------------------------------- places
for my $row (
    [fixup => 'einit', 'before the handlers'],
    [thread => 'einit', 'from another thread'],
    [sub => 'enotimpl', 'in a subrequest'],
    [log => 'einit', 'when it has been answered'],
) {
    my ($place, $error, $why) = @$row;
    my $guest = guest("in-$place", in => $place, runs => 1);
    is($guest->facts->{runs}, 1, "$why: it is answered");
    wait_until(sub { VaultTest::Guest::variable("s07-in-$place-place") eq $error }, "$why: $error");
    is($guest->hooks, '0 0 0', '  and was not suspended');
}
my $error = guest('error', path => '/suspend-missing/x');
is($error->response->{status}, 404, 'in the answer to an error');
like($error->response->{body}, qr/^runs=1 .* suspends=enotimpl /, '  it is answered at once');

# ---------------------------------------------------------------- handlers that do not return SUSPENDED
for my $row (
    [-2, 200, 'DONE'],
    [0, 200, 'OK'],
    [404, 404, 'an error'],
    [500, 500, 'another error'],
    [-1, 404, 'DECLINED: the next handler has it'],
) {
    my ($answers, $status, $why) = @$row;
    my $guest = guest("answers$answers", answers => $answers, early => 'resume');
    is($guest->response->{status}, $status, "suspended, and then it returns $why");
    $guest->wait_hooks('0 0 1', '  it was not suspended');
    $connection = connect_to();    # some errors end it
}

# ---------------------------------------------------------------- the second time
my $nobody = guest('nobody', runs => 3, early => 'resume', later => -1);
is($nobody->response->{status}, 404, 'called again it declines: the next handler has it');
$nobody->wait_hooks('1 1 1', '  it was suspended once');
for my $row (['suspended', 'SUSPENDED without suspending', qr/VLT00204: /], [7, 'what is no answer', qr/VLT00205: a handler returned 7, /]) {
    my ($later, $why, $line) = @$row;
    $connection = connect_to();
    my $again = guest("later-$later", runs => 3, early => 'resume', later => $later eq 'suspended' ? -3 : $later);
    is($again->response->{status}, 500, "called again it returns $why");
    $again->wait_hooks('1 1 1', '  it was suspended once');
    announce($line);
}
$connection = connect_to();

# ---------------------------------------------------------------- writing
my $writes = guest('writes', while => 'not-now', say => 'before;', calls => 'resume');
wait_waiting(1);
is($connection->head->{status}, 200, 'the answer has begun');
is($connection->some_body, 'before;', 'what was written before is there while it waits');
ok($connection->is_silent, '  what is written while it waits is not');
open_barrier('s07-writes');
my $rest = '';
while (defined(my $part = $connection->some_body)) {
    $rest .= $part;
}
like($rest, qr/runs=2 .* wrote=-1,-1$/, '  nor later, and the writer was told');
unlike($rest, qr/not-now/, '  nowhere');
$connection->close;
$connection = connect_to();

# ---------------------------------------------------------------- calls too late
my $done = guest('done', early => 'resume', calls => 'resume,complete,resume');
is($done->facts->{runs}, 2, 'a request that is over');
open_barrier('s07-done');
is($done->calls, 'other,other,other', '  is found by no thread that looks under the lock');

wait_waiting(0);
announce(qr/VLT00200: the request cannot be suspended: the time-out is not above 0: /, qr/VLT00200: .*: this thread does not run a handler of it: /,
    qr/VLT00200: .*: it is a subrequest: /, qr/VLT00200: .*: it is the answer to an error: /,
    qr/VLT00201: a suspended request cannot be written to: /, qr/VLT00202: a handler suspended the request and did not return SUSPENDED: /);
finish();
