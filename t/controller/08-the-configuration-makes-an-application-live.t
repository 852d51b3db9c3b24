# SPDX-License-Identifier: Apache-2.0
# VaultPoll and VaultInterest make an application live that cannot be changed: files, scripts, anything that renders HTML.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;
use VaultTest::Page qw(texts vault_headers);

my $page_of = qr{<script [^>]*data-vault-page="([^"]+)" defer></script>};
my $config = <<'END';
<Location "/plain/">
    SetHandler vault-test
    VaultLongPoll On
    VaultPoll "/plain/rows?name=c08&of=%{escape:%{QUERY_STRING}}" "%{QUERY_STRING} !~ /still/"
    VaultPoll /plain/get?name=c08-other
    VaultInterest "c08-%{QUERY_STRING}" "%{QUERY_STRING} =~ /^name=/"
    VaultInterest "c08-everything, 100%"
</Location>
<Location "/plain/quiet/">
    VaultPoll Off
</Location>
<Location "/dead/">
    SetHandler vault-test
    VaultPoll /plain/rows
    VaultInterest c08-dead
</Location>
<Location "/plain/to-dead/">
    VaultPoll /dead/echo?text=x
</Location>
END
use_server(VaultTest::Server->start('declared', config => $config));

my $page = open_page('/plain/echo?text=%3Cp%3Ehello%3C/p%3E');
like($page->html, $page_of, 'HTML gets the script');
is($page->{answer}{headers}{'cache-control'}, 'private, no-store', '... and is kept by no cache');
$page->news;
my $methods = JSON::PP::decode_json(text_of('/vault/status?page=' . $page->id))->{Methods};
is(join(' ', sort map { $_->{URL} // $_->{url} // $_->{Url} } @$methods), '/plain/get?name=c08-other /plain/rows?name=c08&of=text=%253Cp%253Ehello%253C/p%253E', 'both methods');

my $poll = $page->start_poll;
wait_waiting(1);
text_of('/test/add?name=c08');
ok($poll->is_silent, 'it waits');
text_of('/test/notify?interest=c08-everything, 100%25' =~ s/ /%20/r);
like(texts($page->finish_poll($poll)), qr/^\d+\n/, 'an interest of the configuration is taken as it is, and wakes');

unlike(text_of('/plain/echo?text=x&type=text/css'), $page_of, 'a style sheet gets none');
unlike(text_of('/plain/quiet/echo?text=x'), $page_of, 'nor does a page where it is Off');
unlike(get('/plain/status?code=404')->{body}, $page_of, 'nor an error');
unlike(text_of('/plain/echo?text=x&header=Vault-Stream:/plain/rows'), $page_of, 'nor a page that has a client of its own');
unlike(text_of('/dead/echo?text=x'), $page_of, 'nor a page where VaultLongPoll is off');
my $still = open_page('/plain/echo?text=still');
$still->news;
is(scalar @{JSON::PP::decode_json(text_of('/vault/status?page=' . $still->id))->{Methods}}, 1, 'a condition that does not hold leaves its method out');

my $deaf = open_page('/plain/to-dead/echo?text=x');
announce(qr{vault:warn\].*VLT00064: VaultInterest of /dead/echo has no effect: VaultLongPoll is off there});
$deaf->news;
unlike(text_of('/vault/status?page=' . $deaf->id), qr/c08-dead/, 'an interest of a method where VaultLongPoll is off does not count, and the log says so');

# What stops the start.
accepts("VaultPoll /a\nVaultPoll Off\nVaultInterest a\nVaultInterest Off\n<Location /b>\nVaultPoll \"/x%{QUERY_STRING}\" \"%{REQUEST_METHOD} == 'GET'\"\n</Location>\n", 'rules');
refuses("VaultPoll $_\n", qr/^VaultPoll \Q$_\E: a path of this server is accepted that begins with one slash, or an expression/, "VaultPoll $_") for 'latest', 'http://a/', '//a/b';
refuses("VaultPoll /a \"(\"\n", qr/^VaultPoll: "\(" is not an expression: /, 'a condition that is none');
refuses("VaultPoll \"/%{nonsense:\"\n", qr/^VaultPoll: "\/%\{nonsense:" is not an expression: /, 'an expression that is none');
refuses('VaultInterest ' . 'x' x 201 . "\n", qr/^VaultInterest "x{40}": the name of an interest, of 1 to 200 bytes, is accepted, or an expression/, 'a name that is too long');
my $headers = "LoadModule headers_module \"@{[VaultTest::Server::_modules_dir()]}/mod_headers.so\"\n";
for my $row (
    ['set Vault-Poll /x', 'VaultPoll'], ['always append Vault-Interest x', 'VaultInterest'], ['onsuccess add "vault-notify" x', 'VaultNotifyAfter'],
    ['setifempty Vault-Property a=b', 'a header that the application sends'], ['set Vault-Session a=b', 'a header that the application sends'],
    ['set Vault-Stream /x', 'a header that the application sends'], ['merge Vault-Shared yes', 'VaultCacheKey'],
) {
    my ($words, $remedy) = @$row;
    my ($code, $said) = checks("$headers<Location /x>\n<IfModule vault_module>\nHeader $words\n</IfModule>\n</Location>\n");
    is($code, 1, "Header $words stops the start");
    like($said, qr{VLT00332: \S+/httpd\.conf:\d+: Header \Q$words\E: what mod_headers adds comes too late to have an effect; \Q$remedy\E is accepted in its place}, '... with a sentence');
}
accepts("${headers}Header unset Vault-Poll\nHeader set X-Vault-Poll x\nRequestHeader unset Vault-Page\n", 'other headers');

finish();
