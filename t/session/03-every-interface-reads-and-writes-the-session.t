# SPDX-License-Identifier: Apache-2.0
# Session properties in SSI, in templates, by headers of any application, in Lua and in C: each one reads what the others have set.
use strict;
use warnings;
use VaultTest;
use VaultTest::Browser;
use VaultTest::Page qw(texts vault_headers);
use VaultTest::Site;

my $ann = VaultTest::Browser->new;
my $path = '/session/way';

# SSI.
site_file("$path-read.shtml", q(<p><!--#vault session="basket" --></p><!--#if expr="-n req('Vault-Session-basket')" -->something<!--#endif -->));
site_file("$path-write.shtml", q(<p><!--#vault session="basket" value="$arg" session="seen" value="yes" --></p>));
is($ann->text("$path-read.shtml"), '<p></p>', 'SSI: without a session a property is empty');
is($ann->id, undef, '... and none is made');
site_file("$path-write.shtml", q(<!--#set var="arg" value="<a> & b, 5%" --><p><!--#vault session="basket" value="$arg" session="seen" value="yes" --></p>));
is($ann->text("$path-write.shtml"), '<p></p>', 'a tag sets two properties');
ok($ann->id, '... and makes the session');
is($ann->text("$path-read.shtml"), '<p>&lt;a&gt; &amp; b, 5%</p>something', '... which another page shows, escaped, and can ask for');
is($ann->text('/shop/session?key=basket'), '<a> & b, 5%', 'C reads it');
is($ann->text('/shop/said?name=Vault-Session-basket'), '<a>%20&%20b%2C%205%25', 'an application is told it, encoded');
is($ann->text('/shop/said?name=Vault-Session-seen'), 'yes', '... and the other');
site_file("$path-remove.shtml", q(<!--#vault session="seen" value="" -->));
$ann->get("$path-remove.shtml");
is($ann->text('/shop/session?key=seen'), '', 'an empty value removes');

# A method of SSI.
my $page = $ann->open(live_shtml("$path.shtml", "$path-read.shtml"));
like(texts($page->finish_poll($ann->start_poll($page))), qr{^<p>&lt;a&gt;}, 'a method of SSI shows it');
my $poll = $ann->start_poll($page);
wait_waiting(1);
$ann->get('/shop/session?key=basket&value=nut');
is(texts($page->finish_poll($poll)), '<p>nut</p>something', '... again when it has changed');

# Too late for a cookie: the header is on its way.
site_file("$path-late.shtml", q(top <!--#include virtual="/test/flush" --><!--#vault session="late" value="1" -->));
announce(qr/VLT00040: vault session="late": it is too late for a cookie: the page is on its way/);
like(VaultTest::Browser->new->text("$path-late.shtml"), qr/^top \[ssi error\]$/, 'after the header no session can be made');
is($ann->get("$path-late.shtml")->{status}, 200, '... one that is there');
is($ann->text('/shop/session?key=late'), '1', '... can be changed');
announce(qr/VLT00040: vault: value="VALUE" is accepted after session="KEY"/);
site_file("$path-wrong.shtml", q(<!--#vault value="1" -->));
is($ann->text("$path-wrong.shtml"), '[ssi error]', 'a value without a key');

# Headers of an application.
is(vault_headers($ann->get('/shop/echo?text=x&header=Vault-Session:basket=a%252C%20b%2525&header=Vault-Session:Other=1')), '', 'an application sets two properties, and no browser sees how');
is($ann->text('/shop/session?key=basket'), 'a, b%', '... the first, decoded');
is($ann->text('/shop/session?key=other'), '1', '... the other, whose key is in lower case');
$ann->get('/shop/echo?text=x&header=Vault-Session:other=');
is($ann->text('/shop/session?key=other'), '', 'an empty value removes');
$ann->get('/shop/status?code=303&header=Vault-Session:basket=redirected&header=Location:/shop/');
is($ann->text('/shop/session?key=basket'), 'redirected', 'a redirect counts');
$ann->get('/shop/status?code=404&header=Vault-Session:basket=missing');
is($ann->text('/shop/session?key=basket'), 'redirected', '... an error does not');
$ann->get('/shop/off/echo?text=x&header=Vault-Session:basket=off');
is($ann->text('/shop/session?key=basket'), 'redirected', '... nor does it where VaultSession is off');
announce(qr/VLT00064: Vault-Session of \S+ has no effect: VaultSession is off there/);
announce(qr/VLT00062: Vault-Session: nonsense: key=value is needed/);
is($ann->get('/shop/echo?text=x&header=Vault-Session:nonsense')->{status}, 200, 'what is no property is logged');
announce(qr/VLT00401: the session of \S+ cannot be changed: its key or its value is too long/);
$ann->get('/shop/echo?text=x&header=Vault-Session:basket=' . 'v' x 4097);
is($ann->text('/shop/session?key=basket'), 'redirected', '... as is one that is too long');
my $new = VaultTest::Browser->new;
$new->get('/shop/status?code=303&header=Vault-Session:basket=first&header=Location:/shop/');
is($new->text('/shop/session?key=basket'), 'first', 'a redirect can make the session');

# An application as a method of a live page.
$page = $ann->open('/shop/page?poll=/shop/said%3Fname=Vault-Session-basket');
is(texts($page->finish_poll($ann->start_poll($page))), 'redirected', 'a method that reads it by header');
$poll = $ann->start_poll($page);
wait_waiting(1);
$ann->get('/shop/echo?text=x&header=Vault-Session:basket=plum');
is(texts($page->finish_poll($poll)), 'plum', '... runs again when another application has changed it');
announce(qr/VLT00030: .*Vault-Session: n=1: a method of a poll can read the session, but not change it/);
my $before = status();
my $writes = $ann->open('/shop/page?poll=/shop/echo%3Ftext=x%26header=Vault-Session:n=1');
$poll = $ann->start_poll($writes);
wait_counter(Failures => $before, 1);
is($ann->text('/shop/session?key=n'), '', '... a method cannot set one by header either');
$poll->close;
wait_waiting(0);

# Templates.
site_file("$path-any.html", '[{{session.basket}}]');
site_file("$path-render.shtml", q(<!--#feed name="tests" method="echo" word="x" template="way-any.html" -->));
is($ann->text("$path-render.shtml"), '[plum]', 'a template shows a session property');
is(VaultTest::Browser->new->text("$path-render.shtml"), '[]', '... and nothing without a session');
site_file('/shop/any.html', '[{{session.basket}}]');
is($ann->text('/shop/render?file=any.html&data={"x":1}'), '[plum]', '... also with the data of a module');
is($ann->text('/shop/render?file=any.html&data={"session":{"basket":"own"}}'), '[own]', '... whose own data of this name comes first');
$page = $ann->open(live_shtml("$path-live.shtml", "$path-render.shtml"));
is(texts($page->finish_poll($ann->start_poll($page))), '[plum]', '... in a method as well');
$poll = $ann->start_poll($page);
wait_waiting(1);
$ann->get('/shop/session?key=basket&value=<kiwi>');
is(texts($page->finish_poll($poll)), '[&lt;kiwi&gt;]', '... which runs again when it has changed, and escapes it');

finish();
