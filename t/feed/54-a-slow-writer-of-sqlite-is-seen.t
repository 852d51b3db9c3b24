# SPDX-License-Identifier: Apache-2.0
# The kernel tells the tailer of a write to SQLite's journal before the commit can be read, and of nothing after that. However long the writer
# takes in between, the tailer finds the commit long before it would ask by itself.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Wall;

my $preload = vars('top_dir') . '/modules/preload_slow.so';
plan(skip_all => 'nothing can be loaded in front of sqlite3 here') if !-f $preload || ($ENV{VAULT_SANITIZER} // 'no') ne 'no';

my $path = wall_page('slow', 1);
for my $db (databases('sqlite3')) {
    wall_tables($db, 'slow');
    use_server(wall_server($db, 'slow', 'poll=60000'));
    # The journal is there, and the tailer is told of writes to it.
    calls_feed('slow', 'save', {table => 'posts', values => {id => 1, wall => 1, body => 'own'}});

    my %has;
    my $page = open_page($path);
    wall_apply(\%has, $page->html);
    my $poll = $page->start_poll;
    wait_waiting(1);
    {
        local $ENV{LD_PRELOAD} = $preload;
        $db->does('slow', q{INSERT INTO posts VALUES(2,1,'slow')});
    }
    wall_apply(\%has, VaultTest::Page::text($page->finish_poll($poll)));
    is(wall_shown(\%has), '1:own 2:slow', 'what a slow writer has committed is shown');
    use_server(undef);
}
finish();
