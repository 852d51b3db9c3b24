# SPDX-License-Identifier: Apache-2.0
# What happened to a watched table cannot always be told row by row: another server has pruned it, or a text in a row is no UTF-8.
# Who waits for one of the rows is told all the same.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $tag = '<!--#feed name="untold" method="get_modified_instance" table="logs" key="1" template="untold.html" -->';
site_file('/feed/untold.html', '{{#rows}}[{{line}} {{status}}]{{/rows}}');
live_tag('/feed/untold', $tag);

for my $db (has_database() ? databases('sqlite3') : ()) {
    $db->make('untold', <<'END');
CREATE TABLE logs(id {serial},line {text},status {integer});
INSERT INTO logs(line,status) VALUES('one',1),('two',1);
END
    $db->watch('untold', 'logs');
    use_server(VaultTest::Server->start('untold', config => $db->feed('untold', 'untold', 'rows=20 poll=100 timeout=5') . live_folder('/feed')));
    my $page = open_page('/feed/untold.shtml');
    my $poll = $page->start_poll;
    wait_waiting(1);
    $db->does('untold', 'UPDATE logs SET status=2 WHERE id=1');
    is(VaultTest::Page::text($page->finish_poll($poll)), '[one 2]', 'a row that another program changed');

    $poll = $page->start_poll;
    wait_waiting(1);
    $db->does('untold', <<'END');
BEGIN;
UPDATE logs SET status=3 WHERE id=1;
UPDATE vault_watched SET pruned=(SELECT max(id) FROM vault_changes);
DELETE FROM vault_changes;
COMMIT
END
    is(VaultTest::Page::text($page->finish_poll($poll)), '[one 3]', 'a change that is gone before this server has looked');

    $poll = $page->start_poll;
    wait_waiting(1);
    announce(qr/VLT00020: feed: /);
    $db->does('untold', q{UPDATE logs SET line=CAST(x'ff' AS TEXT) WHERE id=2});
    $db->does('untold', 'UPDATE logs SET status=4 WHERE id=1');
    is(VaultTest::Page::text($page->finish_poll($poll)), '[one 4]', 'a row beside one that is no UTF-8');
    use_server(undef);
}
finish();
