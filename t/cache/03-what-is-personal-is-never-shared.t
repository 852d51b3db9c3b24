# SPDX-License-Identifier: Apache-2.0
# Tries each personal input in turn, where VaultCache is not set: no visitor ever sees what was rendered for another one.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

my $FEED = '<!--#feed name="database" method="get_new_instances" table="kept" template="empty.html" -->';
my $n = 0;

# Writes a page with this element in its view and in its method. Returns whether the store answered a second view, and the method of a
# second page.
sub shared
{
    my ($element, $fails) = @_;
    my $path = '/feed/personal-' . ++$n;
    site_file("$path-new.shtml", "$FEED<p>$n</p>" . ($fails ? '' : $element));
    live_shtml("$path.shtml", "$path-new.shtml", "$FEED<p>$n</p>$element");
    settle();
    my @pages = (open_page("$path.shtml"));
    my $before = status();
    push @pages, open_page("$path.shtml");
    unless ($fails) { $_->poll for @pages }
    my $after = status();
    return join ' ', map { $after->{$_} - $before->{$_} } qw(Cached Shared);
}

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    site_file('/feed/empty.html', '');
    site_file('/feed/plain.html', 'a file');
    site_file('/feed/inner.shtml', '<!--#echo var="REMOTE_ADDR" -->');
    site_file('/feed/outer.shtml', 'outside <!--#include virtual="/feed/inner.shtml?a" -->');
    site_file('/feed/inner-plain.shtml', '<!--#include virtual="plain.html" -->');

    my @shared = (
        'nothing else' => '',
        'a comment' => '<!--#comment text="x" -->',
        'an include of a file' => '<!--#include virtual="plain.html" -->',
        'an include of SSI' => '<!--#include virtual="/feed/inner-plain.shtml?a" -->',
    );
    while (my ($what, $element) = splice @shared, 0, 2) {
        is(shared($element), '1 1', "$what: shared, the view and the method");
    }
    my @personal = (
        'an include of a file by its name' => '<!--#include file="plain.html" -->',
        'an include with another one for its errors' => '<!--#include virtual="plain.html" onerror="none.html" -->',
        'two includes in one' => '<!--#include virtual="plain.html" virtual="plain.html" -->',
        'an include of a query that is decoded' => '<!--#include virtual="plain.html?a&amp;b" -->',
        'an include of nothing' => '<!--#include virtual="none.html" -->',
        'the name of the document' => '<!--#echo var="DOCUMENT_NAME" -->',
        'the address' => '<!--#echo var="REMOTE_ADDR" -->',
        'the browser' => '<!--#echo var="HTTP_USER_AGENT" -->',
        'a cookie' => '<!--#echo var="HTTP_COOKIE" -->',
        'the time' => '<!--#echo var="DATE_LOCAL" -->',
        'the time of Greenwich' => '<!--#echo var="DATE_GMT" -->',
        'the query' => '<!--#echo var="QUERY_STRING" -->',
        'the name of the host' => '<!--#echo var="HTTP_HOST" -->',
        'a variable of the configuration' => '<!--#echo var="SERVER_NAME" -->',
        'the age of a file' => '<!--#flastmod virtual="plain.html" -->',
        'the size of a file' => '<!--#fsize virtual="plain.html" -->',
        'two variables' => '<!--#echo var="DOCUMENT_NAME" var="REMOTE_ADDR" -->',
        'a condition' => '<!--#if expr="%{HTTP_COOKIE} == \'x\'" -->x<!--#endif -->',
        'all variables' => '<!--#printenv -->',
        'a variable in an attribute' => '<!--#include virtual="plain.html?$HTTP_COOKIE" -->',
        'a variable that is set' => '<!--#set var="x" value="$HTTP_COOKIE" -->',
        'an include that is personal' => '<!--#include virtual="inner.shtml" -->',
        'an include of one that is personal' => '<!--#include virtual="outer.shtml" -->',
        'another handler' => '<!--#include virtual="/test/pid" -->',
        'a feed that names no interest' => '<!--#feed name="tests" method="echo" x="1" template="empty.html" -->',
        'an element in capitals' => '<!--#ECHO var="REMOTE_ADDR" -->',
    );
    my @failing = (
        'a tag that fails' => '<!--#feed name="tests" method="none" -->',
        'a feed that fails' => '<!--#feed name="tests" method="fail" -->',
    );
    while (my ($what, $element) = splice @personal, 0, 2) {
        is(shared($element), '0 0', "$what: personal, the view and the method");
    }

    while (my ($what, $element) = splice @failing, 0, 2) {
        is(shared($element, 1), '0 0', "$what: the page is not kept");
    }

    announce(qr/unable to include/, qr/File does not exist: .*none.html/, qr/VLT00040: feed tests, method none/, qr/VLT00040: feed tests, method fail/, qr/VLT00011: the page cannot be kept live: it was told to fail/);
}
finish();
