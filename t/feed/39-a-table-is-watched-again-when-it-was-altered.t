# SPDX-License-Identifier: Apache-2.0
# A table of MariaDB is altered and watched again while pages wait, and children have read its columns a moment ago: pages are shown what there is, at once.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

live_tag('/feed/again', '<!--#feed name="again" method="get_modified_instance" table="logs" key="1" template="again.html" -->');
site_file('/feed/again.html', '{{#rows}}[{{line}} {{more}}]{{/rows}}');

for my $db (has_database() ? databases('mysql') : ()) {
    $db->make('again', q{CREATE TABLE logs(id {serial},line {text}); INSERT INTO logs(line) VALUES('one');});
    $db->watch('again', 'logs');
    use_server(VaultTest::Server->start('again', config => $db->feed('again', 'again', 'rows=20 poll=100') . live_folder('/feed')));
    tolerate(qr{the watched table "logs" has other columns than when it was watched});    # the tailer, until it is watched again
    for my $column ('more', 'still_more') {
        my $page = open_page('/feed/again.shtml');
        my $poll = $page->start_poll;
        wait_waiting(1);
        calls_feed('again', 'all', {table => 'logs'}) for 1 .. 40;                        # every child has read the columns
        $db->does('again', "ALTER TABLE logs ADD COLUMN $column VARCHAR(20) NOT NULL DEFAULT '$column'");
        $db->watch('again', 'logs');
        is(VaultTest::Page::text($page->finish_poll($poll)), '[one more]', "a column $column is there");
    }
    use_server(undef);
}
finish();
