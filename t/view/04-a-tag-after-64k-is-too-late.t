# SPDX-License-Identifier: Apache-2.0
# The beginning of a page is held back so that a tag may come late in it; a tag that comes after the header has gone is told so.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

my $POLL = '<!--#vault poll="/test/value" -->';
my $KILOBYTE = 'x' x 1023 . "\n";

site_file('/view/inside.shtml', $KILOBYTE x 60 . "$POLL\n" . $KILOBYTE x 60);
my $answer = get('/view/inside.shtml');
is($answer->{headers}{'cache-control'}, 'private, no-store', 'a tag after 60 KB still decides about the header');
ok(is_kept($answer->{body}), 'and the page is live');
like($answer->{body}, qr/^x{1023}\n.*x{1023}\n$/s, 'with all of its HTML');
is(length($answer->{body}) - length(($answer->{body} =~ /(<script.*?<\/script>)/)[0]), 120 * 1024 + 1, 'no byte lost');

announce(qr{VLT00040: vault poll="/test/value": the header of the page has been sent: move the tag nearer to the top in \S+/late\.shtml});
site_file('/view/late.shtml', '<!--#include virtual="/test/big?bytes=100000" -->' x 2 . "$POLL\n");
$answer = keeps(0, sub { get('/view/late.shtml') }, 'a tag after 200 KB makes no page');
is($answer->{status}, 200, 'the page is shown');
like($answer->{body}, qr/\[ssi error\]\n$/, 'with an error in its place');
unlike($answer->{body}, qr/data-vault-page/, 'and no script');

announce(qr{VLT00040: vault poll="/test/value": the header of the page has been sent: move the tag nearer to the top in \S+/flushed\.shtml});
site_file('/view/flushed.shtml', qq(top <!--#include virtual="/test/flush" -->$POLL\n));
$answer = keeps(0, sub { get('/view/flushed.shtml') }, 'a tag after a flush makes no page');
like($answer->{body}, qr/^top \[ssi error\]$/, 'and says so');

site_file('/view/early.shtml', qq($POLL<!--#include virtual="/test/flush" -->) . $KILOBYTE x 200 . "<!--#vault poll=\"/test/pid\" -->end\n");
$answer = get('/view/early.shtml');
ok(is_kept($answer->{body}), 'a page that has its first tag in time');
like($answer->{body}, qr/\nend$/, '... may add methods to its end');

finish();
