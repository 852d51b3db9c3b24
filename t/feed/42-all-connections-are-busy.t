# SPDX-License-Identifier: Apache-2.0
# Each child has so many connections to a database. A call that finds all of them in use waits for one, no longer than for a statement, and is told why it was in
# vain; when they are free again all goes on.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

use constant BUSY => '11 all 1 connections to "busy" were busy for 1 s (parameter connections)';
use constant LOCKED => '11 the database is locked: waited 1 s for "busy"';

# How many wait for a lock.
my %WAITING = (
    pgsql => q{SELECT count(*) FROM pg_stat_activity WHERE datname='busy' AND wait_event_type='Lock'},
    mysql => q{SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME='INNODB_ROW_LOCK_CURRENT_WAITS'},
);
my $SAVE = '/closed/call?feed=busy&method=save&args=%7B%22table%22%3A%22names%22%2C%22values%22%3A%7B%22name%22%3A%22anna%22%7D%7D';

sub told
{
    my ($connection) = @_;
    my $answer = JSON::PP->new->utf8->decode($connection->response->{body});
    return $answer->{error} ? "$answer->{status} $answer->{error}" : 'saved';
}

for my $db (has_database() ? databases(qw(pgsql mysql)) : ()) {
    my $driver = $db->driver;
    $db->make('busy', 'CREATE TABLE names(id {serial},name VARCHAR(20) UNIQUE)');
    use_server(VaultTest::Server->start("busy-$driver", size => "ServerLimit 1\n", config => $db->feed('busy', 'busy', 'connections=1 timeout=1 poll=0')));
    my $other = $db->session('busy');
    $other->does('BEGIN');
    $other->does(q{INSERT INTO names(name) VALUES('anna')});

    # One has the connection and waits for the lock. Of those who wait for the connection another one gets it then, the last ones do not.
    my @savers = map { connect_to() } 1 .. 4;
    $savers[0]->request(GET => $SAVE);
    wait_until(sub { ($db->does('busy', $WAITING{$driver}))[0] == 1 }, 'a save waits for the lock');
    $_->request(GET => $SAVE) for @savers[1 .. $#savers];
    my @told = map { told($_) } @savers;
    is($told[0], LOCKED, "$driver: who has the connection waits for the lock");
    ok((grep { $_ eq BUSY } @told), 'who gets none is told so');
    is_deeply([grep { $_ ne BUSY && $_ ne LOCKED } @told], [], '... and no call anything else');

    $other->does('ROLLBACK');
    $_->request(GET => $SAVE) for @savers[0 .. 1];
    @told = sort map { told($_) } @savers[0 .. 1];
    like($told[0], qr/^22 the database refuses the values: /, 'the lock is gone: of two who save the same one is refused');
    is($told[1], 'saved', '... and one has saved it');
    is(calls_feed('busy', 'all', {table => 'names'})->{rows}[0]{name}, 'anna', '... all on one connection');
    undef $other;
    use_server(undef);
}
finish();
