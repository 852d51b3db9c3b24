# SPDX-License-Identifier: Apache-2.0
# MariaDB tells nobody of what other programs write: who watches asks it, as often as they do, and less often while they do not.
use strict;
use warnings;
use Time::HiRes ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Wall;

use constant LOOK => 0.1;    # as configured, in seconds

my $path = wall_page('pace', 1);

for my $db (has_database() ? databases('mysql') : ()) {
    wall_tables($db, 'pace');
    my $asker = $db->session('pace');
    my $counted = sub { ($asker->does(q{SHOW GLOBAL STATUS LIKE 'Com_execute_sql'}))[0] =~ /(\d+)$/ ? $1 : die };

    # How long a look takes to come after the one before, in looks: the mean of three.
    my $pace = sub {
        my $next = $counted->() + 1;
        wait_until(sub { $counted->() >= $next }, 'a look');
        my $before = Time::HiRes::time();
        wait_until(sub { $counted->() >= $next + 3 }, 'three more');
        return (Time::HiRes::time() - $before) / 3 / LOOK;
    };
    use_server(wall_server($db, 'pace', 'look=' . 1000 * LOOK));

    my %has;
    my $page = open_page($path);
    wall_apply(\%has, $page->html);
    my $poll = $page->start_poll;
    wait_waiting(1);
    wait_until(sub { $pace->() > 4 }, 'a look comes seldom when nobody writes');
    my $last = 0;
    my $shown = '';
    my $writes = sub {
        $last++;
        $db->does('pace', "INSERT INTO posts VALUES($last,1,'other')");
        $shown .= ($shown ne '' ? ' ' : '') . "$last:other";
        wall_apply(\%has, VaultTest::Page::text($page->finish_poll($poll)));
        is(wall_shown(\%has), $shown, "what another program writes is shown, row $last");
        $poll = $page->start_poll;
        wait_waiting(1);
    };
    $writes->();
    wait_until(sub { $writes->(); $pace->() < 2.5 }, 'one comes often when others do');
    calls_feed('pace', 'save', {table => 'posts', values => {id => 1000, wall => 1, body => 'own'}});
    wall_apply(\%has, VaultTest::Page::text($page->finish_poll($poll)));
    is(wall_shown(\%has), "$shown 1000:own", 'a write of the feed is shown');
    use_server(undef);
}
finish();
