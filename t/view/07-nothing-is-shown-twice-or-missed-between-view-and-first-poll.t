# SPDX-License-Identifier: Apache-2.0
# The view creates the interest before it reads the data, so there is no gap between it and the first poll; and what the view has
# shown, the first poll knows: it is not even read again.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $tag = '<!--#feed name="database" method="get_new_instances" table="news" template="line.html" append="list" -->';
    site_file('/view/line.html', "{{#rows}}[{{line}}]{{/rows}}");
    site_file('/view/latest.shtml', $tag);
    site_file('/view/log.shtml', qq(<!--#vault poll="/view/latest.shtml" -->\n<p id="list">$tag</p>\n));

    insert_row('news', $_) for qw(one two);
    my $page = open_page('/view/log.shtml');
    like($page->html, qr{<p id="list">\[one\]\[two\]</p>}, 'the view shows the rows in place, without an element for the browser');

    my $before = status();
    my $poll = $page->start_poll;
    wait_waiting(1);
    ok($poll->is_silent, 'nothing happened, so the first poll waits');
    is(status()->{Answers}, $before->{Answers}, 'and nothing is answered');

    insert_row('news', 'three');
    my $answer = $page->finish_poll($poll);
    is(VaultTest::Page::text($answer), '<turbo-stream action="append" target="list"><template>[three]</template></turbo-stream>',
        'a row that comes while it waits is sent alone');
    is($answer->{updates}[0]{type}, 'text/html', 'as HTML');

    # Between the view and its first poll.
    $page = open_page('/view/log.shtml');
    like($page->html, qr/\[one\]\[two\]\[three\]/, 'another view');
    insert_row('news', 'four');
    insert_row('news', 'five');
    like(VaultTest::Page::text($page->poll), qr/<template>\[four\]\[five\]</, 'the first poll has what came in between, and only that');

    # The answer is lost: it comes again, the same and no more.
    insert_row('news', 'six');
    my $lost = $page->read_poll($page->start_poll);
    like(VaultTest::Page::text($lost), qr/\[six\]</, 'an answer that is lost');
    insert_row('news', 'seven');
    like(VaultTest::Page::text($page->poll), qr/<template>\[six\]\[seven\]</, 'comes again, with what is new');

    # The interest is created by the view, before the data: a row that comes while the HTML is on its way is not missed.
    site_file('/view/slow-log.shtml', qq(<!--#vault poll="/view/latest.shtml" -->\n<p id="list">$tag</p>\n)
            . qq(<!--#include virtual="/test/flush?after=html" -->\n));
    my $view = connect_to();
    $view->request(GET => '/view/slow-log.shtml', {Connection => 'close'});
    my $html = $view->read_until('[seven]</p>');
    wait_arrived('html', 1);
    insert_row('news', 'eight');
    open_barrier('html');
    $view->read_to_end;
    like(VaultTest::Page::text(VaultTest::Page->new({status => 200, body => $html})->poll), qr/<template>\[eight\]</,
        'a row that came after the data were read and before the HTML was complete');
}
finish();
