# SPDX-License-Identifier: Apache-2.0
# Of headers of CGI and FastCGI httpd keeps most in another place than those of a proxy: what they say of the answer counts as well.
use strict;
use warnings;
use VaultTest;
use VaultTest::Application;
use VaultTest::Page qw(texts vault_headers);

my @scripts = VaultTest::Application->scripts;
plan(skip_all => 'neither mod_cgid nor PHP-FPM') unless @scripts;
use_server(VaultTest::Server->start('scripts', config => VaultTest::Application->config(@scripts)));

my $HTML = "Content-Type: text/html\n";
my $POLL = "Vault-Poll: /test/echo?text=lives\n";
my $GZIP = "\x1f\x8bnonsense";

for my $script (@scripts) {
    my $name = $script->{name};
    my $page_of = sub { return open_page($script->path_for("$HTML$POLL$_[0]\n<p>x</p>")) };

    announce(qr/VLT00062: Vault-Poll: .*compressed/);
    my $gzip = get($script->path_for("$HTML${POLL}Content-Encoding: gzip\n\n$GZIP"));
    is($gzip->{body}, $GZIP, "$name: what is compressed is passed on as it is, and the log says why it is no page");
    is(vault_headers($gzip), '', '... without a header of ours');

    announce(qr/VLT00030: method \Q$script->{script}\E\S* failed: its output is compressed/);
    my $method = $script->path_for("${HTML}Content-Encoding: gzip\nVault-Interest: script\nVault-Property: a=1\n\n$GZIP");
    my $page = open_page(view_of($method, '/test/property?key=a', '/test/echo?text=other'));
    is(texts($page->poll), 'other', "$name: a method that compresses shows nothing, and sets nothing");

    is(texts($page_of->("Content-Encoding: identity\n")->poll), 'lives', "$name: what says that it is not compressed is a page");
    $page = $page_of->("Content-Length: 8\nContent-MD5: x\nDigest: x\nETag: \"x\"\nLast-Modified: Thu, 01 Jan 1970 00:00:00 GMT\n"
            . "Cache-Control: public, max-age=3600\nExpires: Fri, 01 Jan 2100 00:00:00 GMT\nAccept-Ranges: bytes\n");
    like($page->html, qr{^<p>x</p><script .*</script>$}, "$name: a page is whole, whatever its length was before");
    my $headers = $page->{answer}{headers};
    is($headers->{'cache-control'}, 'private, no-store', '... kept by no cache');
    is(join(' ', grep { exists $headers->{$_} } qw(content-md5 digest etag last-modified expires accept-ranges)), '', '... and says nothing of what it was');
}

finish();
