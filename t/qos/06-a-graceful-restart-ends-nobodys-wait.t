# SPDX-License-Identifier: Apache-2.0
# A graceful restart while requests run and queue: those of the old children are handled in their turn, one limit holds for both
# generations, and the old children go when they are done. The limit of a new configuration counts at once.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

my @old = children(3);
my $running = held('/qos/restart/', 'q06');
wait_gate('/qos/restart/', Running => 1);
my @queued = map { my $c = connect_in($old[$_ % @old]); $c->request(GET => '/qos/restart/add?name=q06'); wait_gate('/qos/restart/', Queued => $_); $c } 1 .. 6;
graceful_restart();
my $new = connect_to();
$new->request(GET => '/qos/restart/add?name=q06');
wait_gate('/qos/restart/', Running => 1, Queued => 7);
pass('a request of the new generation queues behind those of the old');
ok($_->is_silent, '  which wait on') for @queued;
open_barrier('q06');
is($running->response->{status}, 200, 'the one that ran is answered');
is($queued[$_]->response->{body}, $_ + 1, '  the old ones in their order') for 0 .. $#queued;
is($new->response->{body}, 7, '  and then the new one');
wait_gate('/qos/restart/', Running => 0, Queued => 0);
wait_until(sub { !grep { kill 0, $_ } @old }, 'the old children go');

# Another limit; in a server of its own.
my $config = sub {
    my ($limit) = @_;
    return qq(<Location "/limited/">\nSetHandler vault-test\nVaultQosTimeout 120\nVaultQosLimit $limit $limit\n</Location>\n);
};
my $server = use_server(VaultTest::Server->start('qos-restart', config => $config->(1)));
my @held = map { my $c = held('/limited/', 'q06-limit'); wait_gate('/limited/', Queued => $_ - 1); $c } 1 .. 6;
wait_gate('/limited/', Running => 1, Queued => 5);
$server->reconfigure($config->(4));
wait_gate('/limited/', Limit => 4, Running => 4, Queued => 2);
pass('a higher limit lets the waiting in');
$server->reconfigure($config->(2));
wait_gate('/limited/', Limit => 2, Running => 4, Queued => 2);
open_barrier('q06-limit');
is($_->response->{status}, 200, 'all are answered') for @held;
wait_gate('/limited/', Running => 0, Queued => 0);
$server->reconfigure('');
is_deeply(status_of_children()->{Qos}, [], 'a limit that is gone is not shown');
use_server();

finish();
