# SPDX-License-Identifier: Apache-2.0
# Three tabs of one browser show one basket. When one tab changes it, the others show the change. The first change makes the session: then the
# polls of the other tabs end, and their next polls bring the cookie.
use strict;
use warnings;
use VaultTest;
use VaultTest::Browser;
use VaultTest::Page qw(texts);

my $none = status()->{Sessions};
my $ann = VaultTest::Browser->new;
my $view = '/shop/page?poll=/shop/session%3Fkey=basket';
is($ann->text('/shop/session?key=basket'), '', 'a browser without a session');
is($ann->id, undef, '... has no cookie, since nothing is stored');

my @tabs = map { $ann->open($view) } 1 .. 3;
is($ann->id, undef, 'pages do not give it one');
is(status()->{Sessions}, $none, '... and there is no record');

my @polls = map { $ann->start_poll($_) } @tabs;
wait_waiting(3);
is($ann->get('/shop/session?key=basket&value=apple')->{status}, 200, 'the first thing is put in');
like($ann->id, qr/^[0-9a-f]{40}$/, '... and makes a session, with 160 bits');
is($ann->how, '; Path=/; HttpOnly; SameSite=Lax', '... whose cookie no script can read');
is(status()->{Sessions}, $none + 1, '... one record');
is($tabs[$_]->finish_poll($polls[$_])->{status}, 204, 'a poll that was sent without the cookie ends') for 0 .. 2;
is(texts($tabs[$_]->finish_poll($ann->start_poll($tabs[$_]))), 'apple', 'and the next one, which brings it, shows the basket') for 0 .. 2;

@polls = map { $ann->start_poll($_) } @tabs;
wait_waiting(3);
is($ann->get('/shop/session?key=basket&value=pear')->{headers}{'set-cookie'}, undef, 'the next thing: the cookie stays');
is(texts($tabs[$_]->finish_poll($polls[$_])), 'pear', '... each tab shows it') for 0 .. 2;

my $before = status();
@polls = map { $ann->start_poll($_) } @tabs;
wait_waiting(3);
is($ann->get('/shop/session?key=basket&value=pear')->{status}, 200, 'the same once more');
is(status()->{Runs}, $before->{Runs}, '... changes nothing and wakes no page');
is($ann->get('/shop/session?key=basket&remove=1')->{status}, 200, 'all is taken out');
wait_counter(Runs => $before, 3);
wait_waiting(3);
is($ann->text('/shop/session?key=basket'), '', '... it is gone');
is($ann->get('/shop/session?key=basket&value=fig')->{status}, 200, 'and again something');
is(texts($tabs[$_]->finish_poll($polls[$_])), 'fig', '... the same polls show it') for 0 .. 2;

# Another browser.
my $bob = VaultTest::Browser->new;
is($bob->text('/shop/session?key=basket'), '', 'another browser sees nothing of it');
my $tab = $bob->open($view);
is($bob->get('/shop/session?key=basket&value=nut')->{status}, 200, 'it has a session of its own');
isnt($bob->id, $ann->id, '... by another id');
is(texts($tab->finish_poll($bob->start_poll($tab))), 'nut', '... and shows its own basket');
@polls = map { $ann->start_poll($_) } @tabs;
my $poll = $bob->start_poll($tab);
wait_waiting(4);
$before = status();
is($ann->get('/shop/session?key=basket&value=date')->{status}, 200, 'the first browser changes its basket');
is(texts($tabs[$_]->finish_poll($polls[$_])), 'date', '... its tabs show it') for 0 .. 2;
is(status()->{Runs}, $before->{Runs} + 3, '... and no method ran for the other');
is(status()->{Waiting}, 1, '... whose poll still waits');
$poll->close;
wait_waiting(0);

# A change after the method has read the session, and before its run ends.
my $race = $ann->open('/shop/page?poll=/shop/session%3Fkey=basket%26after=s01');
text_of('/test/close?name=s01');
$poll = $ann->start_poll($race);
wait_arrived('s01', 1);
is($ann->get('/shop/session?key=basket&value=last')->{status}, 200, 'the basket changes when a method has read it');
open_barrier('s01');
is(texts($race->finish_poll($poll)), 'date', 'the answer shows what was read');
is(texts($race->finish_poll($ann->start_poll($race))), 'last', '... and the next one what was changed: nothing is lost');

# Where it is off, and what cannot be stored.
is($ann->get('/shop/off/session?key=basket&value=x')->{status}, 403, 'where VaultSession is off, nothing can be set');
is($ann->text('/shop/off/session?key=basket'), '', '... or read');
is($ann->get('/shop/session?key=basket&value=' . 'v' x 4097)->{status}, 400, 'a value that is too long is refused');
is($ann->get('/shop/session?key=&value=x')->{status}, 400, 'a key that is empty as well');
is($ann->text('/shop/session?key=basket'), 'last', '... and the session is as it was');
my $big = 'v' x 4096;
my $refused = 0;
for my $n (1 .. 20) {
    my $status = $ann->get("/shop/session?key=big$n&value=$big")->{status};
    $refused = $n if $status == 503;
    last if $refused;
}
ok($refused > 10 && $refused <= 17, 'one session keeps 64 KB at most') or diag($refused);
is($ann->text('/shop/session?key=basket'), 'last', '... and what it has stays');
is($ann->get("/shop/session?key=big$_&remove=1")->{status}, 200, 'taken out again') for 1 .. 3;

# A method reads; it does not write.
$tab = $ann->open('/shop/page?poll=/shop/session%3Fkey=basket%26value=loop');
announce(qr/VLT00030: .*its handler answered 409/);
$poll = $ann->start_poll($tab);
wait_counter(Failures => $before, 1);
is($ann->text('/shop/session?key=basket'), 'last', 'a method cannot change the session, which would run it for ever');
$poll->close;
wait_waiting(0);

finish();
