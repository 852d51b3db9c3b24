# SPDX-License-Identifier: Apache-2.0
# MariaDB's triggers name the columns that there were. When one is dropped or renamed, each write to the table is refused until it is watched again, and
# says so: no call that comes later could do better. Nothing of it is half done, and then all goes on.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $AGAIN = 'table "logs" has other columns than when it was watched: vaultctl watch logs';
my @WRITES = (
    [save => {values => {line => 'in vain'}}],
    [update => {key => 1, values => {line => 'in vain'}}],
    [update => {where => {line => 'one'}, values => {line => 'in vain'}}],
    [delete => {key => 1}],
);

live_tag('/feed/gone', '<!--#feed name="gone" method="get_new_instances" table="logs" template="gone.html" append="list" -->');
site_file('/feed/gone.html', '{{#rows}}[{{line}}]{{/rows}}');

sub asks { my ($method, $args) = @_; return calls_feed('gone', $method, {table => 'logs', %$args}) }

for my $db (has_database() ? databases('mysql') : ()) {
    $db->make('gone', q{CREATE TABLE logs(id {serial},line {text},more {integer},still_more {integer});
        CREATE TABLE plain(id {serial},line {text},more {integer}); CREATE TRIGGER own BEFORE INSERT ON plain FOR EACH ROW SET NEW.more=1;
        INSERT INTO logs(line) VALUES('one');});
    $db->watch('gone', 'logs');
    use_server(VaultTest::Server->start('gone', config => $db->feed('gone', 'gone', 'poll=100') . live_folder('/feed')
        . "<Location /vault/feed>\nSetHandler vault-feed\nVaultFeedExpose gone save\n</Location>\n"));
    tolerate(qr{the watched table "logs" has other columns than when it was watched});    # the tailer, until it is watched again
    tolerate(qr{the tables of "gone" were altered meanwhile: error 1054});    # the page, if it looks while its child believes in the column
    my $page = open_page('/feed/gone.shtml');
    like($page->html, qr{<p>\[one\]</p>}, 'a page of the table');
    my $n = 0;
    for my $alter ('DROP COLUMN more', 'RENAME COLUMN still_more TO less') {
        my $poll = $page->start_poll;
        wait_waiting(1);
        $db->does('gone', "INSERT INTO logs(line) VALUES('before $alter'); ALTER TABLE logs $alter");
        for my $time (1, 2) {
            for my $write (@WRITES) {
                my $answer = asks(@$write);
                is("$answer->{status} $answer->{error}", "20014 $AGAIN", "$alter: $write->[0], time $time");
            }
        }
        announce(qr/VLT00070: feed gone, method save: \Q$AGAIN\E/);
        is(post('/vault/feed/gone/save', 'table=logs&values.line=in+vain')->{status}, 500, 'a browser is not told to come again');
        $n++;
        is(($db->does('gone', 'SELECT COUNT(*) FROM logs'))[0], 2 * $n, 'nothing was saved, or deleted');
        $db->watch('gone', 'logs');
        is(asks(save => {values => {line => "after $alter"}})->{error}, undef, '... until it is watched again');
        my $seen = VaultTest::Page::text($page->finish_poll($poll));
        for (1 .. 3) {
            $seen .= VaultTest::Page::text($page->poll) if $seen !~ /\[after $alter\]/;
        }
        like($seen, qr/\[before $alter\].*\[after $alter\]/, 'the page has all of it');
    }

    # No watching helps against a trigger that the site itself has made.
    $db->does('gone', 'ALTER TABLE plain DROP COLUMN more');
    for my $kind ('not watched', 'watched') {
        $db->watch('gone', 'plain') if $kind eq 'watched';
        my $answer = calls_feed('gone', 'save', {table => 'plain', values => {line => 'x'}});
        like("$answer->{status} $answer->{error}", qr/^11 the tables of "gone" were altered meanwhile: error 1054/, "a trigger that the site has made: $kind");
    }
    use_server(undef);
}
finish();
