# SPDX-License-Identifier: Apache-2.0
# What the feed writes to MariaDB, a row at a time, its pages find without the database. What they cannot find so they ask for: what others have
# written, also between two writes of the feed's, more than one row, a row that is too large, tables that are watched anew.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Wall;

my $path = wall_page('own', 1, 'append="list"');
my ($db, $page, $poll);

# Statements that were prepared, and run: a write's own are its statement, and the one that reads what was recorded.
sub counted { return ($db->does('own', "SHOW GLOBAL STATUS LIKE '$_[0]'"))[0] =~ /(\d+)$/ ? $1 : die }
sub executed { return counted('Com_execute_sql') }

# What the page is told next, as the templates say it. The next poll waits, or was answered at once, where there is more to tell.
sub told
{
    my ($text) = VaultTest::Page::text($page->finish_poll($poll)) =~ /<template>(.*)<\/template>/s;
    $poll = $page->start_poll;
    wait_until(sub { !$poll->is_silent || status()->{Waiting} == 1 }, 'the next poll waits or is answered');
    return $text // '';
}

sub saves
{
    my ($id, $wall, $body) = @_;
    my $answer = calls_feed('own', 'save', {table => 'posts', values => {id => $id, wall => $wall, body => $body}});
    return $answer->{rows} ? $answer->{rows}[0]{id} : diag($answer->{error});
}

for my $mysql (has_database() ? databases('mysql') : ()) {
    $db = $mysql;
    wall_tables($db, 'own');
    use_server(wall_server($db, 'own', 'look=100 timeout=5 connections=1', size => "ServerLimit 1\n"));
    $page = open_page($path);
    $poll = $page->start_poll;
    wait_waiting(1);

    # Of the first ones statements are read as text, or prepared. The watcher's come in between now and then.
    my $id = 1;
    my $costs = sub {
        my ($before, $now) = (executed(), $id++);
        saves($now, 1, "new $now");
        is(told(), "+$now:new $now;", "row $now is told");
        return executed() - $before;
    };
    my $without = sub { return wait_until(sub { $costs->() == 2 }, $_[0]) };
    $costs->() for 1 .. 4;
    $without->('a page looks without the database');
    # Who watches finds nothing in them, and numbers them later: pages go on as they did.
    my $numberless = sub { return ($db->does('own', 'SELECT COUNT(*) FROM vault_changes WHERE pos IS NULL'))[0] };
    wait_until(sub { $costs->(); $numberless->() > 5 }, 'changes wait for their numbers');
    my $snapshots = counted('Com_set_option');
    wait_until(sub { !$numberless->() }, '... which they get');
    is(counted('Com_set_option') - $snapshots, 0, '... without a look at all tables, in a snapshot');
    $without->('... and pages go on without the database');
    saves($id++, 2, 'elsewhere');
    $without->('... also when another one was written that it does not show');

    # A stranger: alone, and between two writes.
    $db->does('own', "INSERT INTO posts VALUES(500,1,'strange')");
    is(told(), '+500:strange;', 'what another program has written');
    $without->('... from then on without the database again');
    my $other = $db->session('own');
    $other->does("BEGIN; INSERT INTO posts VALUES(501,1,'open')");
    $without->('... while another transaction is open');
    $other->does('COMMIT');
    is(told(), '+501:open;', 'which is told when it ends');
    my $now = $id++;
    $db->does('own', "INSERT INTO posts VALUES(502,1,'first')");
    saves($now, 1, 'then');
    my $both = told();
    $both .= told() if $both !~ /\+502:/ || $both !~ /\+$now:/;
    like($both, qr/^(?=.*\+502:first;)(?=.*\+$now:then;)/, 'one of each at once: both are told');
    is(scalar(() = $both =~ /\+/g), 2, '... once');

    # More than one row, a large row.
    calls_feed('own', 'update', {table => 'posts', where => {wall => 2}, values => {wall => 1}});
    like(told(), qr/^\+\d+:elsewhere;$/, 'a row that comes from another wall');
    calls_feed('own', 'update', {table => 'posts', where => {body => 'strange'}, values => {id => 600}});
    my $moved = told();
    like($moved, qr/\+600:strange;/, 'a row with another key is two changes');
    like($moved, qr/-500:strange;/, '... both of which are told');
    my $large = 'x' x 3000;
    $now = $id++;
    saves($now, 1, $large);
    is(told(), "+$now:$large;", 'a row that is too large');
    $without->('... and no longer, when that was seen');

    # A trigger of the application's records more than the feed's statement.
    $db->does('own', q{CREATE TRIGGER more AFTER INSERT ON profiles FOR EACH ROW INSERT INTO posts VALUES(NEW.id,1,'by a trigger')});
    calls_feed('own', 'save', {table => 'profiles', values => {id => 700, name => 'C'}});
    is(told(), '+700:by a trigger;', 'what a trigger has written');
    $without->('... then again without the database');

    $db->watch('own', 'posts');
    like(told(), qr/\+1:new 1;/, 'a table that is watched anew is shown anew');
    $without->('... and then goes on as before');
    $poll->close;
    use_server(undef);
}
finish();
