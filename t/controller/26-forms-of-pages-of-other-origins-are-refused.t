# SPDX-License-Identifier: Apache-2.0
# VaultSameOrigin keeps what pages of other origins send from every kind of handler, and vault.same_origin(r) says the same to Lua, by one
# table of what browsers say of themselves.
use strict;
use warnings;
use VaultTest;
use VaultTest::Application;
use VaultTest::Lua;
use VaultTest::Site;

my @ROWS = (
    [{}, 1, 'no browser'],
    [{'Sec-Fetch-Site' => 'same-origin', Origin => 'http://a.test'}, 1, 'a page of this site: a proxy may have changed Host'],
    [{'Sec-Fetch-Site' => 'same-origin', Origin => 'null'}, 1, 'a page of this site that sends no referrer'],
    [{'Sec-Fetch-Site' => 'none'}, 1, 'the visitor'],
    [{'Sec-Fetch-Site' => 'cross-site'}, 0, 'another site'],
    [{'Sec-Fetch-Site' => 'same-site', Origin => 'http://HOST'}, 0, 'another host of this site'],
    [{'Sec-Fetch-Site' => ''}, 0, 'an empty value'],
    [{Origin => 'http://HOST'}, 1, 'by Origin: this site'],
    [{Origin => 'https://HOST'}, 1, '... behind a proxy that does TLS'],
    [{Origin => 'http://evil.test'}, 0, '... another host'],
    [{Origin => 'http://localhost:1'}, 0, '... another port'],
    [{Origin => 'http://HOST.evil.test'}, 0, '... a host that begins like it'],
    [{Origin => 'http://evil.test/http://HOST'}, 0, '... a host in the wrong place'],
    [{Origin => 'null'}, 0, '... a page without an origin'],
    [{Origin => ''}, 0, '... an empty one'],
    [{Origin => 'HOST'}, 0, '... a host without a scheme'],
);

my ($top, $logs) = (vars('top_dir'), vars('t_logs'));
my $raw = VaultTest::Application->raw;
site_file('/guarded/here.html', 'a file');
site_file('/elsewhere.html', 'where mod_dir leads');
use_server(VaultTest::Server->start('same-origin', config => VaultTest::Application->config($raw) . <<"END"));
<Location "/guarded/">
    VaultSameOrigin On
</Location>
<Location "/guarded/open/">
    VaultSameOrigin Off
</Location>
<Location "/guarded/fallback/">
    FallbackResource /elsewhere.html
</Location>
<Location "/into/">
    FallbackResource /guarded/here.html
</Location>
<Location "/guarded/queue">
    VaultQosLimit 1
    SetHandler vault-test
</Location>
VaultFeed tests "$top/modules/vault_feed_test.so" word=hello
<Location "/guarded/">
    VaultPath /guarded
</Location>
<Location "/guarded/feed">
    SetHandler vault-feed
    VaultFeedExpose tests echo
    VaultLongPollOrigin http://friend.test
</Location>
END

my $host = 'localhost:' . port_of();
sub headers { my ($row) = @_; my %headers = %{$row->[0]}; s/HOST/$host/ for values %headers; return {Host => $host, %headers} }

# ---------------------------------------------------------------- the directive
my $backend = $raw->path_for("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
for my $row (@ROWS) {
    my ($headers, $same, $why) = (headers($row), @$row[1, 2]);
    is(post($backend, 'x=1', headers => $headers)->{status}, $same ? 200 : 403, "a backend behind a proxy, POST: $why");
}
my %evil = (Host => $host, Origin => 'http://evil.test');
announce(qr/AH00135: Invalid method in request NONSENSE/);
for my $method (qw(POST PUT DELETE PATCH PROPFIND NONSENSE)) {
    is(get('/guarded/here.html', method => $method, headers => \%evil)->{status}, 403, "$method of a file, for another site");
    isnt(get('/guarded/here.html', method => $method, headers => {Host => $host})->{status}, 403, '... for no site');
}
is(get('/guarded/here.html', method => $_, headers => {%evil, 'Sec-Fetch-Site' => 'cross-site'})->{status}, 200, "$_: a link on another site") for qw(GET HEAD OPTIONS);
is(post('/guarded/fallback/form', 'x=1', headers => \%evil)->{status}, 403, 'a URL that mod_dir leads out of the location');
isnt(post('/guarded/fallback/form', 'x=1', headers => {Host => $host})->{status}, 403, '... and for this site');
is(post('/into/form', 'x=1', headers => \%evil)->{status}, 403, 'one that mod_dir leads into it');
isnt(post('/guarded/open/form', 'x=1', headers => \%evil)->{status}, 403, 'Off in a narrower location');
isnt(post('/here.html', 'x=1', headers => \%evil)->{status}, 403, 'where it is not said');
my %friend = (Host => $host, Origin => 'http://friend.test');
is(post('/guarded/feed/tests/echo', 'x=1', headers => \%friend)->{status}, 200, 'our own URLs are for whom VaultLongPollOrigin names');
is(post('/guarded/feed/tests/echo', 'x=1', headers => \%evil)->{status}, 403, '... and no others');
is(post('/guarded/queue', '', headers => \%evil)->{status}, 403, 'where VaultQosLimit holds');
my ($place) = grep { $_->{Location} =~ m{/guarded/queue$} } @{status_of_children()->{Qos}};
is($place->{Admitted}, 0, '... no place was taken for it');

# ---------------------------------------------------------------- Lua
SKIP: {
    skip 'no Lua', scalar @ROWS + 2 unless -f "$top/lua/vault.so" && have_module('lua');
    start_lua('same-origin-lua');
    $host = 'localhost:' . port_of();
    for my $row (@ROWS) {
        is(lua_in('once', 'return vault.same_origin(r)', headers => headers($row)), $row->[1] ? 'true' : 'false', "Lua: $row->[2]");
    }
    is(lua_in('once', 'return vault.same_origin()'), "bad argument #1 to 'same_origin' (the request is needed, the r of handle(r), not a no value)", 'Lua: no request');
    is(post('/once/add.lua', 'request=x', headers => {Host => $host, Origin => 'http://evil.test'})->{status}, 403, 'the example asks');
}

finish();
