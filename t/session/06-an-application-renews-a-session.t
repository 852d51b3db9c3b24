# SPDX-License-Identifier: Apache-2.0
# An application with a login of its own gives the session another id, in C or by a header: the old id is void at once, what is in the session
# stays, and its pages go on. Behind a proxy that does TLS, the cookie is sent over TLS only.
use strict;
use warnings;
use MIME::Base64 ();
use VaultTest;
use VaultTest::Browser;
use VaultTest::Page qw(texts vault_headers);
use VaultTest::Site;

my $RENEW = 'header=Vault-Session-Renew:yes';
my $BASKET = '/shop/session?key=basket';

# The old id is invalid, and the new one has the basket.
sub renewed
{
    my ($browser, $old, $what) = @_;
    isnt($browser->id, $old, "$what: another id");
    is($browser->how, '; Path=/; HttpOnly; SameSite=Lax', '... in a cookie like the first one');
    is($browser->text($BASKET), 'apple', '... for what is in the session');
    is(VaultTest::Browser->new(id => $old)->text($BASKET), '', '... the old id is void');
    return $browser->id;
}

my $ann = VaultTest::Browser->new;
is($ann->get('/shop/session?renew=1')->{status}, 200, 'without a session there is nothing to do');
is($ann->get("/shop/echo?text=x&$RENEW")->{body}, 'x', '... nor for the header');
is($ann->id, undef, '... and no cookie');
$ann->get("$BASKET&value=apple");
my $sessions = status()->{Sessions};
my $id = $ann->id;

# In C, while tabs poll.
my @tabs = map { $ann->open("/shop/page?poll=$BASKET" =~ s/\?key/%3Fkey/r) } 1, 2;
is(texts($_->finish_poll($ann->start_poll($_))), 'apple', 'a tab shows the basket') for @tabs;
my @polls = map { $ann->start_poll($_) } @tabs;
wait_waiting(2);
is($ann->get('/shop/session?renew=1')->{status}, 200, 'a C module renews');
$id = renewed($ann, $id, 'in C');
is($tabs[$_]->finish_poll($polls[$_])->{status}, 204, 'a poll that came with the old id ends') for 0, 1;
is(texts($tabs[$_]->finish_poll($ann->start_poll($tabs[$_]))), 'apple', '... and the next one shows the basket') for 0, 1;
@polls = map { $ann->start_poll($_) } @tabs;
wait_waiting(2);
$ann->get("$BASKET&value=pear");
is(texts($tabs[$_]->finish_poll($polls[$_])), 'pear', '... and each change') for 0, 1;
$ann->get("$BASKET&value=apple");
is(status()->{Sessions}, $sessions, 'it is the same session');

# By a header.
is(vault_headers($ann->get("/shop/echo?text=x&$RENEW")), '', 'an application renews, and no browser sees how');
$id = renewed($ann, $id, 'by header');
$ann->get("/shop/status?code=303&header=Location:/shop/&$RENEW&header=Vault-Session:user=ann");
$id = renewed($ann, $id, 'by a redirect after a login');
is($ann->text('/shop/session?key=user'), 'ann', '... together with what the login has set');
$ann->get("/shop/status?code=404&$RENEW");
is($ann->id, $id, 'an error renews nothing');
announce(qr/VLT00062: Vault-Session-Renew: no: the only value is yes/);
$ann->get('/shop/echo?text=x&header=Vault-Session-Renew:no');
announce(qr/VLT00064: Vault-Session-Renew of \S+ has no effect: VaultSession is off there/);
$ann->get("/shop/off/echo?text=x&$RENEW");
is($ann->id, $id, '... nor does another value, or one where VaultSession is off');
is($ann->get('/shop/off/session?renew=1')->{status}, 403, '... which a C module is told');

my $new = VaultTest::Browser->new;
my $answer = $new->get("/shop/echo?text=x&$RENEW&header=Vault-Session:basket=first");
is(() = ($answer->{headers}{'set-cookie'} // '') =~ /vault_session=/g, 1, 'a session that is made in the same request has one cookie');
is($new->text($BASKET), 'first', '... which is good');

# A method cannot: its poll would bring the old cookie again.
announce(qr/VLT00030: .*Vault-Session-Renew: yes: a method of a poll can read the session, but not change it/, qr/VLT00030: .*its handler answered 409/);
my $before = status();
for my $method ("/shop/echo%3Ftext=x%26$RENEW", '/shop/session%3Frenew=1') {
    my $page = $ann->open("/shop/page?poll=$method");
    my $poll = $ann->start_poll($page);
    wait_counter(Failures => $before, 1);
    $poll->close;
    wait_waiting(0);
    $before = status();
}
is($ann->text($BASKET), 'apple', 'a method renews nothing');

# Two requests at once: one of them renews.
text_of('/test/close?name=s06');
my @both = map { my $c = connect_to(); $c->request(GET => '/shop/session?renew=1&before=s06', $ann->headers); $c } 1, 2;
wait_arrived('s06', 2);
open_barrier('s06');
my @answers = map { $_->response } @both;
is_deeply([map { $_->{status} } @answers], [200, 200], 'two requests that renew at once');
my @set = grep { $_->{headers}{'set-cookie'} } @answers;
is(scalar @set, 1, '... draw one id');
$ann->keep($set[0]);
$id = renewed($ann, $id, '... which is good');

# When it is too late for a cookie, the id stays.
site_file('/session/late-renew.shtml', 'top <!--#include virtual="/test/flush" --><!--#include virtual="/shop/session?renew=1" -->');
announce(qr{unable to include "/shop/session\?renew=1" in parsed file \S+, subrequest returned 410});
like($ann->text('/session/late-renew.shtml'), qr/^top /, 'the header is on its way');
is($ann->text($BASKET), 'apple', '... so the session keeps its id');

# A session with a user of httpd keeps the user.
my $carl = VaultTest::Browser->new(headers => {Authorization => 'Basic ' . MIME::Base64::encode_base64('anna:secret', '')});
$carl->get('/shop/members/session?key=basket&value=nut');
my $old = $carl->id;
$carl->get('/shop/members/session?renew=1');
isnt($carl->id, $old, 'a session with a user: another id');
is($carl->text('/shop/members/session?key=basket'), 'nut', '... for the user');
is(VaultTest::Browser->new(id => $carl->id)->text($BASKET), '', '... and for no one else');

# The scheme of ServerName is that of the site, also if a proxy ends TLS.
use_server(
    VaultTest::Server->start(
        'session-proxy',
        config => <<'END'
ServerName https://www.example.org
<Location "/shop/">
    SetHandler vault-test
    VaultSession On
    VaultSessionCookie __Host-session
</Location>
END
    )
);
my $dora = VaultTest::Browser->new(name => '__Host-session');
$dora->get("$BASKET&value=fig");
is($dora->how, '; Path=/; HttpOnly; SameSite=Lax; Secure', 'behind a proxy with TLS: Secure, by ServerName');
$dora->get('/shop/session?renew=1');
is($dora->how, '; Path=/; HttpOnly; SameSite=Lax; Secure', '... when it is renewed as well');
is($dora->text($BASKET), 'fig', '... and it is good');

finish();
