# SPDX-License-Identifier: Apache-2.0
# However many pages wait for a change, the database is asked for it once: pages take it from the ring. They ask the database when the ring has it no
# more, or not whole, and lose nothing. `save` answers when the pages have been told.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Wall;

use constant PAGES => 20;

my $path = wall_page('ring', 1, 'append="list"');

for my $db (has_database() ? databases('mysql') : ()) {
    wall_tables($db, 'ring');
    use_server(wall_server($db, 'ring', 'poll=60000 ring=64 timeout=20', size => "ServerLimit 1\nVaultCache Off\n"));
    my (@pages, @polls);
    my $joins = sub {
        my ($count) = @_;
        for (1 .. $count) {
            push @pages, open_page($path);
            push @polls, $pages[-1]->start_poll;
        }
        wait_waiting(scalar @polls);
    };
    my $questions = sub { return ($db->does('ring', q{SHOW GLOBAL STATUS LIKE 'Questions'}))[0] =~ /(\d+)$/ ? $1 : die };
    # Reads of pages so far: those that the ring answered, and those that the database answered.
    my $reads = sub {
        my ($feed) = grep { $_->{Name} eq 'ring' } @{JSON::PP::decode_json(text_of('/vault/status?json'))->{Feeds}};
        return @$feed{qw(RingReads SqlReads)};
    };
    my $id = 0;
    my $saves = sub {
        my ($body) = @_;
        $id++;
        my $saved = calls_feed('ring', 'save', {table => 'posts', values => {id => $id, wall => 1, body => $body}});
        return $saved->{rows} || diag($saved->{error});
    };
    # What each page is told; the next polls wait.
    my $told = sub {
        my ($wanted, $why) = @_;
        my @wrong;
        for my $i (0 .. $#pages) {
            my ($text) = VaultTest::Page::text($pages[$i]->finish_poll($polls[$i])) =~ /<template>(.*)<\/template>/s;
            push @wrong, $text // '' if ($text // '') ne $wanted;
            $polls[$i] = $pages[$i]->start_poll;
        }
        wait_waiting(scalar @polls);
        return is("@wrong", '', $why);
    };
    # Statements that one write costs, with all that is told of it.
    my $costs = sub {
        my $before = $questions->();
        $saves->('row ' . ($id + 1));
        $told->("+$id:row $id;", scalar(@pages) . " pages are told of row $id");
        return $questions->() - $before;
    };
    $joins->(1);
    $costs->() for 1 .. 3;
    my $one = $costs->();
    $joins->(PAGES);
    $costs->() for 1 .. 3;
    my ($by_ring, $by_sql) = $reads->();
    my $many = $costs->();
    my ($then_by_ring, $then_by_sql) = $reads->();
    is($then_by_sql - $by_sql, 0, 'no page asks the database for a change');
    cmp_ok($then_by_ring - $by_ring, '>=', PAGES + 1, '... each reads it from the ring');
    # What pages ask besides is counted by the database. The tailer may need more statements where it finds one write in several steps.
    cmp_ok($many, '<', $one + PAGES, PAGES + 1 . ' pages cost the database no more than one');
    note("one page: $one statements, @{[PAGES + 1]} pages: $many");

    # A row that is larger than a quarter of the ring.
    my ($large, $of) = ('x' x 40_000, ++$id);
    $db->does('ring', "INSERT INTO posts VALUES($of,1,'$large')");    # found with what the feed writes next
    $saves->('after');
    $told->("+$of:$large;+$id:after;", 'a row that is too large for the ring');
    $costs->();

    # A page that has not polled while the ring went round.
    my $late = pop @pages;
    (pop @polls)->close;
    wait_waiting(scalar @polls);
    my $from = $id + 1;
    for (1 .. 16) {
        $saves->('y' x 5000);
        $told->("+$id:" . 'y' x 5000 . ';', 'a row of 5 KB');
    }
    my ($text) = VaultTest::Page::text($late->finish_poll($late->start_poll)) =~ /<template>(.*)<\/template>/s;
    is(join(' ', ($text // '') =~ /\+(\d+):y+;/g), join(' ', $from .. $id), 'a page that has missed what the ring has no more');

    $_->close for @polls;
    use_server(undef);
}
finish();
