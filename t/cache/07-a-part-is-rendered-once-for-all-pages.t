# SPDX-License-Identifier: Apache-2.0
# <!--#vault cached="/path" -->: a part is rendered once, whichever pages contain it, and is never shown to a visitor who may not see it.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

settle_files();

my $SHARED = 'header=Vault-Shared:yes';
my $LONG = "$SHARED&header=Cache-Control:max-age=1000";

sub part { return join '', map { qq(<!--#vault cached="$_" -->) } @_ }

# A page that is not kept itself; one that is.
sub page_with { my ($name, @parts) = @_; return site_file("/cache/pages/$name.shtml", '(' . part(@parts) . ')') }
sub kept_page_with { my ($name, @parts) = @_; return site_file("/cache/whole-$name.shtml", '(' . part(@parts) . ')') }

# The body of a page.
sub shown { return get(@_)->{body} }

sub growth
{
    my ($counter, $code) = @_;
    my $before = status()->{$counter};
    $code->();
    return status()->{$counter} - $before;
}

# ---------------------------------------------------------------- once for all
my $counted = "/cache/app/add?name=p1&$LONG";
page_with('one', $counted);
page_with('two', $counted, '/cache/country.html');
site_file('/cache/country.html', 'Peru');
is(shown('/cache/pages/one.shtml'), '(1)', 'a part is rendered');
is(growth(Parts => sub { is(shown('/cache/pages/two.shtml'), '(1Peru)', '... once for two pages') }), 1, '... and counted');
is(shown('/cache/pages/one.shtml', headers => {'Cache-Control' => 'no-cache'}), '(2)', 'a client may ask for a new one');
is(shown('/cache/pages/two.shtml'), '(2Peru)', '... which replaces the kept one');
site_file('/cache/country.html', 'Chile');
is(shown('/cache/pages/two.shtml'), '(2Chile)', 'a changed file is a change');
page_with('personal', "/cache/app/add?name=p2&header=Cache-Control:max-age=1000");
is(shown('/cache/pages/personal.shtml'), "($_)", 'a handler that does not say that its output is shared runs each time') for 1 .. 2;
page_with('endless', "/cache/app/add?name=p3&$SHARED");
is(shown('/cache/pages/endless.shtml'), "($_)", '... and one of which nothing says when its output changes') for 1 .. 2;
page_with('private', "/cache/app/add?name=p4&$LONG&header=Set-Cookie:a=b");
is(shown('/cache/pages/private.shtml'), "($_)", '... and one that sets a cookie') for 1 .. 2;
page_with('url', "/cache/app/said?name=X-Who&$LONG&header=Vary:X-Who");
is(shown('/cache/pages/url.shtml', headers => {'X-Who' => $_}), "($_)", "Vary: the part for $_") for qw(anna bert anna);

# ---------------------------------------------------------------- a part is notified
my $value = "/cache/app/get?name=v1&$SHARED&header=Vault-Interest:part-value";
text_of('/test/set?name=v1&value=one');
page_with('value', $value);
kept_page_with('value', $value);
shown('/cache/pages/value.shtml') for 1 .. 2;
text_of('/test/set?name=v1&value=two');
is(shown('/cache/pages/value.shtml'), '(one)', 'a part is kept until its interest is notified');
is(shown('/cache/whole-value.shtml'), '(one)', '... and so is a page that contains it') for 1 .. 3;
is(growth(Cached => sub { shown('/cache/whole-value.shtml') }), 1, '... which is kept');
text_of('/test/notify?interest=part-value');
is(shown('/cache/whole-value.shtml'), '(two)', 'the page is not used after the notify');
is(shown('/cache/pages/value.shtml'), '(two)', '... nor is the part');
my $personal = kept_page_with('personal', "/cache/app/add?name=p5&header=Cache-Control:max-age=1000");
is(shown($personal), "($_)", 'a page is personal if its part is') for 1 .. 2;
my $private = kept_page_with('private', "/cache/app/add?name=p6&$SHARED&header=Cache-Control:private,max-age=1000");
is(shown($private), "($_)", '... as its headers say, too') for 1 .. 3;

# ---------------------------------------------------------------- who may see it
my %anna = (headers => {'X-Who' => 'anna'});
for my $kind (['a part', qq(<!--#vault cached="/cache/app/guarded/add?name=g1&$LONG" -->)], ['an included file', '<!--#include virtual="guarded/secret.html" -->']) {
    my ($what, $element) = @$kind;
    site_file('/cache/guarded/secret.html', '1');
    site_file('/cache/pages/guarded.shtml', "($element)" =~ s{virtual="}{virtual="/cache/}r);
    site_file('/cache/whole-guarded.shtml', "($element)");
    for my $page ('/cache/pages/guarded.shtml', '/cache/whole-guarded.shtml') {
        is(shown($page, %anna), '(1)', "$page: $what that this visitor may see") for 1 .. 2;
        is(shown($page), '([ssi error])', '... and another one may not') for 1 .. 2;
        is(shown($page, %anna), '(1)', '... is still there for the first');
    }
    is(growth(Cached => sub { shown('/cache/whole-guarded.shtml', %anna) }), 1, '... with the kept page');
    is(growth(Cached => sub { shown('/cache/whole-guarded.shtml') }), 0, '... which the other one never gets');
}
my $outer = site_file('/cache/whole-outer.shtml', '{<!--#include virtual="/cache/whole-guarded.shtml" -->}');
is(shown($outer, %anna), '{(1)}', 'an include in an include') for 1 .. 2;
is(growth(Cached => sub { shown($outer, %anna) }), 1, '... is kept');
is(shown($outer), '{([ssi error])}', '... and is not for the other visitor');
announce(qr/AH\d+: client denied by server configuration/, qr/unable to include ".*guarded.secret\.html"/, qr/VLT00040: vault cached="[^"]*": /);

# ---------------------------------------------------------------- bad paths
site_file('/cache/noexec/page.shtml', '(' . part('/cache/app/pid') . part('/cache/noexec/program.bin') . ')');
site_file('/cache/noexec/program.bin', 'x');
is(shown('/cache/noexec/page.shtml') =~ s/^\(\d+/(PID/r, '(PID[ssi error])', 'IncludesNoExec: what is not text is refused');
site_file('/cache/self.shtml', part('/cache/self.shtml'));
site_file('/cache/first.shtml', part('/cache/second.shtml'));
site_file('/cache/second.shtml', part('/cache/first.shtml'));
for my $row (
    ['country.html', 'no slash'], ['//localhost/cache/country.html', 'two slashes'], ['http://localhost/cache/country.html', 'a scheme'],
    ['/cache/pages/../country.html', 'a path upward'], ['/cache/pages/%2e%2e/country.html', 'an encoded one'], ['', 'nothing'],
) {
    my ($url, $why) = @$row;
    page_with('bad', $url);
    is(shown('/cache/pages/bad.shtml'), '([ssi error])', "refused: $why");
}
page_with('itself', '/cache/pages/itself.shtml');
is(shown('/cache/pages/itself.shtml'), '([ssi error])', 'refused: the page itself');
page_with('circle', '/cache/first.shtml');
is(shown('/cache/pages/circle.shtml'), '([ssi error])', '... also in a circle');
page_with('missing', '/cache/none.html');
is(shown('/cache/pages/missing.shtml'), '([ssi error])', 'refused: what is not there');

# ---------------------------------------------------------------- a page cannot wait in the middle of its document
my $slow = "/cache/app/add?name=s1&before=part07&$LONG";
page_with('slow', $slow);
text_of('/test/close?name=part07');
my @both = map { my $c = connect_to(); $c->request(GET => '/cache/pages/slow.shtml'); $c } 1 .. 2;
wait_arrived('part07', 2);
open_barrier('part07');
is_deeply([sort map { $_->response->{body} } @both], ['(1)', '(2)'], 'two pages that need a part at once render it twice');
is(arrived('part07'), 2, '... and wait for one another no longer than that');
like(shown('/cache/pages/slow.shtml'), qr/^\([12]\)$/, 'then it is kept');

# ---------------------------------------------------------------- live pages
SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $feed = '<!--#feed name="database" method="get_new_instances" table="kept" template="part-row.html" append="list" -->';
    site_file('/cache/part-row.html', '{{#rows}}[{{line}}]{{/rows}}');
    site_file('/cache/part-list.shtml', $feed);
    my $insert = sub { calls_feed('database', 'save', {table => 'kept', values => {line => $_[0], writer => 0}}) };
    my $last = sub { return ($_[0] =~ /\[(\w+)\]/g)[-1] };
    $insert->('p');
    live_shtml('/cache/pages/live.shtml', '/cache/part-list.shtml', part('/cache/part-list.shtml'));
    live_shtml('/cache/whole-live.shtml', '/cache/part-list.shtml', part('/cache/part-list.shtml'));

    my @pages = (open_page('/cache/pages/live.shtml'));
    is(growth(Parts => sub { push @pages, open_page('/cache/pages/live.shtml') }), 1, 'a live page takes a kept part');
    is(growth(Parts => sub { push @pages, open_page('/cache/whole-live.shtml') }), 1, '... and so does one that is kept itself');
    is(growth(Cached => sub { push @pages, open_page('/cache/whole-live.shtml') }), 1, '... which then comes as a whole');
    is($last->($_->html), 'p', 'each shows the last row') for @pages;
    $insert->('q');
    is($_->news =~ s/.*template>(\[.*\])<.*/$1/sr, '[q]', '... and gets the next one once') for @pages;
    is($last->(open_page('/cache/whole-live.shtml')->html), 'q', 'a new page shows it');
}

# ---------------------------------------------------------------- the same call beside a part, at another position
my $later = '<!--#feed name="tests" method="later" interest="part-later" template="part-at.html" -->';
site_file("/cache/$_", '{{#rows}}[{{at}}]{{/rows}}') for 'part-at.html', 'pages/part-at.html';
for my $order ('before', 'behind') {
    my $path = site_file("/cache/part-$order.shtml", $later);
    live_shtml('/cache/pages/alone.shtml', $path, part($path));
    live_shtml("/cache/pages/$order.shtml", $path, $order eq 'before' ? $later . part($path) : part($path) . $later);
    shown('/cache/pages/alone.shtml');
    is(growth(Parts => sub { shown('/cache/pages/alone.shtml') }), 1, "$order: the part is kept");
    my @html = map { shown("/cache/pages/$order.shtml") } 1 .. 2;
    is(is_kept($html[0]), $order eq 'before', '... a page that gets another position with the same call is live only if it renders the part after that');
    ok(is_kept($html[1]), '... the next time it is, as it renders the part itself');
    for (grep { is_kept($_) } @html) {
        my ($first, $second) = /\[([\d.]+)\]/g;
        is($first, $second, '... and shows one position');
    }
}
announce(qr/VLT00011: the page cannot be kept live: the same call of a feed was made twice/);
finish();
