# SPDX-License-Identifier: Apache-2.0
# HTML that has a page's id in it belongs to one tab: no cache keeps it, no part of it is sent, there is no 304.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

live_shtml('/view/live.shtml', '/test/value', '<p>' . 'x' x 5000 . "</p>\n");
my $answer = get('/view/live.shtml');
is($answer->{status}, 200, 'a view');
is($answer->{headers}{'cache-control'}, 'private, no-store', 'no cache may keep it');
ok(!exists $answer->{headers}{$_}, "there is no $_") for qw(etag last-modified expires accept-ranges);

my %past = ('If-Modified-Since' => 'Fri, 31 Dec 2038 23:59:59 GMT');
is(get('/view/live.shtml', headers => $_)->{status}, 200, join(' ', %$_) . ' is answered with the page')
    for \%past, {'If-None-Match' => '*'}, {%past, 'If-None-Match' => '"x"'};

for my $range ('bytes=0-9', 'bytes=-1', 'bytes=0-0,5-6') {
    my $part = get('/view/live.shtml', headers => {Range => $range});
    is($part->{status}, 200, "Range: $range: the whole page");
    like($part->{body}, qr/xxxx<\/p>$/, '  down to its end');
    ok(!exists $part->{headers}{'content-range'}, '  and no part of it');
    ok(is_kept($part->{body}), '  and the page is live');
}

$answer = get('/view/live.shtml', method => 'POST', body => 'a=b', headers => {'Content-Type' => 'application/x-www-form-urlencoded'});
SKIP: {
    skip 'httpd does not answer POST for files', 0 if $answer->{status} == 405;
    ok(is_kept($answer->{body}), 'a view by POST has a page');
    is($answer->{headers}{'cache-control'}, 'private, no-store', 'that no cache may keep');
}
my $posted = post('/test/page?poll=/test/value', 'a=b');
ok(is_kept($posted->{body}), 'a view by POST of another handler, too');
is($posted->{headers}{'cache-control'}, 'private, no-store', 'and no cache may keep it');

site_file('/view/still.shtml', "still\n");
unlike(get('/view/still.shtml')->{headers}{'cache-control'} // '', qr/no-store/, 'HTML without a page may be cached as usual');

finish();
