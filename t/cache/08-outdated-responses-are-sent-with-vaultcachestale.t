# SPDX-License-Identifier: Apache-2.0
# VaultCacheStale: an outdated response is sent while another request renders a new one, and in the place of an error. A live page that gets
# one is told at its first poll.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

use_server(VaultTest::Server->start('stale', size => "ThreadLimit 8\nThreadsPerChild 8\nStartServers 2\nMaxRequestWorkers 16\n", config => <<"END"));
<LocationMatch "^/(stale|strict)/">
    SetHandler vault-test
    VaultCache On
    VaultLongPoll On
</LocationMatch>
<Location "/stale/">
    VaultCacheStale 600
</Location>
<Directory "@{[site_path('/outdated')]}">
    Options +Includes
    AddType text/html .shtml .html
    AddOutputFilter INCLUDES .shtml
</Directory>
END

my %ANEW = (headers => {'Cache-Control' => 'no-cache'});
my $SHARED = 'header=Vault-Shared:yes';

# The URL of a handler that counts its runs, stops at the barrier NAME, and fails as the variable fail-NAME says.
sub counted
{
    my ($name, $where, $fails) = @_;
    open_barrier($name);
    return "/$where/add?name=$name&before=$name&" . ($fails // 'fail-as') . "=fail-$name&$SHARED&header=Vault-Interest:$name";
}

# Has the response kept, and then invalidated. The next run of the handler stops at the barrier.
sub invalidate
{
    my ($path, $name, $shown) = @_;
    is(get($path)->{body}, $shown, "$name is kept") for 1 .. 2;
    text_of("/test/close?name=$name");
    text_of("/test/notify?interest=$name");
    return;
}

# Sends a request, and returns its connection.
sub ask { my ($path, $headers) = @_; my $c = connect_to(); $c->request(GET => $path, $headers); return $c }

# ---------------------------------------------------------------- while another request renders
my $path = counted(s1 => 'stale');
get($path);
invalidate($path, s1 => '2');
my $leader = ask($path);
wait_arrived(s1 => 1);
my $answer = get($path);
is("$answer->{status} $answer->{body}", '200 2', 'while another request renders, the outdated response is sent');
like($answer->{headers}{age}, qr/^\d+$/, '... with its age');
ok(!defined $answer->{headers}{warning}, '... and no Warning, which RFC 9111 has done away with');
is(get($path, headers => {'If-None-Match' => $answer->{headers}{etag}})->{status}, 304, '... or not, to a client that has it');
is(arrived('s1'), 1, '... and nothing is rendered for it');
SKIP: {
    skip 'no request can wait without a thread', 6 unless have_parking();
    my @patient = map { ask($path, {'Cache-Control' => $_}) } 'max-age=0', 'min-fresh=1';
    wait_waiting(2);
    pass('clients that want a young response wait');
    push @patient, ask($path, {'Cache-Control' => 'no-cache'});
    wait_arrived(s1 => 2);
    pass('... and one that wants a new one renders it');
    open_barrier('s1');
    ok($leader->response->{body} >= 3, 'the one that renders gets the new response');
    ok($_->response->{body} >= 3, '... and so do those that have waited') for @patient;
}
open_barrier('s1');
ok(get($path)->{body} >= 3, 'the outdated response is gone');

my $strict = counted(s2 => 'stale') . '&header=Cache-Control:max-age=1000,must-revalidate';
get($strict);
invalidate($strict, s2 => '2');
my @both = map { ask($strict) } 1 .. 2;
wait_arrived(s2 => 1);
wait_waiting(1) if have_parking();
open_barrier('s2');
is_deeply([map { $_->response->{body} } @both], ['3', '3'], 'must-revalidate: the second request waits') if have_parking();

# ---------------------------------------------------------------- when the handler fails
for my $fails ('fail-as', 'status-as') {
    my $name = "f-$fails";
    $path = counted($name => 'stale', $fails);
    get($path);
    invalidate($path, $name => '2');
    open_barrier($name);
    text_of("/test/set?name=fail-$name&value=503");
    for (1 .. 2) {
        $answer = get($path);
        is("$answer->{status} $answer->{body}", '200 2', "$fails: the outdated response is sent in the place of the error");
        like($answer->{headers}{age}, qr/^\d+$/, '... with its age');
        is($answer->{headers}{'content-length'}, 1, '... and its length');
    }
    is(get($path, %ANEW)->{status}, 503, '... but not to a client that wants a new one');
    is(get($path)->{status}, 200, '... after which it is still there');
    text_of("/test/set?name=fail-$name&value=404");
    is(get($path)->{status}, 404, '404 is an answer, not a failure');
    text_of("/test/set?name=fail-$name&value=0");
    is(get($path)->{status}, 200, 'when the handler works again');
    ok(get($path)->{body} > 2, '... its new response is sent');
}
$path = counted(n1 => 'strict');
get($path);
invalidate($path, n1 => '2');
open_barrier('n1');
text_of('/test/set?name=fail-n1&value=503');
is(get($path)->{status}, 503, 'without VaultCacheStale the error is sent');
text_of('/test/set?name=fail-n1&value=0');

# ---------------------------------------------------------------- the child that renders is killed
my ($victim, $safe) = children(2);
$path = counted(k1 => 'stale');
get($path);
invalidate($path, k1 => '2');
my $doomed = connect_in($victim);
$doomed->request(GET => $path);
wait_arrived(k1 => 1);
my $other = connect_in($safe);
is($other->request(GET => $path)->response->{body}, '2', 'the outdated response, while a child renders');
my $before = status();
kill KILL => $victim;
ok($doomed->is_closed, 'that child is killed');
wait_counter('NotifyAlls', $before, 1);
my $next = ask($path);
wait_arrived(k1 => 2);
is(get($path)->{body}, '2', 'then the next request renders, and the others get the outdated response');
open_barrier('k1');
ok($next->response->{body} > 2, '... until there is a new one');

# ---------------------------------------------------------------- live pages
my $page = "/stale/page?poll=%2Fstale%2Fvalue%3Fname%3Dl1%26interest%3Dl1&view=l1&interest=l1&before=l1&$SHARED";
open_barrier('l1');
text_of('/test/set?name=l1&value=old');
my @pages = map { open_page($page) } 1 .. 2;
text_of('/test/close?name=l1');
text_of('/test/set?name=l1&value=new');
text_of('/test/notify?interest=l1');
$leader = ask($page);
wait_arrived(l1 => 1);
push @pages, open_page($page);
like($pages[-1]->html, qr/view">old</, 'an outdated live page');
isnt($pages[-1]->id, $pages[0]->id, '... has an id of its own');
is(VaultTest::Page::text($pages[-1]->poll), 'new', '... and its first poll brings what has changed');
open_barrier('l1');
like($leader->response->{body}, qr/view">new</, 'the new page');

# ---------------------------------------------------------------- parts
$path = counted(p1 => 'stale');
my $document = site_file('/outdated/page.shtml', qq[(<!--#vault cached="$path" -->)]);
get($document);
invalidate($document, p1 => '(2)');
$leader = ask($document);
wait_arrived(p1 => 1);
is(get($document)->{body}, '(2)', 'an outdated part, while another page renders it');
open_barrier('p1');
is($leader->response->{body}, '(3)', '... is new in the other page');
is(get($document)->{body}, '(3)', '... and then in all');
text_of('/test/set?name=fail-p1&value=503');
text_of('/test/notify?interest=p1');
is(get($document)->{body}, '(3)', 'an outdated part in the place of an error');

announce(qr/VLT00421: \S+ failed: an outdated response is sent in its place/, qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
use_server();
finish();
