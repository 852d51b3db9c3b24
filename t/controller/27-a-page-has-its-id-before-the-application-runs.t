# SPDX-License-Identifier: Apache-2.0
# An application is told the id and the stream of the page that its answer may become: Vault-New-Page and Vault-Stream. No record is made for that.
use strict;
use warnings;
use VaultTest;
use VaultTest::Page qw(vault_headers);
use VaultTest::Site;

my $METHOD = '/test/rows?name=c27%26interest=c27';

# The id that an answer of /test/said was told, if what it was told fits together.
sub told
{
    my ($text) = @_;
    my ($id) = $text =~ /^Vault-New-Page: ([0-9a-f]{40})$/m or return '';
    return $text =~ m{^Vault-Stream: /vault/poll\?page=$id&as=html$}m ? $id : 'another id';
}

# Said to what may become a page.
my %seen;
my $pages = status()->{Pages};
for my $how (['GET', ''], ['POST', ''], ['GET', '?body=1']) {
    my $answer = get("/test/said$$how[1]", method => $$how[0]);
    my $id = told($answer->{body});
    like($id, qr/^[0-9a-f]{40}$/, "$$how[0] /test/said$$how[1]: told");
    is($seen{$id}++, 0, '... an id of its own');
    unlike($answer->{body}, qr/^Vault-Page:/m, '... and no page that it comes from');
    is(get("/vault/poll?page=$id&seq=0")->{status}, 410, '... which is no page until the answer becomes one');
}
is(status()->{Pages}, $pages, 'nothing was made for that');
unlike(get('/closed/said')->{body}, qr/^Vault-/m, 'not where VaultLongPoll is off');
unlike(get('/test/said', method => 'PUT')->{body}, qr/^Vault-/m, 'nor to a PUT');

# What was told comes true.
my $page = open_page("/test/said?type=text/html&header=Vault-Poll:$METHOD");
is(told($page->html), $page->id, 'the page has the id that its application was told');
is(vault_headers($page->{answer}), '', '... and its browser sees no header of it');
text_of('/test/add?name=c27');
is(VaultTest::Page::text($page->poll), "1\n", '... and lives');
is(status()->{Pages}, $pages + 1, '... as one page');

# A request of a page, and a method, are told their page, and no new one.
for my $text (get('/test/said', headers => {'X-Vault-Page' => $page->id})->{body}, VaultTest::Page::text(live_page(['/test/said'])->poll)) {
    like($text, qr/^Vault-Page: [0-9a-f]{40}$/m, 'who has a page is told that one');
    unlike($text, qr/^Vault-(New-Page|Stream):/m, '... and no other');
}
like(told(get('/test/said', headers => {'X-Vault-Page' => '0' x 40})->{body}), qr/^[0-9a-f]{40}$/, 'an unknown page is none');

# No browser says it.
my $id = '0123456789abcdef' x 2 . '00000001';
for my $name ('Vault-New-Page', 'VAULT_NEW_PAGE', 'vault.stream', 'Vault-Stream') {
    for my $path ('/test/said', '/closed/said') {
        my $answer = get($path, headers => {$name => $id});
        unlike($answer->{body}, qr/$id/, "$name does not get to $path") if $answer->{status} != 400;
    }
}
SKIP: {
    skip 'no chunks', 2 unless port_of('merge_trailers');
    my $connection = connect_to(vhost => 'merge_trailers');
    $connection->request('POST', '/test/said?body=1', {'Transfer-Encoding' => 'chunked', Connection => 'close'});
    my $body = $connection->send_raw("1\r\nx\r\n0\r\nVault-New-Page: $id\r\nvault_stream: /$id\r\n\r\n")->response->{body};
    unlike($body, qr/$id/, 'nor in trailers');
    like(told($body), qr/^[0-9a-f]{40}$/, '... and what is true stays');
}

# Through the ways inside of httpd: SSI shows it, and so do its includes.
my $echo = '<i><!--#echo var="HTTP_VAULT_NEW_PAGE" --></i><b><!--#echo var="HTTP_VAULT_STREAM" --></b>';
live_shtml('/view/named.shtml', $METHOD, $echo);
live_shtml('/view/named/index.shtml', $METHOD, $echo);
live_shtml('/view/named-around.shtml', $METHOD, '<!--#include virtual="named-part.shtml" -->');
site_file('/view/named-part.shtml', $echo);
for my $way (['/view/named.shtml', 'SSI'], ['/view/named/', 'DirectoryIndex'], ['/view/named-around.shtml', 'an include'], ['/test/redirect?to=/view/named.shtml', 'an internal redirect']) {
    my ($path, $how) = @$way;
    my $shown = keeps(1, sub { open_page($path) }, "$how: one page");
    is(join('', $shown->html =~ m{<i>(.*?)</i>}), $shown->id, '... of that id');
    is(join('', $shown->html =~ m{<b>(.*?)</b>}), '/vault/poll?page=' . $shown->id . '&amp;as=html', '... and that stream');
}

finish();
