# SPDX-License-Identifier: Apache-2.0
# VaultCache On keeps the responses of any handler until a dependency changes, by the rules of an HTTP cache.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

use constant WAITERS => 20;

my $users = vars('top_dir') . '/t/conf/site.users';
my $server = VaultTest::Server->start('kept', config => <<"END");
<Location "/kept/">
    SetHandler vault-test
    VaultCache On
</Location>
<Location "/kept/live/">
    VaultLongPoll On
</Location>
<Location "/kept/keyed/">
    VaultCacheKey "%{HTTP:Accept-Language}"
</Location>
<Location "/kept/users/">
    AuthType Basic
    AuthName tests
    AuthUserFile "$users"
    Require valid-user
</Location>
<Location "/kept/filtered/">
    Options +Includes
    <If "%{HTTP:X-Filter} == '1'">
        SetOutputFilter INCLUDES
    </If>
</Location>
<Location "/plain/">
    SetHandler vault-test
</Location>
<Directory "@{[site_path('/around')]}">
    Options +Includes
    AddType text/html .shtml
    AddOutputFilter INCLUDES .shtml
</Directory>
END
use_server($server);

my $SHARED = 'header=Vault-Shared:yes';
my $LONG = "$SHARED&header=Cache-Control:max-age=1000";

# A request, and whether the store answered.
sub ask
{
    my ($path, %with) = @_;
    my $before = status()->{Cached};
    my $answer = get($path, %with);
    return ($answer, status()->{Cached} - $before);
}

# How often the store answered of three requests.
sub kept
{
    my ($path, %with) = @_;
    my $n = 0;
    $n += (ask($path, %with))[1] for 1 .. 3;
    return $n;
}

# ---------------------------------------------------------------- what is kept
is(kept('/kept/echo?text=a&header=Cache-Control:max-age=1000'), 0, 'a handler that does not say that its answer is shared is not kept');
is(kept("/kept/echo?text=b&$SHARED"), 0, '... nor one of which nothing says when it changes');
is(kept("/kept/echo?text=c&$LONG"), 2, 'one that says both is');
is(kept('/kept/echo?text=d&header=Cache-Control:public,max-age=1000'), 0, '... not by Cache-Control: public alone');
is(kept("/kept/echo?text=e&$LONG&header=Set-Cookie:a=b"), 0, 'not with a cookie');
is(kept("/kept/echo?text=f&$SHARED&header=Cache-Control:private,max-age=1000"), 0, 'not if it is private');
is(kept("/kept/echo?text=g&$SHARED&header=Cache-Control:max-age=0"), 0, 'not if it is stale at once');
my $second = "$LONG&header=";    # another line of the same header
is(kept("/kept/echo?text=n&${second}Cache-Control:private"), 0, '... in a second line');
is(kept("/kept/echo?text=o&$LONG&err-header=Cache-Control:no-store"), 0, '... or among the headers that httpd keeps for errors');
is(kept("/kept/echo?text=p&$SHARED&err-header=Cache-Control:max-age=1000&header=Cache-Control:private"), 0, '... whichever is which');
is(kept("/kept/echo?text=q&${second}Vary:Accept-Encoding&header=Vary:*"), 0, '... or if a second line of Vary says that it varies by everything');
is(kept("/kept/echo?text=r&${second}Vary:Accept-Encoding&header=Vary:X-Not-Sent"), 2, 'a second line of Vary alone keeps no response from being kept');
is(kept("/kept/echo?text=s&$SHARED&header=Expires:Fri,+01+Jan+2100+00:00:00+GMT"), 2, 'an Expires that is far');
is(kept("/kept/echo?text=t&$SHARED&header=Expires:Fri,+01+Jan+2100+00:00:00+GMT&err-header=Expires:0"), 0, '... with another one that is over');
is(kept("/kept/echo?text=h&$LONG", headers => {Authorization => 'Basic YTpi'}), 0, 'not with credentials that the handler may read');
is(kept("/kept/echo?text=i&$LONG", method => 'POST', body => ''), 0, 'not for POST');
is(kept("/kept/status?code=503&$LONG"), 0, 'not if it failed');
is(kept("/plain/echo?text=j&header=Cache-Control:max-age=1000"), 0, 'not where VaultCache is off');
is(kept("/kept/users/echo?text=k&$LONG", headers => {Authorization => 'Basic YW5uYTpzZWNyZXQ='}), 0, 'not if the visitor has logged in');

