# SPDX-License-Identifier: Apache-2.0
# A form whose action is a method that writes: the browser would show the answer, so it is sent back to the page; scripts get the rows.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my @save = ('/vault/feed/database/save', 'table=forms&values.line=form');
    my $host = 'localhost:' . port_of();
    my %page = (Accept => 'text/html,application/xhtml+xml,*/*;q=0.8', Host => $host, Referer => "http://$host/chat/room.shtml?room=a&user=b%20c");

    my $answer = post(@save, headers => \%page);
    is($answer->{status}, 303, 'a form');
    like($answer->{headers}{location}, qr{^(?:http://\Q$host\E)?/chat/room\.shtml\?room=a&user=b%20c$}, '... comes back to its page');
    is(post(@save, headers => {%page, @$_[0, 1]})->{status}, 200, "rows: $_->[2]") for
        [Accept => '*/*', 'a script'],
        [Accept => 'application/json', 'another program'],
        [Referer => '', 'a page that does not say where it is'],
        [Referer => "http://evil.test/?$host/", 'a page of another site'],
        [Referer => "http://$host.evil.test/", 'a host that begins like it'],
        [Referer => "http://$host//evil.test/", 'a path that is another host'],
        [Referer => "http://$host", 'no path'];
    is(post(@save, headers => {%page, 'Sec-Fetch-Site' => 'cross-site'})->{status}, 403, 'another site may not do this, whatever it accepts');
    is(get('/vault/feed/database/all?table=forms&limit=1', headers => \%page)->{status}, 200, 'GET is asked for rows');
}
finish();
