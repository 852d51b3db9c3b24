# SPDX-License-Identifier: Apache-2.0
# A tag that cannot do what it says leaves mod_include's error text in the page and a sentence in the log, and no script.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

# What the tag says, and what the log says of it.
my @refused = (
    ['poll="//evil.example/x"', 'vault poll="//evil.example/x": a path of this server is needed', 'another host without a scheme'],
    ['poll="http://evil.example/"', 'vault poll="http://evil.example/": a path of this server is needed', 'another host'],
    ['poll="https:evil"', 'vault poll="https:evil": a path of this server is needed', 'a scheme without a host'],
    ['poll="javascript:alert(1)"', 'vault poll="javascript:alert(1)": a path of this server', 'not a place at all'],
    ['poll="/a b"', 'vault poll="/a b": a path of this server', 'a space'],
    ["poll=\"/a\tb\"", 'vault poll="/a\tb": a path of this server', 'a tab'],
    ["poll=\"/a\x01b\"", 'vault poll="/a\x01b": a path of this server', 'a control character'],
    ["poll=\"/a\x7fb\"", 'vault poll="/a\x7fb": a path of this server', 'the last control character'],
    ["poll=\"/caf\xc3\xa9\"", 'vault poll="/caf\xc3\xa9": a path of this server', 'letters that are not percent-encoded'],
    ['poll="/a#b"', 'vault poll="/a#b": a path of this server', 'a fragment'],
    ['poll=""', 'vault poll="": a path of this server', 'nothing'],
    ['poll="/' . 'x' x 1024 . '"', 'vault poll="/' . 'x' x 1024 . '": a path of this server', 'a URL longer than 1024 bytes'],
    ['', 'vault: the attribute poll="URL", stream="URL", bundle="URL", cached="URL" or session="KEY" is missing', 'no attribute'],
    ['bundle="/none.css"', 'vault bundle="/none.css": there is no VaultBundle of this URL', 'a bundle that there is not'],
    ['page="/x"', 'vault: unknown attribute "page"', 'an attribute that there is not'],
);
my $n = 0;
for my $row (@refused) {
    my ($tag, $sentence, $why) = @$row;
    my $path = '/view/refused-' . $n++ . '.shtml';
    site_file($path, "a <!--#vault $tag --> b\n");
    announce(qr/VLT00040: \Q$sentence\E.* in \S+\Q$path\E/);
    my $html = keeps(0, sub { text_of($path) }, "refused, and no page is left: $why");
    is($html, "a [ssi error] b\n", '  the page says so in place, and has no script');
}

# One bad tag does not take the good ones with it.
site_file('/view/mixed.shtml', qq(<!--#vault poll="//evil.example/" --><!--#vault poll="/test/echo?text=fine" -->\n));
announce(qr{VLT00040: vault poll="//evil.example/": .*mixed\.shtml});
is(open_page('/view/mixed.shtml')->poll->{updates}[0]{body}, 'fine', 'the other tag works');

# Too many methods.
site_file('/view/few/three.shtml', join '', map { qq(<!--#vault poll="/test/echo?text=$_" -->\n) } 1 .. 3);
announce(qr{VLT00040: vault poll="/test/echo\?text=3": no more pages, or no more methods on this page, are allowed in \S+three\.shtml});
my $page = open_page('/view/few/three.shtml');
like($page->html, qr/\[ssi error\]/, 'the third method of VaultMaxMethods 2 is refused');
is(VaultTest::Page::text($page->poll), '12', 'and the other two work');

# Where live pages are not allowed.
announce(qr{VLT00040: vault poll="/test/value": VaultLongPoll is off here in \S+/few/off/index\.shtml});
site_file('/view/few/off/index.shtml', qq(<!--#vault poll="/test/value" -->\n));
is(keeps(0, sub { text_of('/view/few/off/') }, 'VaultLongPoll Off leaves no page'), "[ssi error]\n", 'and says so in place');

# A method is no view: it cannot add methods.
announce(qr{VLT00030: method /view/adds\.shtml failed}, qr{VLT00040: vault poll="/test/pid": .* in \S+adds\.shtml});
site_file('/view/adds.shtml', qq(<!--#vault poll="/test/pid" -->\n));
live_shtml('/view/outer.shtml', '/view/adds.shtml');
$page = open_page('/view/outer.shtml');
my $poll = $page->start_poll;
wait_waiting(1);
pass('a method that would add a method fails, and its page waits');
$poll->close;
wait_waiting(0);

finish();
