# SPDX-License-Identifier: Apache-2.0
# A client that sends many calls at once waits for connections behind another one, who sends one call later.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

use constant MANY => 5;

# How many wait for a lock.
my %WAITING = (
    pgsql => q{SELECT count(*) FROM pg_stat_activity WHERE datname='fair' AND wait_event_type='Lock'},
    mysql => q{SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME='INNODB_ROW_LOCK_CURRENT_WAITS'},
);

sub save { return "/closed/call?feed=fair&method=save&args=%7B%22table%22%3A%22names%22%2C%22values%22%3A%7B%22name%22%3A%22$_[0]%22%7D%7D" }
sub in_line { return scalar grep { /a call waits for one of 1 connections to "fair"/ } error_log_lines() }

for my $db (has_database() ? databases(qw(pgsql mysql)) : ()) {
    my $driver = $db->driver;
    $db->make('fair', 'CREATE TABLE names(id {serial},name VARCHAR(20) UNIQUE)');
    use_server(VaultTest::Server->start("fair-$driver", size => "ServerLimit 1\n", config => $db->feed('fair', 'fair', 'connections=1 timeout=60 poll=0')));
    my $other = $db->session('fair');
    $other->does('BEGIN');
    $other->does(q{INSERT INTO names(name) VALUES('held')});

    my @calls = map { connect_to() } 0 .. MANY;
    $calls[0]->request(GET => save('held'));
    wait_until(sub { ($db->does('fair', $WAITING{$driver}))[0] == 1 }, 'a call has the connection, and waits for a lock');
    for my $n (1 .. MANY) {
        $calls[$n]->request(GET => save("many$n"));
        wait_until(sub { in_line() == $n }, "call $n of the same client waits for the connection");
    }
    push @calls, connect_to(from => '127.0.0.2');
    $calls[-1]->request(GET => save('one'));
    wait_until(sub { in_line() == MANY + 1 }, 'then one of another client');
    $other->does('ROLLBACK');
    like($_->response->{body}, qr/"rows":\[\{"id":\d+\}\]/, "$driver: saved") for @calls;
    is(join(' ', $db->does('fair', 'SELECT name FROM names ORDER BY id')), join(' ', 'held', 'one', map { "many$_" } 1 .. MANY), "$driver: the other client is next");
    undef $other;
    use_server(undef);
}
finish();
