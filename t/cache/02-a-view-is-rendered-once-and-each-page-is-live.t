# SPDX-License-Identifier: Apache-2.0
# The HTML of a live page is rendered once as long as nothing changes; each viewer has a page of its own, live without a gap.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

use constant VIEWS => 10;

sub insert { return calls_feed('database', 'save', {table => 'kept', values => {line => $_[0], writer => 0}}) }

# The lines that this HTML or these updates show.
sub lines { return join ' ', $_[0] =~ /\[(\w+)\]/g }

# open_page(), and whether the store answered.
sub view
{
    my ($path) = @_;
    my $before = status()->{Cached};
    my $page = open_page($path);
    return ($page, status()->{Cached} - $before);
}

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $tag = '<!--#feed name="database" method="get_new_instances" table="kept" template="row.html" append="list" -->';
    site_file('/cache/row.html', '{{#rows}}[{{line}}]{{/rows}}');
    live_tag('/cache/view', $tag);
    settle();
    insert('first');

    my ($page, $cached) = view('/cache/view.shtml');
    is($cached, 0, 'the first view is rendered');
    is((lines($page->html) =~ /(\w+)$/)[0], 'first', 'it shows the row');
    my @pages = ($page);
    for (2 .. VIEWS) {
        ($page, $cached) = view('/cache/view.shtml');
        is($cached, 1, 'a further one comes from the store');
        push @pages, $page;
    }
    my %ids = map { $_->id => 1 } @pages;
    is(scalar keys %ids, VIEWS, 'each has an id of its own');
    is($pages[-1]->html =~ s/@{[$pages[-1]->id]}/ID/gr, $pages[0]->html =~ s/@{[$pages[0]->id]}/ID/gr, 'and the same HTML otherwise');
    like(get('/cache/view.shtml')->{headers}{'cache-control'}, qr/private, no-store/, 'no cache may keep it');

    # A row between the view and the first poll.
    insert('second');
    is(lines($_->news), 'second', 'each shows the new row once') for @pages;
    my @polls = map { $_->start_poll } @pages;
    wait_waiting(VIEWS);
    ($page, $cached) = view('/cache/view.shtml');
    is($cached, 0, 'a view after a change is rendered');
    is((lines($page->html) =~ /(\w+ \w+)$/)[0], 'first second', 'and shows both rows');
    ($page, $cached) = view('/cache/view.shtml');
    is($cached, 1, 'the next one is not');

    # The files that the view depends on.
    site_file('/cache/row.html', '{{#rows}}[{{line}}]!{{/rows}}');
    settle();
    ($page, $cached) = view('/cache/view.shtml');
    is($cached, 0, 'a changed template is a change');
    like($page->html, qr/\[second\]!/, '... and is seen');
    live_tag('/cache/view', $tag, '<div>%s</div>');
    ($page, $cached) = view('/cache/view.shtml');
    is($cached, 0, 'a changed page is a change');
    like($page->html, qr/<div>/, '... and is seen');
    $_->close for @polls;
}
finish();
