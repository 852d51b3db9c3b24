# SPDX-License-Identifier: Apache-2.0
# A browser sends the visitor's cookies with what a page of another site posts; it says so, too.
use strict;
use warnings;
use VaultTest;

my $host = 'localhost:' . port_of();
for my $row (
    [{}, 200, 'no browser'],
    [{'Sec-Fetch-Site' => 'same-origin', Origin => 'http://a.test'}, 200, 'a page of this site: a proxy may have changed Host'],
    [{'Sec-Fetch-Site' => 'none'}, 200, 'the visitor'],
    [{'Sec-Fetch-Site' => 'cross-site'}, 403, 'another site'],
    [{'Sec-Fetch-Site' => 'same-site'}, 403, 'another host of this site'],
    [{'Sec-Fetch-Site' => 'nonsense'}, 403, 'a value that is none'],
    [{Origin => "http://$host", Host => $host}, 200, 'by Origin: this site'],
    [{Origin => "https://$host", Host => $host}, 200, 'behind a proxy that does TLS'],
    [{Origin => 'http://LOCALHOST', Host => 'localhost'}, 200, 'in capitals'],
    [{Origin => 'http://evil.test', Host => $host}, 403, 'another host'],
    [{Origin => 'http://localhost:1', Host => $host}, 403, 'another port'],
    [{Origin => "http://evil.test?$host", Host => $host}, 403, 'a host in the wrong place'],
    [{Origin => "http://$host.evil.test", Host => $host}, 403, 'a host that begins like it'],
    [{Origin => 'null', Host => $host}, 403, 'a page without an origin'],
    [{Origin => '', Host => $host}, 403, 'an empty one'],
) {
    my ($headers, $status, $why) = @$row;
    my $answer = post('/vault/feed/tests/echo', 'x=1', headers => $headers);
    is($answer->{status}, $status, "$status: $why");
    like($answer->{body}, qr/^\{"error":"a page of another site may not do this"\}$/, '  with a sentence') if $status == 403;
}
is(get('/vault/feed/tests/echo', headers => {'Sec-Fetch-Site' => 'cross-site'})->{status}, 200, 'GET changes nothing, and who may read it is the browser\'s to say');

finish();
