# SPDX-License-Identifier: Apache-2.0
# Two writers in two children, pages that poll all the while, and some of their answers lost: each page shows each row once, in order.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

use constant {ROWS => 120, PAGES => 3};

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $tag = '<!--#feed name="database" method="get_new_instances" table="race" template="race.html" append="list" -->';
    site_file('/feed/race.html', '{{#rows}}[{{id}}:{{line}}]{{/rows}}');
    live_tag('/feed/race', $tag);

    # Two connections, each to a child of its own. One that is busy when the other is looked for ends those that idle: then once more.
    my ($one, $two) = children(2);
    my (@writers, @pids);
    wait_until(
        sub {
            @writers = (connect_in($one), connect_in($two));
            return @pids = eval { map { calls_feed('tests', 'echo', {}, on => $_)->{pid} } @writers };
        },
        'both answer'
    );
    isnt($pids[0], $pids[1], 'the writers are in two children');

    my @pages = map { open_page('/feed/race.shtml') } 1 .. PAGES;
    my @shown = map { $_->html =~ /\[\d+:.*?\]/g ? die 'the table is not empty' : '' } @pages;
    my @polls = map { $_->start_poll } @pages;

    # Every row is written while polls run and wait; a writer sends its next row before the other has had its answer.
    my $call = sub {
        my ($writer, $line) = @_;
        my $args = "%7B%22table%22%3A%22race%22%2C%22values%22%3A%7B%22line%22%3A%22$line%22%2C%22writer%22%3A$writer%7D%7D";
        $writers[$writer]->request(GET => "/closed/call?feed=database&method=save&args=$args");
    };
    my ($lost, $sent) = (0, 0);
    my $next = sub {
        my ($i, $lose) = @_;
        my $answer = $lose ? $pages[$i]->read_poll($polls[$i]) : $pages[$i]->finish_poll($polls[$i]);
        $lost++ if $lose && $answer->{status} == 200;
        $shown[$i] .= VaultTest::Page::text($answer) unless $lose;
        $polls[$i] = $pages[$i]->start_poll($polls[$i]);
    };
    while ($sent < ROWS) {
        $call->(0, 'a' . $sent);
        $call->(1, 'b' . $sent);
        for (0, 1) {
            my $answer = $writers[$_]->response;
            like($answer->{body}, qr/"rows":\[\{"id":\d+\}\]/, 'saved') if $answer->{body} !~ /"rows":\[\{"id"/;
        }
        $sent += 2;
        for my $i (0 .. PAGES - 1) {
            $next->($i, $sent % (7 + $i) == 0) unless $polls[$i]->is_silent;
        }
    }
    my $all = rows_of('race');
    is($all, ROWS, 'every row was saved');
    for my $i (0 .. PAGES - 1) {
        my $count = sub { scalar(() = $shown[$i] =~ /\[\d+:/g) };
        $next->($i, 0) while $count->() < ROWS;
        my @ids = $shown[$i] =~ /\[(\d+):/g;
        is_deeply(\@ids, [sort { $a <=> $b } map { $_->{id} } rows_of('race')], "page $i: each row once, in order");
    }
    cmp_ok($lost, '>', 0, "answers were lost on the way: $lost");
    wait_waiting(PAGES);
    ok($polls[$_]->is_silent, "page $_ has nothing more to say") for 0 .. PAGES - 1;
    $_->close for @polls;
    wait_waiting(0);
}
finish();
