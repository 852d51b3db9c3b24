# SPDX-License-Identifier: Apache-2.0
# The tailer is without its database: its connection is cut, the database is away, or its statement waits for a lock. Pages wait meanwhile, a
# writer is refused with a sentence, and what needs no database is done at once. When the database is there again, pages show what another program
# has written, once, without a notify to httpd.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $tag = '<!--#feed name="cut" method="get_new_instances" table="logs" template="cut.html" append="list" -->';
site_file('/feed/cut.html', '{{#rows}}[{{line}}]{{/rows}}');
live_tag('/feed/cut', $tag);

# Statements of another program; %s: its connection.
my %CUT = (
    pgsql => ['BEGIN', 'SELECT pg_backend_pid()',
        q{SELECT 'SELECT pg_terminate_backend('||pid||')' FROM pg_stat_activity WHERE datname='cut' AND pid<>%s}],
    mysql => ['START TRANSACTION', 'SELECT CONNECTION_ID()', q{SELECT CONCAT('KILL ',id) FROM information_schema.processlist WHERE db='cut' AND id<>%s}],
);
my %LOCK = (pgsql => 'LOCK TABLE vault_changes IN ACCESS EXCLUSIVE MODE', mysql => 'LOCK TABLES vault_changes WRITE');
my %LOCKED = (
    pgsql => q{SELECT count(*) FROM pg_locks WHERE relation='vault_changes'::regclass AND NOT granted},
    mysql => q{SELECT COUNT(*) FROM information_schema.processlist WHERE db='cut' AND info LIKE '%vault_changes%' AND state LIKE 'Waiting for%lock'},
);
my %UNLOCK = (pgsql => 'ROLLBACK', mysql => 'UNLOCK TABLES');

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    $db->make('cut', 'CREATE TABLE logs(id {serial},line {text});CREATE TABLE plain(id {integer} PRIMARY KEY);');
    $db->watch('cut', 'logs');
    use_server(VaultTest::Server->start("cut-$driver", config => "VaultLongPollTimeout 10\n" . $db->feed('cut', 'cut', 'poll=100 timeout=20') . live_folder('/feed')));
    tolerate(qr/VLT00020: feed: the database "\S*" /, qr/^FATAL:  terminating connection due to administrator command$/);
    my $page = open_page('/feed/cut.shtml');
    my $poll = $page->start_poll;
    wait_waiting(1);

    # What the page is told next; a poll that has waited long enough is answered with nothing.
    my $sees = sub {
        my ($line, $why) = @_;
        my $text = '';
        for (1 .. 5) {
            $text = VaultTest::Page::text($page->finish_poll($poll));
            $poll = $page->start_poll;
            last if $text ne '';
        }
        wait_waiting(1);
        return is($text, qq(<turbo-stream action="append" target="list"><template>[$line]</template></turbo-stream>), "$driver: $why");
    };
    my $writes = sub { return $db->does('cut', "INSERT INTO logs(line) VALUES('$_[0]')") };
    $writes->('first');
    $sees->('first', 'what another program writes is shown');

    if ($db->is_server) {
        my ($begin, $own, $others) = @{$CUT{$driver}};
        my $session = $db->session('cut');
        $session->does($begin);
        $session->does(q{INSERT INTO logs(line) VALUES('meanwhile')});
        my ($id) = $session->does($own);
        my @cuts = $session->does(sprintf $others, $id);
        ok(@cuts > 0, "$driver: connections are cut") || diag($others);
        for my $cut (@cuts) {
            eval { $db->does('cut', $cut); 1 } or note("$cut: $@");    # it has gone by itself
        }
        $session->does('COMMIT');
        $sees->('meanwhile', '... what is committed then is shown');
        $writes->('next');
        $sees->('next', '... and what comes next');
    }

    my $file = $db->is_server ? undef : $db->file("cut");
    $db->is_server ? $db->stop : rename($file, "$file.away") || die "$file: $!\n";
    wait_until(sub { grep { /VLT00020: feed: the database "\S*" (?:cannot be opened|does not exist)/ } error_log_lines() }, 'the tailer says that its database is away');
    my $saved = calls_feed('cut', save => {table => 'logs', values => {line => 'never'}});
    is($saved->{status}, 11, "$driver: a writer is told to come again");
    like($saved->{error}, qr/^the database "\S*" (?:cannot be opened|does not exist)/, '... and why');
    is(status()->{Waiting}, 1, '... the page waits');
    $db->is_server ? $db->start : rename("$file.away", $file) || die "$file: $!\n";
    $writes->('back');
    $sees->('back', 'what is written when the database is there again is shown');

    if ($db->is_server) {
        my $session = $db->session('cut');
        $session->does('BEGIN') if $driver eq 'pgsql';
        $session->does($LOCK{$driver});
        wait_until(sub { $db->does('cut', 'NOTIFY vault_changes') if $driver eq 'pgsql'; ($db->does('cut', $LOCKED{$driver}))[0] > 0 }, 'the tailer waits for a lock');
        my $before = status();
        text_of('/test/notify?interest=DB-logs');
        wait_counter('Runs', $before, 1);
        wait_waiting(1);
        ok($poll->is_silent, "$driver: a page that looks at the ring does not wait for the tailer");
        ok(calls_feed('cut', save => {table => 'plain', values => {id => 1}})->{rows}, '... nor does a writer of another table');
        cmp_ok(($db->does('cut', $LOCKED{$driver}))[0], '>', 0, '... which waits all the time');
        $session->does($UNLOCK{$driver});
        $writes->('unlocked');
        $sees->('unlocked', '... and goes on');
    }
    $poll->close;
    use_server(undef);
}
finish();
