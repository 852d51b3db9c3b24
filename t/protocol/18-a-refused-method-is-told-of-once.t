# SPDX-License-Identifier: Apache-2.0
# A method that answers 401, 403 or a redirect: the page is told once, by an answer that is acknowledged like any other. The method rests, also
# across polls and whatever is notified, and the log has one line.
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 ();
use VaultTest;
use VaultTest::Events;
use VaultTest::Page qw(texts);
use VaultTest::Site;

sub told { return join ' ', map { "$_->{method} $_->{status}" } @{$_[0]{refused} || []} }
sub lines_of { my ($method) = @_; return scalar grep { /VLT00333: method \Q$method\E is refused with status/ } error_log_lines() }
sub signs { my ($status) = @_; return text_of("/test/set?name=p18status&value=$status") }
sub from { my ($page, $path) = @_; return get($path, headers => {'X-Vault-Page' => $page->id}) }

signs(401);
text_of('/test/set?name=p18other&value=one');
text_of('/test/add?name=p18');
my $members = '/test/rows?name=p18&interest=p18&fail-as=p18status';
my $other = '/test/value?name=p18other&interest=p18other';
my $page = live_page([$members, $other]);

my $lost = $page->read_poll($page->start_poll);
is($lost->{status}, 200, 'a refusal is news');
is_deeply($lost->{refused}, [{method => $members, status => 401, error => 'its status is 401'}], '... which says the method and its status');
is(texts($lost), 'one', '... with the updates of the others');
my $before = status();
my $answer = $page->poll;
is(told($answer), "$members 401", 'the answer got lost: it comes again');
cmp_ok($answer->{seq}, '>', $lost->{seq}, '... with a number of its own');
my $lines = lines_of($members);

# Told once, and run no more: neither by the next poll, nor when what it waits for is notified.
my $poll = $page->start_poll;
wait_waiting(1);
my $waits = status();
is($waits->{Runs} - $before->{Runs}, 2, 'the next poll runs nothing');
text_of('/test/add?name=p18&notify=p18');
text_of('/test/set?name=p18other&value=two&notify=p18other');
$answer = $page->finish_poll($poll);
is(texts($answer), 'two', 'the other method goes on');
is(told($answer), '', '... and nothing is said again');
my $after = status();
is($after->{Runs} - $waits->{Runs}, 1, 'a notify does not run the method');
is($after->{WakeUps} - $waits->{WakeUps}, 1, '... nor does it wake the poll');
is($after->{MethodsRefused} - $before->{MethodsRefused}, 1, 'refusals are counted');
is($after->{Failures} - $before->{Failures}, 0, '... and are no failures');
is(lines_of($members), $lines, 'the log says nothing more');

# The status page.
my $facts = JSON::PP::decode_json(text_of('/vault/status?page=' . $page->id));
my ($refused) = grep { $_->{url} eq $members } @{$facts->{Methods}};
like($refused->{state}, qr/^refused with status 401: tried again in (?:[12]?\d|30) s$/, 'the status page says that it is refused');
is($refused->{refused}, 401, '... and the status');

# A form of the page signs the visitor in: no need to wait. What was announced in between arrives once.
signs(0);
is(from($page, '/test/property?key=user&value=anna')->{status}, 200, 'a request of the page writes a property');
$answer = $page->poll;
is(join('', map { $_->{method} eq $members ? $_->{body} : '' } @{$answer->{updates}}), "1\n2\n", 'the method runs at once, and has lost nothing');
$poll = $page->start_poll;
wait_waiting(1);
text_of('/test/add?name=p18&notify=p18');
is(texts($page->finish_poll($poll)), "3\n", 'it is woken again by what it waits for');
signs(403);
text_of('/test/add?name=p18&notify=p18');
is(told($page->poll), "$members 403", 'refused anew: told anew');
is($page->news, undef, '... once');
is(lines_of($members), $lines + 1, '... with one line in the log');

# What it did while it was refused does not count.
my $sets = live_page(['/test/count?fail-as=p18status']);
is(told($sets->poll), '/test/count?fail-as=p18status 403', 'a method sets a property and is refused');
signs(0);
from($sets, '/test/property?key=other&value=1');
is(texts($sets->poll), '1', '... the property was not set');

