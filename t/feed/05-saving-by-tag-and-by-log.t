# SPDX-License-Identifier: Apache-2.0
# Rows that pages and finished requests write: VaultFeedLog takes each request as it was, whatever bytes it has.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();

    # By tag, in a page; a page that only writes is not live and needs no template.
    site_file('/feed/save.shtml', qq(<!--#feed name="database" method="save" table="other" values.line="from a tag" values.writer="7" -->saved\n));
    my ($rows, $created) = (scalar rows_of('other'), status()->{PagesCreated});
    is(text_of('/feed/save.shtml'), "saved\n", 'a tag that saves');
    is(status()->{PagesCreated}, $created, 'makes no page');
    my @rows = rows_of('other');
    is(scalar(@rows), $rows + 1, 'saves once');
    is("$rows[-1]{line} $rows[-1]{writer}", 'from a tag 7', 'what it says');
    site_file('/feed/save-twice.shtml', '<!--#feed name="database" method="save" table="other" values.line="twice" -->' x 2 . "\n");
    text_of('/feed/save-twice.shtml');
    is(scalar(rows_of('other')), $rows + 3, 'two tags that save save twice: a write is never answered from memory');

    # By log: wait for the row, as it is written after the answer.
    my $seen = 0;
    my $logged = sub {
        my ($n) = @_;
        my @requests = wait_until(sub { my @r = rows_of('requests'); @r >= $seen + $n && \@r }, "$n more requests are logged")->@*;
        my @new = @requests[$seen .. $#requests];
        $seen = @requests;
        return @new;
    };
    get('/logged/echo?text=hello');
    is_deeply([map { "$_->{request} $_->{status}" } $logged->(1)], ['GET /logged/echo?text=hello HTTP/1.1 200'], 'a request, its query and its status');

    # One by one: a request is logged after its answer, so several may come in any order.
    for my $row (['status?code=404', 404], ['nothing', 404], ['status?code=500', 500]) {
        my ($url, $status) = @$row;
        get("/logged/$url");
        is(join(' ', map { $_->{status} } $logged->(1)), $status, "the status of $url, which failed");
    }

    for my $row (
        [qq(/logged/echo?text='"\\), qq(GET /logged/echo?text='"\\ HTTP/1.1), 'quotes and backslashes'],
        ['/logged/echo?text=<script>', 'GET /logged/echo?text=<script> HTTP/1.1', 'angle brackets'],
        ["/logged/echo?text=caf\xc3\xa9", "GET /logged/echo?text=caf\x{e9} HTTP/1.1", 'UTF-8'],
        ["/logged/echo?text=\xff\xfe", "GET /logged/echo?text=\x{fffd}\x{fffd} HTTP/1.1", 'bytes that are no UTF-8'],
        ["/logged/echo?text=\xc3", "GET /logged/echo?text=\x{fffd} HTTP/1.1", 'half a character'],
        ["/logged/echo?text='); DROP TABLE requests; --", undef, 'a request that would be SQL'],
        ['/logged/echo?text=' . 'x' x 8000, 'GET /logged/echo?text=' . 'x' x 8000 . ' HTTP/1.1', 'a request line of 8,000 bytes'],
        ['/logged/echo?text=%{THE_REQUEST}', 'GET /logged/echo?text=%{THE_REQUEST} HTTP/1.1', 'what looks like an expression'],
    ) {
        my ($path, $wanted, $why) = @$row;
        $path =~ s/ /%20/g;
        $wanted //= "GET $path HTTP/1.1";
        my $status = eval { get($path)->{status} } // 0;
        my ($row) = $logged->(1);
        is($row->{request}, $wanted, "$why, status $status");
    }

    # What is not HTTP at all gets a row, too, or none: but nothing breaks.
    connect_to()->send_raw("\x16\x03\x01\x00\r\n\r\n")->read_to_end;
    my $long = connect_to()->send_raw('GET /logged/echo?text=' . 'x' x 20000 . " HTTP/1.1\r\nHost: x\r\n\r\n");
    like($long->read_to_end, qr/^HTTP\/1\.1 414/, 'a request line that httpd refuses');
    get('/logged/echo?text=after');
    is((grep { $_->{request} =~ /text=after/ } $logged->(1))[0]{status}, 200, 'and the next one is logged');

    # Contexts.
    get('/logged/twice/echo?text=x');
    is(join(' ', map { $_->{request} } $logged->(2)), 'first second', 'two in one context are both called, and replace that of the outer one');
    get('/logged/vault/echo?text=hidden');
    get('/test/pid');
    get('/logged/echo?text=last');
    is((grep { 1 } map { $_->{request} } $logged->(1))[0], 'GET /logged/echo?text=last HTTP/1.1', 'Off leaves requests out, and so does a context without any');

    # A page that follows the requests: each becomes an update, and polls themselves do not.
    my $tag = '<!--#feed name="database" method="get_new_instances" table="requests" limit="1" template="request.html" append="list" -->';
    site_file('/feed/request.html', '{{#rows}}{{request}}|{{/rows}}');
    site_file('/feed/requests-new.shtml', $tag);
    live_shtml('/feed/requests.shtml', '/feed/requests-new.shtml', $tag);
    my $page = open_page('/feed/requests.shtml');
    my $poll = $page->start_poll;
    wait_waiting(1);
    get('/logged/echo?text=live');
    is(VaultTest::Page::text($page->finish_poll($poll)),
        '<turbo-stream action="append" target="list"><template>GET /logged/echo?text=live HTTP/1.1|</template></turbo-stream>', 'a request appears in a page');

    # A feed that refuses: the request was answered, and the log names the line.
    announce(qr/VLT00050: VaultFeedLog database save \(\S+site\.conf:\d+\): .*has no column "nonsense"/);
    is(get('/logged/wrong/echo?text=x')->{status}, 200, 'a request that cannot be logged is answered as usual');
    wait_until(sub { grep { /VLT00050/ } error_log_lines() }, 'and the error log says why');
}
finish();
