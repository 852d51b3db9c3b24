# SPDX-License-Identifier: Apache-2.0
# Poll, page, feed and notify are for pages of this origin; others are refused, unless VaultLongPollOrigin names theirs.
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use VaultTest;

my $FRIEND = 'https://www.example.test';
my $OTHER = 'http://other.test:8080';
my %FOREIGN = (Origin => 'https://evil.test', 'Sec-Fetch-Site' => 'cross-site');
my %FRIENDLY = (Origin => $FRIEND, 'Sec-Fetch-Site' => 'cross-site', Cookie => 'session=1');
my @URLS = (['/vault/poll', 'GET, POST'], ['/vault/page', 'POST'], ['/vault/feed/tests/echo', 'GET, POST'], ['/vault/notify', 'POST']);

sub header { return $_[0]{headers}{lc $_[1]} }
sub varies { return scalar grep { lc $_ eq 'origin' } split /\s*,\s*/, header($_[0], 'Vary') // '' }

# The question that a browser asks before a request that is not simple.
sub preflight
{
    my ($path, $origin, %more) = @_;
    return get($path, method => 'OPTIONS', headers => {Origin => $origin, 'Access-Control-Request-Method' => 'POST', %more});
}

sub is_readable
{
    my ($answer, $origin, $why) = @_;
    is(header($answer, 'Access-Control-Allow-Origin'), $origin, "$why: the page may read it");
    is(header($answer, 'Access-Control-Allow-Credentials'), $origin eq '*' ? undef : 'true', '  credentials');
    is(header($answer, 'Access-Control-Expose-Headers'), 'Retry-After, Vault-Superseded', '  what else it may read');
    ok(varies($answer), '  no cache gives it to another origin');
    return;
}

sub is_hidden
{
    my ($answer, $why) = @_;
    is(header($answer, $_), undef, "$why: no $_") for map { "Access-Control-Allow-$_" } qw(Origin Credentials Methods);
    return;
}

# ---------------------------------------------------------------- closed by default
my $page = live_page(['/test/rows?name=p15&interest=p15']);
for my $row (@URLS) {
    my ($url) = @$row;
    my $answer = post($url, 'interest=p15', headers => \%FOREIGN);
    is($answer->{status}, 403, "$url: another origin is refused");
    like($answer->{body}, qr/a page of another site may not do this/, '  with a sentence');
    is_hidden($answer, '  ');
    is_hidden(preflight($url, $FOREIGN{Origin}), '  before it asks');
}
is(get($page->path, headers => \%FOREIGN)->{status}, 403, 'a poll by GET');
is(get($page->path, headers => {'Sec-Fetch-Site' => 'cross-site'})->{status}, 403, 'a poll by a script element of another site');
is(get('/vault/feed/tests/echo', headers => \%FOREIGN)->{status}, 403, 'rows by GET, for another origin');
is(get('/vault/feed/tests/echo', headers => {'Sec-Fetch-Site' => 'cross-site'})->{status}, 200, 'a link from another site to rows');
text_of('/test/add?name=p15');
is(VaultTest::Page::text($page->poll), "1\n", 'none of it has touched the page');

# ---------------------------------------------------------------- open to some
use_server(VaultTest::Server->start('origins', config => <<"END"));
<IfModule !auth_basic_module>
    Error "the test needs mod_auth_basic"
</IfModule>
VaultFeed tests "@{[vars('top_dir')]}/modules/vault_feed_test.so" word=hello journal=@{[vars('t_logs')]}/origins-journal
<Location "/vault/">
    VaultLongPollOrigin $FRIEND HTTP://Other.test:8080 https://default.test:443
</Location>
<Location "/vault/page">
    SetHandler vault-page
</Location>
<Location "/vault/feed">
    SetHandler vault-feed
    VaultFeedExpose tests echo
</Location>
<Location "/vault/closed/">
    SetHandler vault-poll
    VaultLongPollOrigin Off
</Location>
<Location "/any/poll">
    SetHandler vault-poll
    VaultLongPollOrigin *
</Location>
<LocationMatch "^/login/">
    AuthType Basic
    AuthName tests
    AuthUserFile "@{[vars('top_dir')]}/t/conf/site.users"
    Require user anna
    VaultLongPollOrigin $FRIEND
</LocationMatch>
<Location "/login/poll">
    SetHandler vault-poll
</Location>
<Location "/login/test/">
    SetHandler vault-test
</Location>
END

for my $row (@URLS) {
    my ($url, $methods) = @$row;
    my $answer = preflight($url, $FRIEND, 'Access-Control-Request-Headers' => 'content-type');
    is($answer->{status}, 204, "$url: the browser may ask");
    is_readable($answer, $FRIEND, '  ');
    is(header($answer, 'Access-Control-Allow-Methods'), $methods, '  by which methods');
    like(header($answer, 'Access-Control-Allow-Headers'), qr/\bContent-Type\b.*\bX-Vault-Page\b/, '  with which headers');
    is(header($answer, 'Access-Control-Max-Age'), 600, '  and needs not ask again for a while');
    $answer = preflight($url, $FOREIGN{Origin});
    is($answer->{status}, 403, "$url: another origin may not");
    is_hidden($answer, '  ');
    ok(varies($answer), '  which depends on the origin');
}

$page = live_page(['/test/rows?name=p15&interest=p15']);
my $poll = $page->start_poll(undef, %FRIENDLY);
wait_waiting(1);
text_of('/test/add?name=p15&notify=p15');
my $answer = $page->finish_poll($poll);
is(VaultTest::Page::text($answer), "1\n", 'a poll that waited');
is_readable($answer, $FRIEND, 'its answer');
$poll = $page->start_poll(undef, %FRIENDLY);
wait_waiting(1);
my $newer = $page->start_poll(undef, %FRIENDLY, Origin => $OTHER);
$answer = $page->read_poll($poll);
is(header($answer, 'Vault-Superseded'), 1, 'a poll that was superseded');
is_readable($answer, $FRIEND, '  by one of another origin that may');
text_of('/test/add?name=p15&notify=p15');
is_readable($page->finish_poll($newer), $OTHER, 'that of the other');
is_readable(get('/vault/poll?page=' . '0' x 40 . '&seq=0', headers => \%FRIENDLY), $FRIEND, 'a page that is gone (410)');
is_readable(get('/vault/poll', headers => \%FRIENDLY), $FRIEND, 'a wrong request (400)');
is_readable(get('/vault/poll', method => 'PUT', headers => \%FRIENDLY), $FRIEND, 'a wrong method (405)');
is_readable(get('/vault/feed/tests/nonsense', headers => \%FRIENDLY), $FRIEND, 'a feed that is not exposed (404)');
is_readable(get('/vault/feed/tests/echo', headers => {Origin => 'https://default.test'}), 'https://default.test', 'the default port may be said');
my $own = get('/vault/poll?page=x&seq=0', headers => {'Sec-Fetch-Site' => 'same-origin'});
is($own->{status}, 410, 'this origin is asked nothing');
ok(varies($own), '  but its answers are no other\'s');
for my $origin ("$FRIEND.evil.test", 'https://www.example.test:8443', 'http://www.example.test', 'HTTPS://WWW.EXAMPLE.TEST', 'null', '*', "$FRIEND/", '') {
    is(get('/vault/poll?page=x&seq=0', headers => {Origin => $origin, 'Sec-Fetch-Site' => 'cross-site'})->{status}, 403, "not \"$origin\"");
}
is(get('/vault/closed/poll?page=x&seq=0', headers => \%FRIENDLY)->{status}, 403, 'Off closes a location below');

# ---------------------------------------------------------------- any origin, without credentials
my %any = (Origin => 'https://any.test', 'Sec-Fetch-Site' => 'cross-site');
is_readable(get('/any/poll?page=x&seq=0', headers => \%any), '*', 'any origin');
is_readable(preflight('/any/poll', $any{Origin}), '*', '... may ask');
for my $credentials ([Cookie => 'session=1'], [Authorization => 'Basic eDp5']) {
    $answer = get('/any/poll?page=x&seq=0', headers => {%any, @$credentials});
    is($answer->{status}, 403, "with $credentials->[0] it is refused");
    is_hidden($answer, '  ');
}

# ---------------------------------------------------------------- with a login
$answer = preflight('/login/poll', $FRIEND);
is($answer->{status}, 204, 'the question comes without a login');
is_readable($answer, $FRIEND, '  ');
is(preflight('/login/poll', $FOREIGN{Origin})->{status}, 401, '... which another origin needs to be told no');
is(get('/login/poll', method => 'OPTIONS', headers => {Origin => $FRIEND})->{status}, 401, 'OPTIONS that is no question needs it');
is(preflight('/login/test/pid', $FRIEND)->{status}, 403, 'no other handler sees what was let in for the question');
is(get('/login/poll?page=x&seq=0', headers => {Origin => $FRIEND})->{status}, 401, 'a poll needs it');
is_readable(get('/login/poll?page=x&seq=0', headers => {%FRIENDLY, Authorization => 'Basic ' . encode_base64('anna:secret', '')}), $FRIEND, 'and with it');

announce(qr{VLT00230: a page of another origin, https://evil\.test, may not do this});
finish();
