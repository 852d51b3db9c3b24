# SPDX-License-Identifier: Apache-2.0
# A child that stops resumes what is suspended in it as at a time-out, and lets nothing be suspended any more: all are answered, and it
# ends at once. On every MPM.
use strict;
use warnings;
use VaultTest;
use VaultTest::Guest;

my $COUNT = 4;
my $LONG = 600_000;    # milliseconds: longer than a test waits for a fact
my %facts = (suspended => 0, resumed => 0, timeout => 1, wrote => '', calls => '');

# Send so many, and wait until they wait.
sub guests
{
    my ($name, %with) = @_;
    my @guests = map { VaultTest::Guest->start("s08-$name-$_", timeout => $LONG, %with) } 1 .. $COUNT;
    wait_waiting($COUNT);
    return @guests;
}

for my $mpm (grep { VaultTest::Server::has_mpm($_) } qw(event worker prefork)) {
    my $config = qq(Include "@{[vars('top_dir')]}/t/conf/poll.conf"\n);
    my $server = use_server(VaultTest::Server->start("suspend-$mpm", mpm => $mpm, config => $config));
    my @old = children();
    my @guests = guests('once');
    my @again = map { VaultTest::Guest->start("s08-again-$_", timeout => $LONG, runs => 3) } 1 .. 2;
    wait_waiting($COUNT + 2);
    kill USR1 => $server->pid;
    is_deeply($_->facts, {%facts, runs => 2, suspends => 'ok'}, "$mpm, graceful restart: it is as if its time were up") for @guests;
    is_deeply($_->facts, {%facts, runs => 2, suspends => 'ok,timeup'}, '  and it cannot be suspended again') for @again;
    ok($_->connection->is_closed, '  its connection ends') for @guests, @again;
    wait_until(sub { !grep { kill 0, $_ } @old }, 'the old children go with them');
    wait_until(sub { eval { get('/test/pid')->{status} == 200 } }, 'the new generation answers');
    $_->wait_hooks('1 1 1', '  the hooks have run') for @guests;

    my @cut = guests('cut');
    $server->stop;
    is(scalar(grep { /SIGKILL/ } $server->lines), 0, "$mpm: stopped, and no child had to be killed");
    my $completed = grep { /vault-test: s08-cut-\d is completed/ } $server->lines;
    is($completed, $COUNT, '  and each request is completed once') if $mpm ne 'prefork';
    $_->connection->close for @cut;
}

# A child that has served enough goes the same way.
my $config = qq(Include "@{[vars('top_dir')]}/t/conf/poll.conf"\nMaxConnectionsPerChild 60\n);
use_server(VaultTest::Server->start('suspend-retire', config => $config));
my ($first) = children();
my @guests = guests('retired');
my $requests = 0;
wait_until(sub { get('/test/pid') for 1 .. 10; $requests += 10; !grep { $_ == $first } children() }, 'the child retires');
is($_->facts->{timeout}, 1, 'retired: it is as if its time were up') for @guests;
$_->wait_hooks('1 1 1', '  the hooks have run') for @guests;
wait_waiting(0);

use_server();
finish();
