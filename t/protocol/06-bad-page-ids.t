# SPDX-License-Identifier: Apache-2.0
# A page that is unknown, or an id that cannot be one: 410, which makes a browser load the page again. No id at all is
# the client's mistake.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p06&interest=p06']);
my $id = $page->id;
my $before = status();
my @gone = (
    ['unknown',                 'a word'],
    ['0' x 40,                  'all zeros'],
    ['f' x 40,                  'an index beyond the table'],
    [uc($id) . 'A',             'upper case, and too long'],
    [substr($id, 0, 39),        'a digit short'],
    ["${id}0",                  'a digit too many'],
    [substr($id, 1) . 'x',      'not hexadecimal'],
    ['1' . substr($id, 1) ne $id ? '1' . substr($id, 1) : '2' . substr($id, 1), 'another first digit'],
    ["$id%0a",                  'a line feed behind it'],
    ["%20$id",                  'a blank before it'],
    ['a' x 7000,                '7,000 characters'],
    ['..%2f..%2fetc%2fpasswd',  'a path'],
    ['%ff%fe%fd',               'bytes that are no UTF-8'],
    [q(';DROP+TABLE+pages;--),  'SQL'],
);
for my $row (@gone) {
    my ($bad, $why) = @$row;
    is(get("/vault/poll?page=$bad&seq=0")->{status}, 410, "$why: 410");
}
is(status()->{Expired} - $before->{Expired}, scalar @gone, 'each is counted');

my $nul = get("/vault/poll?page=$id%00&seq=0");
is($nul->{status}, 400, 'an id with a NUL behind it is not that id');
is(get('/vault/poll?page=&seq=0')->{status}, 410, 'an empty id: 410');
is(get('/vault/poll?seq=0')->{status}, 400, 'no id: 400');
is(get('/vault/poll')->{status}, 400, 'no query: 400');
is(get('/vault/poll?page')->{status}, 400, 'a name without a value, and no number: 400');
is(get("/vault/poll?page=$id&seq=0&tab=short")->{status}, 400, 'a tab that is none: 400');
is(get("/vault/poll?page=$id&seq=0&tab=" . 'G' x 32)->{status}, 400, 'a tab that is not hexadecimal: 400');

text_of('/test/add?name=p06');
is(VaultTest::Page::text($page->poll), "1\n", 'the page itself is well');

finish();
