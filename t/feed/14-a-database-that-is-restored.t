# SPDX-License-Identifier: Apache-2.0
# A database is put back to what it was some time ago, under the feet of httpd, and somebody writes into it before httpd is connected
# again: its numbers are given a second time, to other changes. Who waits for one of them is told.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $site = vars('documentroot');
for my $key (1, 2) {
    my $tag = qq(<!--#feed name="restored" method="get_modified_instance" table="logs" key="$key" template="restored.html" -->);
    site_file("/feed/restored-$key-new.shtml", $tag);
    live_shtml("/feed/restored-$key.shtml", "/feed/restored-$key-new.shtml", "<p>$tag</p>\n");
}
site_file('/feed/restored.html', '{{#rows}}[{{line}}]{{/rows}}');

# What a page is told next; a poll is answered with nothing when it has waited long enough.
sub sees
{
    my ($page, $poll) = @_;
    for (1 .. 6) {
        my $text = VaultTest::Page::text($page->finish_poll($poll));
        return $text if $text ne '';
        $poll = $page->start_poll;
    }
    return '';
}

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    $db->make('restored', <<'END');
CREATE TABLE logs(id {serial},line {text},n {integer});
INSERT INTO logs(line,n) VALUES('one',0),('two',0),('three',0);
END
    my @command = (vars('top_dir') . '/vaultctl', 'watch', '--yes', split(/ /, $db->parameters('restored')), 'logs');
    my $said = qx(@command 2>&1);
    is($?, 0, "$driver: the table is watched") || diag($said);
    $db->keep('restored');
    use_server(VaultTest::Server->start("restored-$driver", config => $db->feed('restored', 'restored', 'rows=20 look=100 timeout=5') . <<"END"));
<Directory "$site/feed">
    Options +Includes
    AddType text/html .shtml .html
    AddOutputFilter INCLUDES .shtml
    VaultLongPoll On
</Directory>
END
    my ($one, $two) = map { open_page("/feed/restored-$_.shtml") } 1, 2;
    my ($waits, $poll) = ($one->start_poll, $two->start_poll);
    wait_waiting(2);
    $db->does('restored', q{UPDATE logs SET line='lost' WHERE id=2});
    is(sees($two, $poll), '[lost]', "$driver: after the backup");

    wait_waiting(1);
    tolerate(qr/VLT00020: feed: the database "\S*" /, qr/VLT00040: feed restored, .*: the database "\S*" cannot be /,
        qr/VLT00030: method .* failed: the database "\S*" cannot be /);
    $db->restore('restored', q{UPDATE logs SET line='other' WHERE id=1}, map { "UPDATE logs SET n=$_ WHERE id=3" } 1 .. 100);
    is(sees($one, $waits), '[other]', '... what was written into the restored database is seen');
    $poll = $one->start_poll;
    wait_waiting(1);
    $db->does('restored', q{UPDATE logs SET line='later' WHERE id=1});
    is(sees($one, $poll), '[later]', '... and what is written later');
    use_server(undef);
}
finish();
