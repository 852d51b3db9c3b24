# SPDX-License-Identifier: Apache-2.0
# A login gives a session another id, and binds it to the user. An id that was known before the login, was forged, is that of a page, or comes
# from another address or virtual host is of no use.
use strict;
use warnings;
use MIME::Base64 ();
use VaultTest;
use VaultTest::Browser;
use VaultTest::Page qw(texts);

sub login { return {Authorization => 'Basic ' . MIME::Base64::encode_base64("$_[0]:secret", '')} }
sub basket { return "/shop/$_[0]session?key=basket" . (defined $_[1] ? "&value=$_[1]" : '') }

# Ids that no session has.
my $before = status();
my $forged = VaultTest::Browser->new;
for my $id ('0' x 40, 'f' x 40, 'a' x 39, 'a' x 41, '', 'x' x 40, '../' x 13, '%00' x 13) {
    $forged->id($id);
    is($forged->get(basket(''))->{body}, '', "the id '$id' is none");
    is(status()->{Sessions}, $before->{Sessions}, '... and makes no record');
}
my $made_up = '0123456789abcdef' x 2 . '01234567';
$forged->id($made_up);
is($forged->get(basket('', 'apple'))->{status}, 200, 'a browser with an invented id stores something');
isnt($forged->id, $made_up, '... and gets another id for it');
is(VaultTest::Browser->new(id => $made_up)->text(basket('')), '', '... the invented one stays void');
my $page = $forged->open('/shop/page?poll=/shop/session%3Fkey=basket');
is(VaultTest::Browser->new(id => $page->id)->text(basket('')), '', 'the id of a page is none of a session');
is(get('/vault/poll?seq=0&page=' . $forged->id)->{status}, 410, '... nor the other way round');
is(get('/test/said?name=Vault-Page', headers => {'X-Vault-Page' => $forged->id})->{body}, '', '... in any request');
is(VaultTest::Browser->new(id => $made_up . '; vault_session=' . $forged->id)->text(basket('')), 'apple', 'of two cookies of the name, the one counts that is known');
unlike(text_of('/vault/status?json') . text_of('/vault/status?pages') . join('', error_log_lines()), qr/\Q@{[$forged->id]}\E/, 'no status and no log has an id');

# The headers that tell an application of the session.
for my $name ('Vault-Session-basket', 'vault_session_basket', 'VAULT-SESSION-BASKET', 'Vault-Session-admin', 'Vault-Session') {
    my $answer = get('/shop/said', headers => {$name => 'forged'});
    unlike($answer->{body}, qr/forged/, "$name is taken from what a browser sends");
}
is($forged->text('/shop/said?name=Vault-Session-basket'), 'apple', '... and httpd tells the truth');
my $method = $forged->open('/shop/page?poll=/shop/said%3Fname=Vault-Session-basket');
is(texts($method->finish_poll($method->start_poll(undef, %{$forged->headers}, 'Vault-Session-basket' => 'forged'))), 'apple', '... a method as well');

# A login.
my $ann = VaultTest::Browser->new;
$ann->get(basket('', 'apple'));
my $planted = $ann->id;
$ann->{headers} = login('anna');
my @tabs = map { $ann->open('/shop/members/page?poll=/shop/members/session%3Fkey=basket') } 1, 2;
isnt($ann->id, $planted, 'a login gives the session another id');
is($ann->text(basket('members/')), 'apple', '... and keeps what is in it');
is(VaultTest::Browser->new(id => $planted)->text(basket('')), '', 'the old id is void');
is(VaultTest::Browser->new(id => $planted, headers => login('anna'))->text(basket('members/')), '', '... for the user, too');
my $first = $ann->id;
$ann->get(basket('members/', 'pear'));
is($ann->id, $first, 'the new one stays');
is(VaultTest::Browser->new(id => $ann->id, headers => login('bert'))->text(basket('members/')), '', 'another user with the id sees nothing');
is(VaultTest::Browser->new(id => $ann->id)->text(basket('')), '', '... nor does a browser that has logged out');
my $bert = VaultTest::Browser->new(id => $ann->id, headers => login('bert'));
is($bert->get(basket('members/', 'nut'))->{status}, 200, 'what another user stores');
isnt($bert->id, $ann->id, '... is another session');
is($ann->text(basket('members/')), 'pear', '... and changes nothing here');
is($bert->text(basket('members/')), 'nut', '... each has its own');

