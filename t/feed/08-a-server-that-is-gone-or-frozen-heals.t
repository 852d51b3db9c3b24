# SPDX-License-Identifier: Apache-2.0
# A server of databases that is not there when httpd starts, that is restarted, killed, frozen or slow: pages get a clear answer soon,
# wait, and go on when it is there again, with nothing lost and nothing twice.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $TAG = '<!--#feed name="healing" method="get_new_instances" table="logs" cursor="largest-key" template="healing.html" append="list" -->';
my %SLOW = (pgsql => 'SELECT pg_sleep(30)::text AS v', mysql => 'SELECT SLEEP(30) AS v');

# For the script of init: what is inside of strings and comments ends no statement.
my $INIT = <<'END';
-- a comment; with a semicolon
CREATE TABLE logs(id {serial},line {text});
/* another; */ INSERT INTO logs(line) VALUES('from; init''s "script"');
END

sub feed_of
{
    my ($db) = @_;
    open my $file, '>', vars('t_logs') . "/healing-@{[$db->driver]}.sql" or die "$!\n";
    print $file $db->dialect($INIT);
    # What its server says beside is a line of the log like any other.
    print $file "SET client_min_messages=notice; DO \$\$BEGIN RAISE NOTICE 'by the way'; END\$\$;\n" if $db->driver eq 'pgsql';
    close $file;
    return $db->feed('healing', 'healing', 'timeout=1 connections=2 poll=0 init=' . vars('t_logs') . "/healing-@{[$db->driver]}.sql") . <<"END";
SSIErrorMsg "[ssi error]"
@{[live_folder('/feed')]}
END
}

sub asks { return calls_feed('healing', @_) }

sub update_of
{
    my ($lines) = @_;
    return qq(<turbo-stream action="append" target="list"><template>$lines</template></turbo-stream>);
}

