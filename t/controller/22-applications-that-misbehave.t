# SPDX-License-Identifier: Apache-2.0
# A backend that breaks off, says too much, compresses, or answers with a part: nothing of its headers reaches the browser, no half page
# stays, and no row is lost.
use strict;
use warnings;
use VaultTest;
use VaultTest::Application;
use VaultTest::Page qw(texts vault_headers);

plan(skip_all => 'no mod_proxy_http') unless have_module('proxy_http');
my $raw = VaultTest::Application->raw;
use_server(VaultTest::Server->start('raw', config => VaultTest::Application->config($raw) . qq(<Location "/raw/">\nVaultNotifyAfter raw-after\n</Location>\n)));

# ask(HEAD, BODY, …): what the browser gets of that answer; `\n` in the head is a line's end
sub path_of
{
    my ($head, $body, %with) = @_;
    return $raw->path_for(join("\r\n", split(/\n/, $head), '', '') . ($body // ''), %with);
}
sub ask { my ($head, $body, %with) = @_; return get(path_of($head, $body), %with) }

my $OK = "HTTP/1.1 200 OK\nContent-Type: text/html\nConnection: close";
my $POLL = 'Vault-Poll: /test/echo?text=lives';
my $pages = sub { return status()->{Pages} };

# Shapes of answers that are a page.
for my $row (
    [$OK . "\n$POLL", '<p>x</p>', 'to the end of the connection'],
    [$OK . "\nContent-Length: 8\nETag: \"x\"\nLast-Modified: Thu, 01 Jan 1970 00:00:00 GMT\nAccept-Ranges: bytes\n$POLL", '<p>x</p>', 'of a length'],
    [$OK . "\nTransfer-Encoding: chunked\n$POLL", "3\r\n<p>\r\n5\r\nx</p>\r\n0\r\n\r\n", 'in chunks'],
    ["HTTP/1.0 200 OK\nContent-Type: text/html\n$POLL", '<p>x</p>', 'of HTTP/1.0'],
    [$OK . "\nvault-poll:/test/echo?text=lives ,\nVAULT-POLL: ,,\nVault-Interest: x\nVault-Update: turbo", '<p>x</p>', 'odd spellings'],
    [$OK . "\nTransfer-Encoding: chunked\nTrailer: Vault-Poll\n$POLL", "8\r\n<p>x</p>\r\n0\r\nVault-Notify: x\r\nVault-Poll: /y\r\n\r\n", 'with a trailer'],
) {
    my ($head, $body, $why) = @$row;
    my $page = open_page(path_of($head, $body));
    like($page->html, qr{^<p>x</p><script .*</script>$}, "a page $why");
    is(vault_headers($page->{answer}), '', '... without a header of ours');
    is(join(' ', grep { exists $page->{answer}{headers}{$_} } qw(etag last-modified accept-ranges)), '', '... or one for caches');
    is(texts($page->poll), 'lives', '... that lives');
}
my $range = ask($OK . "\nAccept-Ranges: bytes\n$POLL", '0123456789', headers => {Range => 'bytes=1-2'});
is($range->{status}, 200, 'a range of a page is the whole');
like($range->{body}, qr/^0123456789<script/, '...');

# And those that are none.
my $before = $pages->();
for my $row (
    ["HTTP/1.1 304 Not Modified\nETag: \"x\"\nConnection: close\n$POLL", '', 304, 'not modified', {'If-None-Match' => '"x"'}],
    ["HTTP/1.1 206 Partial Content\nContent-Type: text/html\nContent-Range: bytes 1-2/10\nConnection: close\n$POLL", '12', 206, 'a part', {Range => 'bytes=1-2'}],
    ["HTTP/1.1 204 No Content\nConnection: close\n$POLL", '', 204, 'no content', {}],
    ["HTTP/1.1 404 Not Found\nContent-Type: text/html\nConnection: close\n$POLL", 'no', 404, 'not found', {}],
    ["HTTP/1.1 303 See Other\nLocation: /\nConnection: close\n$POLL", '', 303, 'a redirect', {}],
) {
    my ($head, $body, $status, $why, $headers) = @$row;
    my $answer = ask($head, $body, headers => $headers);
    is($answer->{status}, $status, $why);
    is(vault_headers($answer), '', '... without a header of ours');
    unlike($answer->{body}, qr/data-vault-page/, '... is no page');
}
my $head = get(path_of($OK . "\nContent-Length: 8\n$POLL", ''), method => 'HEAD');
is($head->{status} . vault_headers($head), '200', 'HEAD is answered without a header of ours');
announce(qr/VLT00062: Vault-Poll: .*compressed/);
my $gzip = ask($OK . "\nContent-Encoding: gzip\n$POLL", "\x1f\x8bnonsense");
is($gzip->{body}, "\x1f\x8bnonsense", 'what the application compressed is passed on as it is, and the log says why it is no page');

# It breaks off: half a page is none.
announce(qr/AH01102|AH10385|AH01110|AH02656|AH10149|AH00898|AH01097|AH02608/);
my $broken = connect_to();
$broken->request('GET', path_of($OK . "\nContent-Length: 1000\n$POLL", '<p>half'));
my $half = eval { $broken->read_to_end } // '';
my ($id) = $half =~ /data-vault-page="([0-9a-f]+)"/;
is(get('/vault/poll?seq=0&page=' . ($id // '0' x 40))->{status}, 410, 'a page that broke off is not kept');
is($pages->(), $before, 'none of these left a page');

# It says too much. Each piece is looked at; what a page may hold is bounded.
my @methods = map { "/test/echo?text=m$_" } 1 .. 200;
announce(qr/VLT00062: Vault-Poll: .*too many methods/) for 17 .. 200;
my $many = open_page(path_of($OK . join('', map { "\nVault-Poll: $_" } @methods[0 .. 49]) . "\nVault-Poll: " . join(', ', @methods[50 .. 199]), 'x'));
is(scalar @{$many->poll->{updates}}, 16, 'as many methods as a page may have');
my $notified = ask($OK . "\nVault-Notify: " . join(',', map { "n$_" } 1 .. 1000), 'x');
is($notified->{status}, 200, 'a thousand names to notify');
my $bomb = ask($OK . "\nVault-Property: a=" . 'x' x 20000 . "\n$POLL", 'x');
is(vault_headers($bomb), '', 'a header that is too long for the proxy: none of ours either');

# As a method: cut off, late, failing, and then well again. What was not shown comes.
announce(qr/VLT00030: method \/raw\//);
for my $row (
    [path_of($OK . "\nContent-Length: 1000\nVault-Interest: raw\nVault-Property: a=1", 'half'), 'half an answer'],
    [path_of($OK . "\nContent-Length: 1000\nVault-Interest: raw", 'half', endless => 1), 'an answer that never ends'],
    [path_of("HTTP/1.1 500 Oops\nContent-Type: text/html\nConnection: close\nVault-Property: a=1", 'x'), 'an error'],
    [path_of("HTTP/1.1 302 Found\nLocation: /login\nConnection: close\nVault-Property: a=1", 'log in'), 'a redirect'],
    [path_of($OK . "\nContent-Encoding: gzip\nVault-Property: a=1", "\x1f\x8b"), 'a compressed answer'],
) {
    my ($url, $why) = @$row;
    my $page = open_page(view_of($url, '/test/property?key=a', '/test/echo?text=other'));
    is(texts($page->poll), 'other', "$why: shows nothing, sets nothing, and disturbs no other method");
}
my $told = open_page(view_of(path_of($OK . "\nVault-Property: a=1", '@HEAD@')));
my $request = texts($told->poll);
like($request, qr/^Vault-Page: @{[$told->id]}\r$/m, 'a method is told its page');
unlike($request, qr/^(?:Accept-Encoding|If-None-Match|Range):/mi, '... and asked for no part and no encoding');

# It has committed, and dies, or is too slow, before it says Vault-Notify: VaultNotifyAfter says it.
my $waits = live_page(['/test/rows?name=c22&interest=raw-after']);
for my $row (
    [path_of('', ''), 502, 'dies without an answer'],
    # 502 where mod_proxy reads the half and its end at once: no header has been sent then.
    [path_of($OK . "\nContent-Length: 1000", 'half'), '(?:200|502)', 'dies within its answer'],
    [$raw->path_for('', endless => 1), 502, 'is too slow'],
) {
    my ($path, $status, $why) = @$row;
    my $poll = $waits->start_poll;
    wait_waiting(1);
    text_of('/test/add?name=c22');
    my $post = connect_to();
    $post->request('POST', $path, {'Content-Length' => 0, Connection => 'close'});
    like(texts($waits->finish_poll($poll)), qr/^\d+\n$/, "an application that $why: pages look");
    like($post->read_to_end, qr{^HTTP/1\.1 $status}, '... and the client is told');
}

finish();
