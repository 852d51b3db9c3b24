# SPDX-License-Identifier: Apache-2.0
# A method of SSI, feed and template runs once for all pages that it has the same to say to; each page still gets each row once.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

use constant PAGES => 20;

sub insert { return calls_feed('database', 'save', {table => 'race', values => {line => $_[0], writer => 0}}) }

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $tag = '<!--#feed name="database" method="get_new_instances" table="race" template="once.html" append="list" -->';
    site_file('/cache/once.html', '{{#rows}}[{{line}}]{{/rows}}');
    live_tag('/cache/once', $tag);

    my @pages = map { open_page('/cache/once.shtml') } 1 .. PAGES;
    my $first = status()->{Runs};
    my @polls = map { $_->start_poll } @pages;
    wait_waiting(PAGES);
    is(status()->{Runs} - $first, 1, 'the first polls find nothing new, all by one run');
    for my $line (qw(a b)) {
        my $before = status();
        insert($line);
        for my $i (0 .. PAGES - 1) {
            is(VaultTest::Page::text($pages[$i]->finish_poll($polls[$i])) =~ s/.*(\[.*\]).*/$1/sr, "[$line]", "page $i shows row $line, once");
            $polls[$i] = $pages[$i]->start_poll($polls[$i]);
        }
        wait_waiting(PAGES);
        my $after = status();
        is($after->{Runs} - $before->{Runs}, 1, "row $line is read and rendered once");
        is($after->{Shared} - $before->{Shared}, PAGES - 1, '... for all pages');
    }

    # A page at another position gets what it has not seen.
    my $late = open_page('/cache/once.shtml');
    insert('c');
    my $runs = status()->{Runs};
    is($late->news =~ s/.*(\[.*\]).*/$1/sr, '[c]', 'a page opened later gets the new row alone');
    for my $i (0 .. PAGES - 1) {
        is(VaultTest::Page::text($pages[$i]->finish_poll($polls[$i])) =~ s/.*(\[.*\]).*/$1/sr, '[c]', "page $i, too");
    }

    # The template is a dependency.
    site_file('/cache/once.html', '{{#rows}}<{{line}}>{{/rows}}');
    my $poll = $pages[0]->start_poll($polls[0]);
    insert('d');
    like(VaultTest::Page::text($pages[0]->finish_poll($poll)), qr/<d>/, 'a changed template counts at once');
}
finish();