# Polls that wait while another tab logs in.
my $carl = VaultTest::Browser->new;
$carl->get(basket('', 'fig'));
my $tab = $carl->open('/shop/page?poll=/shop/session%3Fkey=basket');
is(texts($tab->finish_poll($carl->start_poll($tab))), 'fig', 'a tab shows the basket');
my $poll = $carl->start_poll($tab);
wait_waiting(1);
$carl->{headers} = login('anna');
$carl->get(basket('members/'));
is($tab->finish_poll($poll)->{status}, 204, 'its poll ends when another tab logs in: it came with an id that is void');

# The address, where it counts.
my $home = VaultTest::Browser->new(name => 'bound');
$home->get(basket('bound/', 'apple'));
is($home->text(basket('bound/')), 'apple', 'a session that is bound to an address');
my $away = VaultTest::Browser->new(name => 'bound', id => $home->id, from => '127.0.0.2');
is($away->text(basket('bound/')), '', '... is of no use at another one');
$away->get(basket('bound/', 'stolen'));
is($home->text(basket('bound/')), 'apple', '... which changes nothing in it');
my $roams = VaultTest::Browser->new(id => $forged->id, from => '127.0.0.2');
is($roams->text(basket('')), 'apple', 'elsewhere an address may change');

# Another virtual host, and TLS.
is(VaultTest::Browser->new(id => $forged->id, vhost => 'merge_trailers')->text(basket('')), '', 'another virtual host has other sessions');
SKIP: {
    skip 'no TLS', 1 unless have_tls();
    my $answer = get(basket('', 'apple'), vhost => 'vault_tls', tls => 1);
    like($answer->{headers}{'set-cookie'}, qr/; Secure$/, 'the cookie of TLS is sent over TLS only');
}

# What is kept for others (VaultCache) is never what a session is in, whatever its handler says.
my $kept = '/shop/kept/session?key=basket&header=Vault-Shared:yes&header=Cache-Control:max-age=600';
is($forged->text($kept), 'apple', 'an output that says that it is shared') for 1 .. 2;
is(VaultTest::Browser->new->text($kept), '', '... is not shown to another browser');
is($home->text('/shop/kept/said?name=Vault-Session-basket&header=Vault-Shared:yes&header=Cache-Control:max-age=600'), '', '... nor is one that was told of it') for 1 .. 2;
is($forged->text('/shop/kept/said?name=Vault-Session-basket&header=Vault-Shared:yes&header=Cache-Control:max-age=600'), 'apple', '...');

# Time.
my $brief = VaultTest::Browser->new(name => 'short');
$brief->get(basket('short/', 'apple'));
my $sessions = status()->{Sessions};
my $watching = $brief->open('/shop/page?poll=/shop/short/session%3Fkey=basket');
is(texts($watching->finish_poll($brief->start_poll($watching))), 'apple', 'a session with a short time');
$poll = $brief->start_poll($watching);
is($watching->finish_poll($poll)->{status}, 204, 'a poll does not keep it: it expires, and the poll that came from it ends');
is($brief->text(basket('short/')), '', '... it is gone');
ok(status()->{Sessions} < $sessions, '... and its record');

# What a session is in may be stored by no shared cache.
is($forged->get(basket(''))->{headers}{'cache-control'}, 'private', 'an answer that may show a session is private');
is(get(basket(''))->{headers}{'cache-control'}, undef, '... one without a session is as it was');

finish();
