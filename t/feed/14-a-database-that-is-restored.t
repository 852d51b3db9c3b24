# SPDX-License-Identifier: Apache-2.0
# A database is put back to what it was some time ago, while httpd runs, and another program writes into it before httpd is connected
# again: its numbers are given a second time, to other changes. When its tables are watched again, as the manual says, who waits is told.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

for my $key (1, 2) {
    my $tag = qq(<!--#feed name="restored" method="get_modified_instance" table="logs" key="$key" template="restored.html" -->);
    live_tag("/feed/restored-$key", $tag);
}
site_file('/feed/restored.html', '{{#rows}}[{{line}}]{{/rows}}');

# Until a page is told this: a poll is answered with nothing when it has waited long enough, and what is shown anew may come twice.
sub sees
{
    my ($page, $poll, $wanted) = @_;
    my $text = '';
    for (1 .. 6) {
        $text = VaultTest::Page::text($page->finish_poll($poll));
        last if $text eq $wanted;
        $poll = $page->start_poll;
    }
    return is($text, $wanted, "the page is told $wanted");
}

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    $db->make('restored', <<'END');
CREATE TABLE logs(id {serial},line {text},n {integer});
INSERT INTO logs(line,n) VALUES('one',0),('two',0),('three',0);
END
    $db->watch('restored', 'logs');
    use_server(VaultTest::Server->start("restored-$driver", config => $db->feed('restored', 'restored', 'rows=20 poll=100 timeout=5') . live_folder('/feed')));
    my ($one, $two) = map { open_page("/feed/restored-$_.shtml") } 1, 2;
    my ($waits, $poll) = ($one->start_poll, $two->start_poll);
    wait_waiting(2);
    # Of a server a backup is made when that is stopped: the feed says that it is away, and libpq does so itself while it makes a connection.
    tolerate(qr/^FATAL:  terminating connection due to administrator command$/);
    tolerate(qr/VLT00020: feed: the database "\S*" /, qr/VLT00040: feed restored, .*: the database "\S*" cannot be /,
        qr/VLT00030: method .* failed: the database "\S*" cannot be /);
    $db->keep('restored');
    $db->does('restored', q{UPDATE logs SET line='lost' WHERE id=2});
    sees($two, $poll, '[lost]');

    $db->restore('restored', q{UPDATE logs SET line='other' WHERE id=1}, map { "UPDATE logs SET n=$_ WHERE id=3" } 1 .. 100);
    $db->watch('restored', 'logs');
    sees($one, $waits, '[other]');
    $poll = $one->start_poll;
    $db->does('restored', q{UPDATE logs SET line='later' WHERE id=1});
    sees($one, $poll, '[later]');
    use_server(undef);
}
finish();
