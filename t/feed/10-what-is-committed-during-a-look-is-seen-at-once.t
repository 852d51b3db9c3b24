# SPDX-License-Identifier: Apache-2.0
# PostgreSQL tells the tailer of commits. One that comes while it looks at others is looked at at once, not when it asks anyhow, which
# is a minute later here: of forty that come so, each is what a poll that waits already is answered with.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $POSTS = 40;

my $tag = '<!--#feed name="during" method="get_modified_instance" table="logs" key="1" template="during.html" -->';
site_file('/feed/during.html', '{{#rows}}[{{status}}]{{/rows}}');
live_tag('/feed/during', $tag);

for my $db (has_database() ? databases('pgsql') : ()) {
    $db->make('during', <<'END');
CREATE TABLE logs(id {serial},status {integer});
INSERT INTO logs(status) SELECT 1 FROM generate_series(1,500);
END
    $db->watch('during', 'logs');
    use_server(VaultTest::Server->start('during', config => $db->feed('during', 'during', 'rows=20 timeout=5 poll=60000') . live_folder('/feed')));
    my $page = open_page('/feed/during.shtml');
    my $writer = $db->session('during');
    my @late;
    for my $i (1 .. $POSTS) {
        my $poll = $page->start_poll;
        wait_waiting(1);
        my $pause = ($i % 20) / 1000;
        $writer->does("UPDATE logs SET status=status+1 WHERE id BETWEEN 2 AND 450; SELECT pg_sleep($pause);"
                . " UPDATE logs SET status=$i+100 WHERE id=1");
        # A poll is held for 25 s at most: then it is answered with nothing.
        push @late, $i if VaultTest::Page::text($page->finish_poll($poll)) !~ /\[@{[$i + 100]}\]/;
    }
    is("@late", '', "each of $POSTS is seen at once");
    use_server(undef);
}
finish();
