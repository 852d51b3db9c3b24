# SPDX-License-Identifier: Apache-2.0
# A poll is asked for by GET or POST; what else a client may try is refused with the list of what is allowed.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p08&interest=p08']);
text_of('/test/add?name=p08');
for my $method (qw(HEAD PUT DELETE PATCH OPTIONS)) {
    my $answer = get($page->path, method => $method, $method =~ /^P/ ? (body => 'x=1') : ());
    is($answer->{status}, 405, "$method: 405");
    is($answer->{headers}{allow}, 'GET, POST', '  with what is allowed');
}
is(get($page->path, method => 'GARBLED')->{status}, 405, 'a method that is none: 405');
is(VaultTest::Page::text($page->poll), "1\n", 'none of them has taken the page\'s news');

finish();
