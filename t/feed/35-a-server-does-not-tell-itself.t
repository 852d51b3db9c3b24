# SPDX-License-Identifier: Apache-2.0
# PostgreSQL tells who listens of every commit that changes a watched table, but not of what the feed itself writes and announces, as long as
# no other server listens. Pages see all of it as ever.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $TABLES = <<'END';
CREATE TABLE bids(id {serial},amount {integer});
CREATE TABLE alarms(id {serial},what {text});
CREATE FUNCTION alarm() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
  IF NEW.amount>100 THEN INSERT INTO alarms(what) VALUES('bid '||NEW.amount); END IF; RETURN NEW;
END$$;
CREATE TRIGGER alarm AFTER INSERT ON bids FOR EACH ROW EXECUTE FUNCTION alarm();
CREATE TABLE notes(id {serial},what {text});
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
  IF NEW.what LIKE TG_ARGV[0] THEN INSERT INTO alarms(what) VALUES(NEW.what); END IF; RETURN NULL;
END$$;
CREATE TRIGGER note AFTER INSERT ON notes FOR EACH ROW EXECUTE FUNCTION note('alarm%');
END

site_file('/feed/quiet.html', '{{#rows}}{{id}}:{{amount}}{{what}};{{/rows}}');
for my $table (qw(bids alarms)) {
    my $tag = qq(<!--#feed name="quiet" method="get_new_instances" table="$table" limit="1" template="quiet.html" -->);
    site_file("/feed/quiet-$table-new.shtml", $tag);
    live_shtml("/feed/quiet-$table.shtml", "/feed/quiet-$table-new.shtml", "<p>$tag</p>\n");
}

for my $db (has_database() ? databases('pgsql') : ()) {
    $db->make('quiet', $TABLES);
    $db->watch('quiet', 'bids', 'alarms');
    use_server(VaultTest::Server->start('quiet', config => $db->feed('quiet', 'quiet', 'look=50 timeout=20') . live_folder('/feed')));

    # What the server has sent comes before the answer of the next statement.
    my $listener = $db->session('quiet');
    $listener->does('LISTEN vault_changes');
    my $hears = sub { scalar grep { /^Asynchronous notification/ } $listener->does('SELECT 1') };
    my $save = sub { calls_feed('quiet', 'save', {table => 'bids', values => {amount => $_[0]}}) };
    my $saves_unheard = sub { $save->($_[0]); return !$hears->() };

    wait_until(sub { $saves_unheard->(1) }, 'the watcher knows that no other server listens');
    my %page = map { $_ => open_page("/feed/quiet-$_.shtml") } qw(bids alarms);
    my %poll = map { $_ => $page{$_}->start_poll } keys %page;
    wait_waiting(2);
    my $told = sub {
        my ($table) = @_;
        my $text = VaultTest::Page::text($page{$table}->finish_poll($poll{$table}));
        $poll{$table} = $page{$table}->start_poll;
        return $text;
    };

    $save->(2);
    like($told->('bids'), qr/:2;/, 'a write of the feed is shown');
    ok(!$hears->(), 'and nobody was told by the database');

    $db->does('quiet', 'INSERT INTO bids(amount) VALUES(3)');
    like($told->('bids'), qr/:3;/, 'a write of another program is shown');
    ok($hears->(), 'as the database has told');

    $save->(101);
    like($told->('bids'), qr/:101;/, 'a write that sets off a trigger is shown');
    like($told->('alarms'), qr/:bid 101;/, 'and what the trigger wrote in another watched table');
    ok($hears->(), 'as the database has told');

    $save->(8) for 1, 2;
    ok(!$hears->(), 'two rows, one after the other');
    is(calls_feed('quiet', 'update', {table => 'bids', where => {amount => 8}, values => {amount => 9}})->{rows}[0]{updated}, 2, 'change at once');
    ok($hears->(), 'as the database has told');

    # What records nothing is no news. Of what is recorded in other tables the writer knows nothing.
    my $notes = sub { calls_feed('quiet', 'save', {table => 'notes', values => {what => $_[0]}}) };
    is(calls_feed('quiet', 'update', {table => 'bids', where => {amount => 9}, values => {amount => 9}})->{rows}[0]{updated}, 2, 'they change to what they are');
    $notes->('shopping');
    ok(!$hears->(), 'as nobody needs to be told, nor of a row of a table that is not watched');
    $notes->('alarm by note');
    like($told->('alarms'), qr/:alarm by note;/, 'what a trigger of that wrote in a watched table is shown');
    ok($hears->(), 'as the database has told');

    my $other = $db->session('quiet');
    $other->does('SELECT pg_advisory_lock_shared(119200164373870)');
    wait_until(sub { !$saves_unheard->(6) }, 'when another server listens it is told');
    undef $other;
    wait_until(sub { $saves_unheard->(7) }, 'until it does no more');

    $db->does('quiet', q{CREATE CONSTRAINT TRIGGER late AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note('late%')});
    $hears->();
    $notes->('late in the commit');
    like($told->('alarms'), qr/:late in the commit;/, 'what a trigger wrote in the commit is shown');
    ok($hears->(), 'as the database has told');
    $_->close for values %poll;

    # Who watches cannot come back: nobody knows any more whether others listen.
    $db->does('quiet', 'DROP TRIGGER late ON notes');
    wait_until(sub { $saves_unheard->(10) }, 'without that trigger nobody is told');
    tolerate(qr/VLT00020: feed: the database "quiet" /);
    $db->does('postgres', 'ALTER DATABASE quiet ALLOW_CONNECTIONS false');
    $listener->does(q{SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype='advisory'});
    my $unheard = 0;
    wait_until(sub { !$saves_unheard->(11) || !++$unheard }, 'others are told');
    cmp_ok($unheard, '<', 100, '... before there are many of whom nobody knows');
    $db->does('postgres', 'ALTER DATABASE quiet ALLOW_CONNECTIONS true');
    wait_until(sub { $saves_unheard->(12) }, 'until it is back');
    undef $listener;
    use_server(undef);
}
finish();