# ---------------------------------------------------------------- one client does not change what others get
my @regular = (headers => {Cookie => 'known=1'});
for my $header ('Set-Cookie:a=b', 'Cache-Control:private', 'Vary:*') {
    my $path = "/kept/echo?text=stranger&$SHARED&header=Vault-Interest:stranger&stranger-header=$header";
    get($path) for 1 .. 2;
    get($path, @regular) for 1 .. 2;
    is((ask($path, @regular))[1], 1, "$header for one client: the others have a kept answer");
}

# ---------------------------------------------------------------- HTTP
my ($answer, $cached) = ask("/kept/echo?text=c&$LONG");
is($cached, 1, 'the kept answer');
is($answer->{body}, 'c', '... has the body');
is($answer->{headers}{'content-length'}, 1, '... its length');
like($answer->{headers}{age}, qr/^\d+$/, '... its age');
my $etag = $answer->{headers}{etag};
like($etag, qr/^"[0-9a-f]+"$/, '... and a strong entity tag');
is((ask("/kept/echo?text=c&$LONG", headers => {'If-None-Match' => $etag}))[0]{status}, 304, 'it is not sent again');
is((ask("/kept/echo?text=c&$LONG", headers => {'If-None-Match' => '"0"'}))[0]{status}, 200, '... unless it is another one');
($answer, $cached) = ask("/kept/echo?text=c&$LONG", method => 'HEAD');
is("$cached $answer->{headers}{'content-length'} [$answer->{body}]", '1 1 []', 'HEAD');
ask("/kept/echo?text=0123456789&$LONG");
($answer, $cached) = ask("/kept/echo?text=0123456789&$LONG", headers => {Range => 'bytes=2-4'});
is("$cached $answer->{status} $answer->{body}", '1 206 234', 'a range');
is((ask("/kept/echo?text=c&$LONG", headers => {'Cache-Control' => 'no-cache'}))[1], 0, 'a client may ask for a new one');
is((ask("/kept/echo?text=c&$LONG", headers => {'Pragma' => 'no-cache'}))[1], 0, '... as in HTTP/1.0');

my $varied = "/kept/said?name=Accept-Language&$LONG&header=Vary:Accept-Language";
for my $round (0, 1) {
    for my $language (qw(de en fr)) {
        ($answer, $cached) = ask($varied, headers => {'Accept-Language' => $language});
        is("$answer->{body} $cached", "$language $round", $round ? '... which is kept beside the others' : "Vary: the answer for $language");
    }
}
my $asks = sub { return join ' ', map { (ask($varied, headers => {'Accept-Language' => $_}))[1] } @_ };
$asks->(map { "x-$_" } 1 .. 12);
is($asks->('x-5', 'x-12', 'x-4', 'de'), '1 1 0 0', '... up to eight of a URL, those that were used last');
for my $language (qw(de en de en)) {
    ($answer, $cached) = ask('/kept/keyed/said?name=Accept-Language&header=Cache-Control:max-age=1000', headers => {'Accept-Language' => $language});
    is($answer->{body}, $language, "VaultCacheKey: the answer for $language");
}
is($cached, 1, '... which is kept, although its handler says nothing');
is(kept("/kept/said?name=X&$LONG&header=Vary:*"), 0, 'Vary: * is not kept');

is((ask("/kept/echo?text=c&$LONG"))[1], 1, 'it is kept for this name');
is((ask("/kept/echo?text=c&$LONG", headers => {Host => 'another.example'}))[1], 0, '... and not for another one, which its handler may have written');
is((ask("/kept//echo?text=c&$LONG"))[1], 0, '... nor for another spelling of the path');
is(kept("/kept/echo?text=body&$LONG", headers => {'Content-Length' => 0}), 0, 'a request with a body is not answered from the store');

