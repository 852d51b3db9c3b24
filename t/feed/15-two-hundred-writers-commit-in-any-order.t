# SPDX-License-Identifier: Apache-2.0
# Two hundred transactions at once, which commit in another order than they began, some of them not at all, while pages look and lose
# some of their answers: each page shows each row once. PostgreSQL counts as after milliards of transactions: its snapshots are long.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Random;
use VaultTest::Site;

use constant {WRITERS => 200, PAGES => 3, SEED => 20261122, LOOK_EVERY => 8};

my $tag = '<!--#feed name="crowd" method="get_new_instances" table="race" template="crowd.html" append="list" -->';
site_file('/feed/crowd.html', '{{#rows}}[{{line}}]{{/rows}}');
live_tag('/feed/crowd', $tag);

for my $db (has_database() ? databases(qw(pgsql mysql)) : ()) {
    my $driver = $db->driver;
    begin_random(SEED);
    $db->grow_old if $driver eq 'pgsql';
    $db->make('crowd', 'CREATE TABLE race(id {serial},line {text});');
    $db->watch('crowd', 'race');
    use_server(VaultTest::Server->start("crowd-$driver", config => $db->feed('crowd', 'crowd', 'rows=20 poll=50 timeout=20') . live_folder('/feed')));
    my @pages = map { open_page('/feed/crowd.shtml') } 1 .. PAGES;
    my @polls = map { $_->start_poll } @pages;
    my @shown = map { [] } @pages;
    my $lost = 0;
    my $take = sub {
        my ($i, $lose) = @_;
        my $answer = $lose ? $pages[$i]->read_poll($polls[$i]) : $pages[$i]->finish_poll($polls[$i]);
        $lost++ if $lose && $answer->{status} == 200;
        push @{$shown[$i]}, VaultTest::Page::text($answer) =~ /\[(\w+)\]/g unless $lose;
        $polls[$i] = $pages[$i]->start_poll($polls[$i]);
    };
    # Until this page has this row.
    my $sees = sub {
        my ($i, $line) = @_;
        $take->($i, 0) until grep { $_ eq $line } @{$shown[$i]};
    };

    my @writers = map { $db->session('crowd') } 1 .. WRITERS;
    my $all = sub {
        my ($sql) = @_;
        $writers[$_]->sends(ref $sql ? $sql->($_) : $sql) for 0 .. $#writers;
        $_->answers for @writers;
    };
    $all->('BEGIN');
    $all->(sub { "INSERT INTO race(line) VALUES('w$_[0]')" });
    # All of them are in progress before what has committed last: that is where a snapshot ends.
    $db->does('crowd', q{INSERT INTO race(line) VALUES('first')});
    my %wanted = (first => 1);
    $sees->($_, 'first') for 0 .. PAGES - 1;
    if ($driver eq 'pgsql') {
        my ($snapshot) = $db->does('crowd', 'SELECT pg_current_snapshot()');
        cmp_ok(length $snapshot, '>', 1900, 'the snapshot is long: ' . length $snapshot);
    }
    my $done = 0;
    for my $i (shuffled(0 .. WRITERS - 1)) {
        my $stays = $done++ % 10 != 9;
        $writers[$i]->does($stays ? 'COMMIT' : 'ROLLBACK');
        $wanted{"w$i"} = 1 if $stays;
        $sees->(random(PAGES), "w$i") if $stays && $done % LOOK_EVERY == 0;
        for my $k (0 .. PAGES - 1) {
            $take->($k, random(4) == 0) unless $polls[$k]->is_silent;
        }
    }
    undef @writers;
    $db->does('crowd', q{INSERT INTO race(line) VALUES('last')});
    $wanted{last} = 1;
    for my $i (0 .. PAGES - 1) {
        $take->($i, 0) until @{$shown[$i]} >= keys %wanted && grep { $_ eq 'last' } @{$shown[$i]};
        is(join(' ', sort @{$shown[$i]}), join(' ', sort keys %wanted), "$driver: page $i: each row once");
    }
    cmp_ok($lost, '>', 0, "... though answers were lost on the way: $lost");
    wait_waiting(PAGES);
    ok($polls[$_]->is_silent, "page $_ has nothing more to say") for 0 .. PAGES - 1;
    $_->close for @polls;
    use_server(undef);
}
finish();
