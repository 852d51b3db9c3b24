# SPDX-License-Identifier: Apache-2.0
# A method of SSI, feed and template runs once for all pages that would get the same output. Each page still gets each row once.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Site;
use VaultTest::Vaultctl;

use constant PAGES => 20;

sub insert { return calls_feed('database', 'save', {table => 'kept', values => {line => $_[0], writer => 0}}) }

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $tag = '<!--#feed name="database" method="get_new_instances" table="kept" template="once.html" append="list" -->';
    site_file('/cache/once.html', '{{#rows}}[{{line}}]{{/rows}}');
    live_tag('/cache/once', $tag);
    settle();

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

    # The status of the method: for both rows, all pages but one have used the output of another page's run.
    my $explained = sub { JSON::PP::decode_json(text_of('/vault/status?page=' . $_[0]->id))->{Methods}[0] };
    my $shared = 0;
    for my $i (0 .. PAGES - 1) { # the poll that waits has acknowledged what is counted here
        my $method = $explained->($pages[$i]);
        $shared += $method->{shared};
        is($method->{personal}, undef, "page $i: its method is not personal");
    }
    cmp_ok($shared, '>=', 3 * (PAGES - 1), 'how often the runs of others were used');
    my ($sharer) = grep { $explained->($_)->{shared} >= 3 } @pages;
    like(vaultctl('pages', $sharer->id)->{out}, qr/^  \S+once-new\.shtml: [^\n]+\n    shared \d+ times\n/m, '... in words') if -x vars('top_dir') . '/vaultctl';

    # A page at another position gets the rows that it has not seen.
    my $late = open_page('/cache/once.shtml');
    insert('c');
    for my $i (0 .. PAGES - 1) {
        is(VaultTest::Page::text($pages[$i]->finish_poll($polls[$i])) =~ s/.*(\[.*\]).*/$1/sr, '[c]', "page $i gets the new row");
    }
    is($late->news =~ s/.*(\[.*\]).*/$1/sr, '[c]', 'a page opened later gets it alone, too');

    # A method that is personal.
    live_tag('/cache/once-personal', $tag . '<!--#echo var="REMOTE_ADDR" -->');
    my @personal = map { open_page('/cache/once-personal.shtml') } 1 .. 2;
    my @waiting = map { $_->start_poll } @personal;
    for my $i (0, 1) { # the address is news each time that the method runs; the next poll acknowledges it
        like(VaultTest::Page::text($personal[$i]->finish_poll($waiting[$i])), qr/127\.0\.0\.1/, 'a method that shows the address');
        $waiting[$i] = $personal[$i]->start_poll($waiting[$i]);
    }
    my $why = 'an SSI element may depend on the request or on the time, or cannot be scanned';
    is(wait_until(sub { $explained->($_)->{personal} }, 'the answer is acknowledged'), $why, '... is personal, found out or known') for @personal;
    like(vaultctl('pages', $personal[0]->id)->{out}, qr/^    personal because \Q$why\E$/m, '... in words') if -x vars('top_dir') . '/vaultctl';
    $_->close for @waiting;
    wait_waiting(0);

    # The template is a dependency.
    site_file('/cache/once.html', '{{#rows}}<{{line}}>{{/rows}}');
    my $poll = $pages[0]->start_poll($polls[0]);
    insert('d');
    like(VaultTest::Page::text($pages[0]->finish_poll($poll)), qr/<d>/, 'a changed template counts at once');
}
finish();