# ---------------------------------------------------------------- filters that some requests have
my $element = '%3C%21--%23echo+var%3D%22REMOTE_ADDR%22+--%3E';
is(kept("/kept/filtered/echo?text=$element&$LONG"), 2, 'without the filter: kept');
($answer, $cached) = ask("/kept/filtered/echo?text=$element&$LONG", headers => {'X-Filter' => 1});
is("$cached $answer->{body}", '0 127.0.0.1', 'with it: another response');
is(kept("/kept/filtered/echo?text=$element&$LONG", headers => {'X-Filter' => 1}), 0, '... which is personal, as a handler has written the SSI');

# ---------------------------------------------------------------- interests
my $value = "/kept/value?name=v&$SHARED&header=Vault-Interest:value";
sub set_value { return text_of("/plain/set?name=v&value=$_[0]") }
set_value('one');
is((ask($value))[0]{body}, 'one', 'the first answer names its interest');
is((ask($value))[1], 0, '... which is held from the next one on');
is((ask($value))[1], 1, '... and then it is kept');
set_value('two');
is((ask($value))[0]{body}, 'one', 'before a notify');
text_of('/plain/notify?interest=value');
is((ask($value))[0]{body}, 'two', 'after a notify it is never the old one');
is((ask($value))[1], 1, '... and kept again');

# ---------------------------------------------------------------- parts of pages that are neither kept nor live
site_file('/around/page.shtml', qq([<!--#vault cached="/kept/value?name=v&$SHARED&header=Vault-Interest:part" -->]));
my $parts = status()->{Parts};
is(text_of('/around/page.shtml'), '[two]', 'a page that is not kept has a part that is') for 1 .. 3;
is(status()->{Parts} - $parts, 1, '... of a handler that says so, where only VaultCache is On');

# ---------------------------------------------------------------- how many interests
my $of = sub { "/kept/echo?text=many&$SHARED&header=Vault-Interest:" . join '%2C', map { "i$_" } @_ };
is(kept($of->(1 .. 32)), 1, 'an answer can depend on 32 interests: the first one tells which, the second one is kept');
is(kept($of->(1 .. 33)), 0, '... one of more is not kept');

# ---------------------------------------------------------------- a live page
is(kept("/kept/live/echo?text=x&$SHARED&header=Vault-Poll:/kept/echo&header=Vault-Interest:x"), 1, 'a live page of an application is kept');
is(kept("/kept/live/told?$SHARED&header=Vault-Poll:/kept/echo&header=Vault-Interest:x"), 0, '... not if a header names it');

# ---------------------------------------------------------------- one renders, the others wait without a thread
SKIP: {
    skip 'no request can wait without a thread', 5 unless have_parking();
    my $slow = "/kept/wait?before=gate&$SHARED&header=Vault-Interest:slow";
    open_barrier('gate');
    get($slow) for 1 .. 2;    # it is known to be shared from the second one on
    text_of('/plain/close?name=gate');
    text_of('/plain/notify?interest=slow');
    my $each = "/kept/wait?before=each&$SHARED&header=Vault-Interest:each&header=Vary:Accept-Language";
    my @languages = map { {'Accept-Language' => $_} } qw(de en de en);
    open_barrier('each');
    for my $headers (@languages) { get($each, headers => $headers) }
    text_of('/plain/close?name=each');
    text_of('/plain/notify?interest=each');
    my @each = map { my $c = connect_to(); $c->request(GET => $each, $_); $c } @languages;
    wait_arrived('each', 2);
    wait_waiting(2);
    is(arrived('each'), 2, 'of two variants one request each renders');
    open_barrier('each');
    is_deeply([map { $_->response->{status} } @each], [(200) x 4], '... and all are answered');

    my @all = map { my $c = connect_to(); $c->request(GET => $slow); $c } 1 .. WAITERS;
    wait_arrived('gate', 1);
    wait_waiting(WAITERS - 1);
    is(arrived('gate'), 1, 'one of them renders');
    open_barrier('gate');
    is_deeply([map { $_->response->{status} } @all], [(200) x WAITERS], 'all are answered');
    is(arrived('gate'), 1, 'it was not rendered again');
}
finish();
