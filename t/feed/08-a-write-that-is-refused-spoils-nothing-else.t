# SPDX-License-Identifier: Apache-2.0
# A page that tries to save something which the database refuses shows what else it has, and is kept live; a method fails as a whole.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $wrong = '<!--#feed name="database" method="save" table="refused" values.nonsense="1" -->';
    my $news = '<!--#feed name="database" method="get_new_instances" table="refused" limit="1" template="refused.html" -->';
    site_file('/feed/refused.html', '{{#rows}}{{line}}|{{/rows}}');
    site_file('/feed/refused-new.shtml', $news);
    live_shtml('/feed/refused.shtml', '/feed/refused-new.shtml', "<p>$wrong $news</p>\n");

    announce(qr/VLT00040: .*has no column "nonsense"/);
    insert_row('refused', 'before');
    my $page = open_page('/feed/refused.shtml');
    like($page->html, qr{<p>\[ssi error\] before\|</p>}, 'what is read after the refusal is there');
    my $poll = $page->start_poll;
    wait_waiting(1);
    insert_row('refused', 'after');
    is(VaultTest::Page::text($page->finish_poll($poll)), 'after|', 'and the page is live');

    announce(qr/VLT00030: .*has no column "nonsense"/);
    site_file('/feed/refused-new.shtml', "$wrong $news");
    $poll = $page->start_poll;
    wait_waiting(1);
    my $before = status();
    insert_row('refused', 'in vain');
    wait_until(sub { grep { /VLT00030: .*nonsense/ } error_log_lines() }, 'a method that is refused a write has failed');
    site_file('/feed/refused-new.shtml', $news);
    is(VaultTest::Page::text($page->finish_poll($poll)), 'in vain|', '... as a whole, and is tried again');
}
finish();
