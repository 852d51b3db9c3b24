# SPDX-License-Identifier: Apache-2.0
# The tag <!--#vault poll="…" --> writes the client's script element once, whatever number of methods and includes a page has.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

my $SCRIPT = qr{<script src="/vault/vault\.js" data-vault-page="([0-9a-f]{40})" defer></script>};

site_file('/view/one.shtml', qq(<body><!--#vault poll="/test/value?name=a" --></body>\n));
my $html = text_of('/view/one.shtml');
like($html, qr{^<body>$SCRIPT</body>$}, 'the script element, as the protocol says, and nothing else');
isnt((text_of('/view/one.shtml') =~ $SCRIPT)[0], ($html =~ $SCRIPT)[0], 'each view is a page of its own');

site_file('/view/many.shtml', <<'END');
<!--#vault poll="/test/value?name=a" -->
<!--#vault poll="/test/value?name=b" poll="/test/value?name=c" -->
<!--#vault poll="/test/value?name=a" -->
<!--#include virtual="part.shtml" -->
END
site_file('/view/part.shtml', qq(part <!--#vault poll="/test/value?name=d" -->\n));
$html = text_of('/view/many.shtml');
is(scalar(() = $html =~ /<script/g), 1, 'four methods, one of them twice, one in an include: one script element');
like($html, qr{part $}m, 'the include is there');
text_of("/test/set?name=$_&value=$_-shown") for qw(a b c d);
my $page = open_page('/view/many.shtml');
my $answer = $page->poll;
is(join(' ', sort map { $_->{body} } @{$answer->{updates}}), 'a-shown b-shown c-shown d-shown', 'every method is asked, each once');
is(join(' ', sort map { $_->{method} } @{$answer->{updates}}), join(' ', map { "/test/value?name=$_" } qw(a b c d)),
    'by the names in the tags');

site_file('/view/relative.shtml', qq(<!--#vault poll="sub/latest?x=1" -->\n));
live_shtml('/view/sub/latest', '');
site_file('/view/sub/latest', 'relative');
$answer = open_page('/view/relative.shtml')->poll;
is($answer->{updates}[0]{method}, '/view/sub/latest?x=1', 'a relative URL is one beside the page');
is($answer->{updates}[0]{body}, 'relative', 'and is asked');

site_file('/view/branch.shtml', qq(<!--#if expr="false" --><!--#vault poll="/test/value" --><!--#endif -->plain\n));
keeps(0, sub { unlike(text_of('/view/branch.shtml'), $SCRIPT, 'a tag in a branch that is not taken does nothing') }, 'and no page');

site_file('/view/variable.shtml', qq(<!--#set var="x" value="b" --><!--#vault poll="/test/value?name=\${x}" -->\n));
is(open_page('/view/variable.shtml')->poll->{updates}[0]{body}, 'b-shown', 'variables of SSI are expanded');

finish();
