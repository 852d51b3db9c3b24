# SPDX-License-Identifier: Apache-2.0
# Vault-Poll in the answer of whatever handler makes its HTML a live page: the script element is put in, and nothing of the headers is left.
use strict;
use warnings;
use VaultTest;
use VaultTest::Page qw(texts vault_headers);

my $METHOD = '/test/rows?name=c01%26interest=c01';

sub view { my ($text, $more) = @_; return '/test/echo?text=' . $text . '&header=Vault-Poll:' . $METHOD . ($more // '') }

# The place.
for my $row (
    ['<head><title>t</title></head><body>b</body>', '<head><title>t</title>|</head><body>b</body>', 'before the end of the head'],
    ['<title></head></title><p>text</body>', '<title></head></title><p>text|</body>', 'not where it only looks so'],
    ['<p>text', '<p>text|', 'at the end'],
    ['', '|', 'of nothing'],
    ['<p><!--vault--></p></head>', '<p>|<!--vault--></p></head>', 'where the author says'],
) {
    my ($html, $wanted, $why) = @$row;
    my $answer = get(view($html =~ s/([<>])/sprintf '%%%02X', ord $1/ger));
    my ($script) = $answer->{body} =~ m{(<script src="/vault/vault\.js" data-vault-page="[0-9a-f]{40}" defer></script>)};
    is($answer->{body}, $wanted =~ s/\|/$script \/\/ 'no script'/er, "the script: $why");
    is(vault_headers($answer), '', 'no header is left');
    is($answer->{headers}{'cache-control'}, 'private, no-store', 'no cache keeps it');
}

# The page lives.
my $page = open_page(view('x', '&header=Content-Length:1'));
is(length $page->html, 1 + length 'script src="/vault/vault.js" data-vault-page="" defer></script>' . ' ' x 41, 'a length that the handler said does not hold any more');
text_of('/test/add?name=c01');
is(VaultTest::Page::text($page->poll), "1\n", 'and the page lives');
my $poll = $page->start_poll;
wait_waiting(1);
text_of('/test/add?name=c01&notify=c01');
is(VaultTest::Page::text($page->finish_poll($poll)), "2\n", 'on');

# Several methods, in lists and in several headers; a property.
my $two = open_page(view('x', ',/test/property?key=a&header=Vault-Poll:/test/property?key=b%26&header=Vault-Property:a=1%2525%252C,%20B=2'));
is(texts($two->poll), "1\n2\n|1%,|2", 'methods and properties in lists');

# Not a page.
sub no_page
{
    my ($path, $why, %with) = @_;
    my $answer = get($path, %with);
    unlike($answer->{body}, qr/data-vault-page/, "$why: no page");
    is(vault_headers($answer), '', '... and no header');
    return $answer;
}
my $before = status()->{Pages};
tolerate(qr/VLT00064/);    # the first of this server's life
no_page('/closed/echo?text=x&header=Vault-Poll:/test/echo', 'VaultLongPoll is off');
no_page(view('x', '&fail=404'), 'an error');
no_page(view('x') . '&err-header=Vault-Poll:/test/echo&fail=500', 'an error, with headers for errors');
no_page(view('x', '&fail=304'), '304');
no_page(view('x', '&fail=204'), '204');
no_page(view('x', '&fail=302&header=Location:/'), 'a redirect');
no_page(view('x'), 'HEAD', method => 'HEAD');
for my $row (
    [view('x', '&type=text/plain'), 'is not HTML', 'plain text'],
    [view('x', '&type=text/html;charset=UTF-16'), 'UTF-16', 'another encoding'],
    [view('x', '&header=Content-Encoding:gzip'), 'is compressed', 'compressed by the application'],
    [view('x', ',2'), 'a path begins with a slash, and a comma in it is written %2C', 'a comma in an URL', 1],
    ['/test/echo?text=x&header=Vault-Poll://example.com/', 'it is not a path of this server', 'another server'],
    ['/test/echo?text=x&header=Vault-Poll:http://example.com/', 'it is not a path of this server', 'another server, in full'],
) {
    my ($path, $sentence, $why, $page) = @$row;
    announce(qr/VLT00062: Vault-Poll: .*\Q$sentence\E/);
    $page ? open_page($path) : no_page($path, $why);
}
announce(qr/VLT00062: Vault-Property: .*key=value is needed/);
open_page(view('x', '&header=Vault-Property:nonsense'));
announce(qr/VLT00062: Vault-Property: .*too long/);
open_page(view('x', '&header=Vault-Property:' . 'k' x 65 . '=v'));
announce(qr/VLT00062: Vault-Update: .*one word/);
open_page(view('x', '&header=Vault-Update:two%20words'));

# Ranges, and what was there before: the HTML is one browser's and whole.
my $range = get(view('0123456789'), headers => {Range => 'bytes=2-3', 'If-None-Match' => '*'});
is($range->{status}, 200, 'no range');
like($range->{body}, qr/^0123456789<script/, '... of a page');

# An include that asks for a page: the script comes after it.
SKIP: {
    skip 'no mod_include', 1 unless have_module('include');
    require VaultTest::Site;
    VaultTest::Site::site_file('/view/c01.shtml', '<head></head><body><!--#include virtual="/test/echo?text=in&header=Vault-Poll:/test/echo?text=" --></body>');
    like(text_of('/view/c01.shtml'), qr{^<head></head><body>in<script [^>]+></script></body>}, 'an include makes a page of the document around it');
    VaultTest::Site::site_file('/view/c01-two.shtml',
        '<head><!--#vault poll="/test/echo?text=" --></head><body><!--#include virtual="/test/echo?text=in&header=Vault-Poll:/test/echo?text=a" --></body>');
    my $body = text_of('/view/c01-two.shtml');
    is(scalar(() = $body =~ /data-vault-page/g), 1, 'a page that has its script gets no second one');
}

finish();