for my $db (has_database() ? databases(qw(pgsql mysql)) : ()) {
    my $driver = $db->driver;
    site_file('/feed/healing.html', '{{#rows}}[{{line}}]{{/rows}}');
    live_tag('/feed/healing', $TAG);
    $db->make('healing');

    # Not there when httpd starts.
    $db->stop;
    use_server(VaultTest::Server->start("healing-$driver", size => "ServerLimit 1\n", config => feed_of($db)));
    announce(qr/VLT00040: feed healing, method get_new_instances: the database "healing" cannot be opened: .* in \S+healing\.shtml/,
        qr/VLT00011: the page cannot be kept live: the database "healing" cannot be opened/);
    like(text_of('/feed/healing.shtml'), qr{<p>\[ssi error\]</p>}, "$driver: a page without its database is shown");
    my $answer = asks(all => {table => 'logs'});
    is($answer->{status}, 11, 'a call is told to come again');
    like($answer->{error}, qr/^the database "healing" cannot be opened: \w/, '... and why');
    $db->start;
    wait_until(sub { !asks(all => {table => 'logs'})->{error} }, 'it is asked again by itself');
    is(text_of('/feed/healing.shtml') =~ /<p>(.*)<\/p>/ && $1, '[from; init&#39;s &quot;script&quot;]', 'the tables are made now, by the script');
    is(($db->does('healing', 'SELECT count(*) FROM logs'))[0], 1, '... once');
    announce(qr/\[vault:info\] .* VLT00020: feed: the database "healing" says: NOTICE:  by the way$/) if $driver eq 'pgsql';

    # Restarted and killed, while a page waits.
    my $page = open_page('/feed/healing.shtml');
    my $n = 0;
    my $sees = sub {
        my ($poll, $why) = @_;
        $n++;
        is(asks(save => {table => 'logs', values => {line => "row $n"}})->{error}, undef, "$driver: $why: the first call after it is served");
        is(VaultTest::Page::text($page->finish_poll($poll)), update_of("[row $n]"), '... and the page sees the row');
    };
    for my $end (qw(stop crash)) {
        my $poll = $page->start_poll;
        wait_waiting(1);
        $db->$end;
        $db->start;
        $sees->($poll, $end);
    }

    # Gone while a method has to run.
    announce(qr/VLT00030: method \/feed\/healing-new\.shtml failed: .*"healing" cannot be .*; it is tried again in 1 s/,
        qr/VLT00040: feed healing, .*"healing" cannot be .* in \S+healing-new\.shtml/);
    tolerate(qr/VLT00030: method \/feed\/healing-new\.shtml failed: .*"healing" cannot be .*; it is tried again in (?:[248]|16|30) s/);    # and again
    my $poll = $page->start_poll;
    wait_waiting(1);
    $db->crash;
    my $before = status();
    text_of('/test/notify?interest=DB-logs');
    wait_counter('Failures', $before, 1);
    wait_waiting(1);
    ok($poll->is_silent, "$driver: the page waits");
    my $began = time;
    my @answers = map { asks(all => {table => 'logs'})->{status} } 1 .. 20;
    is_deeply([grep { $_ != 11 } @answers], [], 'each call is told to come again');
    ok(time - $began < 20, '... and soon: none of them waits for a second');
    # The row is there before the page can look again: with poll=0 nothing tells the page of it.
    my @children = children();
    freeze(@children);
    $db->start;
    $db->does('healing', q{INSERT INTO logs(line) VALUES('meanwhile')});
    kill CONT => @children;
    # A poll that had waited long enough is answered with nothing: a server may take its time to start.
    my $text = VaultTest::Page::text($page->finish_poll($poll));
    for (1 .. 5) {
        last if $text ne '';
        $text = VaultTest::Page::text($page->finish_poll($page->start_poll));
    }
    is($text, update_of('[meanwhile]'), 'the page looks again by itself, and nothing is lost');

    # Frozen: it takes connections, and says nothing.
    $db->freeze;
    $answer = asks(all => {table => 'logs'});
    $db->thaw;
    is($answer->{status}, 11, "$driver: a server that is frozen");
    wait_until(sub { !asks(all => {table => 'logs'})->{error} }, 'and is not any more');

    # Locked by another program, and slow.
    my $other = $db->session('healing');
    $other->does('BEGIN');
    $other->does(q{UPDATE logs SET line='locked' WHERE id=1});
    my $lock = asks(update => {table => 'logs', key => 1, values => {line => 'x'}});
    is($lock->{status}, 11, 'a row that is locked');
    like($lock->{error}, qr/^the database is locked: waited 1 s/, '... and why');
    $other->does('ROLLBACK');
    $db->does('healing', "CREATE VIEW slow AS $SLOW{$driver}");
    $answer = asks(all => {table => 'slow'});
    is($answer->{status}, 11, 'a statement that takes too long');
    like($answer->{error}, qr/^the database "healing" took longer than 1 s for a statement/, '... and why');

    # Tables that change.
    $db->does('healing', 'ALTER TABLE logs ADD COLUMN more {text}');
    wait_until(sub { exists((asks(all => {table => 'logs', limit => 1})->{rows} || [{}])->[0]{more}) }, 'a new column is seen');
    $db->does('healing', 'ALTER TABLE logs DROP COLUMN more');
    my @seen;
    wait_until(sub { my $a = asks(all => {table => 'logs'}); push @seen, $a->{status}; $a->{rows} && !exists $a->{rows}[0]{more} }, 'one that is gone is not');
    is_deeply([grep { $_ != 0 && $_ != 11 } @seen], [], 'calls in between are told to come again at most');
    $db->does('healing', 'DROP TABLE logs');
    wait_until(sub { (asks(all => {table => 'logs'})->{error} // '') =~ /^there is no table "logs"/ }, 'a table that is gone');
    $db->does('healing', 'CREATE TABLE logs(id {serial},line {text})');
    wait_until(sub { asks(all => {table => 'logs'})->{rows} }, 'and is there again');
    use_server(undef);
}
finish();
