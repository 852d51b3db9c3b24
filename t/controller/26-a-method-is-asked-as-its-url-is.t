# SPDX-License-Identifier: Apache-2.0
# The request of a method looks to the application as a request of a browser for the same URL does: with CGI, PHP-FPM, behind a proxy, and
# behind a front controller, which routes by REQUEST_URI.
use strict;
use warnings;
use VaultTest;
use VaultTest::Application;
use VaultTest::Page qw(texts);

my $raw = VaultTest::Application->raw;
my @tellers = VaultTest::Application->environments;
my $fronts = join '', map { "RewriteEngine On\nRewriteRule ^/front-$_->{name}/ $_->{script} [PT]\n" } @tellers;
use_server(VaultTest::Server->start(
    'fronts',
    config => VaultTest::Application->config(@tellers, $raw) . $fronts
        . qq(<Location "/asked/">\nSetHandler vault-test\nVaultLongPoll On\nVaultNotify Off\n</Location>\n)
));

# Of the connection, of httpd's clock, of what the module tells methods alone, and of what Accept is set to.
my $OTHER = qr/^(?:REMOTE_PORT|REQUEST_TIME\w*|UNIQUE_ID|HTTP_VAULT_\w+|HTTP_ACCEPT|HTTP_CONNECTION)$/;

sub environment
{
    my ($text) = @_;
    my %env = $text =~ /^(\w+)=(.*)$/mg;
    return \%env;
}

sub told_as_a_method
{
    my ($url, %headers) = @_;
    my $page = live_page([$url]);
    return texts($page->finish_poll($page->start_poll(undef, Accept => 'application/json', %headers)));
}

for my $teller (@tellers) {
    for my $url ("$teller->{script}/a%20b/c?x=1&y=%2F", $teller->{script}, "/front-$teller->{name}/wp-json/x?q=%C3%A9") {
        my $method = environment(told_as_a_method($url, 'If-None-Match' => '"x"'));
        my $browser = environment(text_of($url));
        is($method->{REQUEST_URI}, $url, "$url: REQUEST_URI");
        is($method->{HTTP_ACCEPT}, 'text/vnd.turbo-stream.html, text/html, */*;q=0.1', "$url: what it accepts");
        my @names = grep { !/$OTHER/ } sort keys %{{%$method, %$browser}};
        cmp_ok(scalar @names, '>', 10, "$url: variables");
        my @differ = grep { ($method->{$_} // 'none') ne ($browser->{$_} // 'none') } @names;
        is(join(', ', map { "$_: " . ($method->{$_} // 'none') . ' for ' . ($browser->{$_} // 'none') } @differ), '', "$url: the others are the same");
    }
}

my $path = $raw->path_for("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nVault-Interest: head\r\n\r\n\@HEAD\@");
my $head = told_as_a_method($path);
my ($line) = $head =~ /^(.*?)\r?\n/;
is($line, "GET $path HTTP/1.1", 'a backend behind a proxy: the request line');
like($head, qr{^Accept: text/vnd\.turbo-stream\.html, text/html, \*/\*;q=0\.1\r?$}m, '... and what is accepted');

finish();