# Which answers are refusals.
for my $status (401, 403, 301, 302, 303, 307, 308) {
    my $method = "/test/status?code=$status";
    is(told(live_page([$method])->poll), "$method $status", "$status is a refusal");
    is(lines_of($method), 1, '... of which the log has one line');
}
for my $status (300, 400, 404, 410, 500, 503) {
    my $failing = live_page(["/test/status?code=$status", '/test/echo?text=other']);
    is(told($failing->poll), '', "$status is a failure like any other");
}
is(told(live_page(['/test/echo?text=moved&header=Location:/login&fail=302'])->poll), '/test/echo?text=moved&header=Location:/login&fail=302 302', 'with a body and a Location');

# What httpd itself refuses: SSI and feeds below a protected location; a poll with the visitor's credentials gets them.
SKIP: {
    skip 'httpd has no mod_auth_basic', 4 unless have_module('auth_basic');
    my %anna = (Authorization => 'Basic ' . MIME::Base64::encode_base64('anna:secret', ''));
    site_file('/members/new.shtml', 'for <!--#echo var="REMOTE_USER" -->');
    my @methods = ('/members/new.shtml', '/vault/feed/tests/nothing');
    my $out = live_page(\@methods);
    is(join(' ', sort split / /, told($out->poll)), "/members/new.shtml /vault/feed/tests/nothing 401 401", 'SSI and a feed by URL are refused');
    is(texts(live_page(\@methods)->poll(undef, %anna)), '[]|for anna', '... but not to who is signed in');
    my $joins = JSON::PP::decode_json(post('/vault/page', JSON::PP::encode_json({add => ['/vault/feed/tests/nothing', '/vault/feed/tests/echo?a=1']}),
        headers => {'Content-Type' => 'application/json'})->{body});
    is(told($joins), '/vault/feed/tests/nothing 401', 'to a page that is made of feeds it is said when it subscribes');
    my $plain = VaultTest::Page->of(JSON::PP::decode_json(post('/vault/page', JSON::PP::encode_json({add => ['/vault/feed/tests/nothing', '/vault/feed/tests/echo?a=1']}),
        headers => {'Content-Type' => 'application/json', %anna})->{body}));
    from($plain, '/test/property?key=k&value=1');    # its methods run again
    is(told($plain->poll), '/vault/feed/tests/nothing 401', '... and in a poll when the visitor has signed out since');
}

my $login = JSON::PP::decode_json(post('/vault/page', JSON::PP::encode_json({add => ['/vault/feed/tests/login', '/vault/feed/tests/echo?a=1']}),
    headers => {'Content-Type' => 'application/json'})->{body});
is(told($login), '/vault/feed/tests/login 302', 'a feed that redirects to a login is refused as well');
is(scalar @{JSON::PP::decode_json(text_of('/vault/status?page=' . $login->{page}))->{Methods}}, 1, '... and is no method of the page');

# Several pages, and a stream.
my @both = (live_page(['/test/status?code=403']), live_page(['/test/echo?text=here']));
$answer = JSON::PP::decode_json(get(VaultTest::Events::path(\@both))->{body});
my %of = map { $_->{page} => $_ } @{$answer->{pages}};
is(told($of{$both[0]->id}), '/test/status?code=403 403', 'of several pages, one is told');
is(told($of{$both[1]->id}) . texts($of{$both[1]->id}), 'here', '... the other is not');

signs(302);
my $streams = live_page([$members, $other]);
my $stream = VaultTest::Events->open([$streams]);
my $event = $stream->event;
is(told($event), "$members 302", 'an event of a stream says it');
is(texts($event), 'two', '... with the updates of the others');
wait_waiting(1);
text_of('/test/add?name=p18&notify=p18');
text_of('/test/set?name=p18other&value=three&notify=p18other');
$event = $stream->event;
is(texts($event) . told($event), 'three', '... once');
$stream->reset;

announce(qr/VLT00030: method .* failed/);
finish();
