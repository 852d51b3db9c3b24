# SPDX-License-Identifier: Apache-2.0
# Where VaultCache is not set, visitors for whom httpd decides differently share nothing: conditions, rewriting, languages, virtual hosts,
# access control, .htaccess files, filters, sessions. And no client can fill the store.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

my $top = vars('top_dir');
my $htdocs = vars('documentroot');
my $modules = VaultTest::Server::_modules_dir();
my $TAG = '<!--#feed name="tests" method="again" interest="site" template="again.html" replace="view" -->';

# A live page that shows its name, and its method.
sub write_page
{
    my ($path, $more) = @_;
    site_file("/site$path-new.shtml", $TAG);
    return live_shtml("/site$path.shtml", "/site$path-new.shtml", "[$path] $TAG" . ($more // '') . "\n");
}
my @folders = qw(free if includes language rewrite bots guarded htaccess filter named session fill members);
for my $folder (@folders) {
    site_file("/site/$folder/again.html", '<p id="view">{{#rows}}{{view}}{{/rows}}</p>');
    write_page("/$folder/live");
}
for my $language (qw(de en)) {
    rename site_path(write_page("/language/page-$language")), site_path("/site/language/page.shtml.$language") or die $!;
}
site_file('/site/if/part.html', 'a part');
site_file('/site/guarded/part.html', 'for anna');
write_page('/includes/if', '<!--#include virtual="/site/if/part.html" -->');
write_page('/includes/guarded', '<!--#include virtual="/site/guarded/part.html" -->');
write_page('/rewrite/beta');
my $base = <<"END" . live_folder('/site');
VaultFeed tests "$top/modules/vault_feed_test.so" word=hello
DocumentRoot "$htdocs"
<Directory "$htdocs">
    Require all granted
</Directory>
END
my $config = $base . for_users('^/site/members/') . <<"END";
LoadModule negotiation_module "$modules/mod_negotiation.so"
LoadModule substitute_module "$modules/mod_substitute.so"
<VirtualHost *>
    ServerName first.example
</VirtualHost>
<VirtualHost *>
    ServerName second.example
    VaultPath /second
</VirtualHost>
<Location "/site/if/">
    <If "%{HTTP:X-Visitor} == 'anna'">
        SSIErrorMsg "for anna"
    </If>
</Location>
<Directory "$htdocs/site/language">
    Options +MultiViews
    AddLanguage de .de
    AddLanguage en .en
</Directory>
<Directory "$htdocs/site/rewrite">
    RewriteEngine On
    Options +FollowSymLinks
    RewriteCond %{HTTP_COOKIE} beta
    RewriteRule ^live\\.shtml\$ beta.shtml
</Directory>
<Location "/site/bots/">
    SetEnvIf User-Agent Bot no-vault-page
</Location>
<Location "/site/guarded/">
    Require expr "%{HTTP:X-Visitor} == 'anna'"
</Location>
<Directory "$htdocs/site/htaccess">
    AllowOverride All
</Directory>
<Location "/site/filter/">
    AddOutputFilterByType SUBSTITUTE text/html
    Substitute "s/live/lively/"
</Location>
<Location "/site/named/">
    FilterDeclare mine
    FilterProvider mine INCLUDES "%{HTTP:X-Visitor} == 'anna'"
    FilterChain +mine
</Location>
<Location "/site/session/">
    VaultSession On
</Location>
END
use_server(VaultTest::Server->start('visitors', config => $config));
settle();

# What was answered, and whether the store answered.
sub ask
{
    my ($path, %headers) = @_;
    my $before = status()->{Cached};
    my $answer = get("/site$path", headers => \%headers);
    return ($answer, status()->{Cached} - $before);
}

# The number of views, of three, that the store answered, and of runs of the methods that it saved. Then the view is asked for once more,
# since the notify has invalidated it.
sub shared
{
    my ($path, %headers) = @_;
    my $before = status();
    my @pages = map { open_page("/site$path", headers => \%headers) } 1 .. 3;
    my $views = status()->{Cached};
    text_of('/test/notify?interest=site');
    $_->poll(undef, %headers) for @pages;
    my $runs = status()->{Shared};
    get("/site$path", headers => \%headers);
    return $views - $before->{Cached} . ' ' . ($runs - $before->{Shared});
}

# Each of two visitors asks twice, in turn: the texts in square brackets that they see.
sub seen
{
    my ($path, @visitors) = @_;
    return join ' ', map { (ask($path, @$_))[0]{body} =~ /(\[.*?\])/ ? $1 : (ask($path, @$_))[0]{status} } @visitors, @visitors;
}
my ($anna, $bert) = map { ['X-Visitor' => $_] } qw(anna bert);

is(shared('/free/live.shtml'), '2 2', 'a live page: its view and its method');
is(shared('/free/live.shtml', Cookie => 'a=b', 'User-Agent' => 'x', Accept => 'text/html', Referer => 'http://a/'), '3 2',
    'what else a browser sends makes no difference');

my $why = sub { status_of_children()->{Personal}{if} };
my $before = $why->();
is(shared('/if/live.shtml', @$_), '0 0', '<If> may look at anything') for $anna, $bert;
is($why->() - $before, 14, '... the status says so of each view and each run');
is(shared('/includes/if.shtml'), '0 2', '... also in a path that a page includes, and its method does not') for 1, 2;

is(seen('/includes/guarded.shtml', $anna), '[/includes/guarded] [/includes/guarded]', 'a page that includes what only anna may see');
like((ask('/includes/guarded.shtml', @$anna))[0]{body}, qr/for anna/, '... who sees it');
unlike((ask('/includes/guarded.shtml', @$bert))[0]{body}, qr/for anna/, '... bert does not');
announce(qr/unable to include/, qr/AH01630: client denied/);
is(seen('/guarded/live.shtml', $anna, $bert), '[/guarded/live] 403 [/guarded/live] 403', 'a page that only anna may see');
is(shared('/guarded/live.shtml', @$anna), '3 2', '... is kept');
my $page = open_page('/site/guarded/live.shtml', headers => {@$anna});
is($page->poll(undef, @$bert)->{refused}[0]{status} // 'not refused', 403, '... nor is its method for bert');

my @language = map { ['Accept-Language' => $_] } qw(de en);
is(seen('/language/page', @language), '[/language/page-de] [/language/page-en] [/language/page-de] [/language/page-en]', 'a page in two languages');
is((ask('/language/page', @{$language[0]}))[0]{headers}{'content-language'}, 'de', '... with its header');
is(seen('/rewrite/live.shtml', [Cookie => 'beta=1'], []), '[/rewrite/beta] [/rewrite/live] [/rewrite/beta] [/rewrite/live]', 'rewritten by a cookie');
is(shared('/rewrite/live.shtml', Cookie => 'beta=1'), '3 2', '... and kept');

my @agents = map { ['User-Agent' => $_] } qw(Bot Browser);
is(join(' ', map { (ask('/bots/live.shtml', @$_))[0]{body} =~ /data-vault-page/ ? 'live' : 'not' } @agents, @agents), 'not live not live',
    'no-vault-page: a crawler gets no page, and others do');

my @hosts = map { [Host => "$_.example"] } qw(first second);
is(join(' ', map { (ask('/free/live.shtml', @$_))[0]{body} =~ m{src="([^"]*/)vault} } @hosts, @hosts), '/vault/ /second/ /vault/ /second/', 'two virtual hosts');

is(shared('/filter/live.shtml'), '0 0', 'a filter that is not known');
is(shared('/named/live.shtml', @$_), '0 0', 'a filter of the site whose condition looks at the request') for $anna, $bert;
is(shared('/session/live.shtml'), '0 0', 'a session');
is(shared('/members/live.shtml', Authorization => 'Basic YW5uYTpzZWNyZXQ='), '0 0', 'a login');

# .htaccess files count for the next request.
is(shared('/htaccess/live.shtml'), '2 2', 'no .htaccess');
site_file('/site/htaccess/.htaccess', "Options -Includes\n");
like((ask('/htaccess/live.shtml'))[0]{body}, qr/<!--#feed/, 'a page that is no longer SSI');
announce(qr/mod_include: Options \+Includes .* wasn't set/);
site_file('/site/htaccess/.htaccess', "VaultCache Off\n");
is(shared('/htaccess/live.shtml'), '0 0', 'VaultCache Off');
site_file('/site/htaccess/.htaccess', undef);
is(shared('/htaccess/live.shtml'), '2 2', '... and no longer');

# One client cannot affect the others.
is(shared('/fill/live.shtml'), '2 2', 'a page');
$before = status();
ask("/fill/live.shtml?$_", Host => "h$_.example", Cookie => "c=$_", 'User-Agent' => $_) for 1 .. 20;
ask("/fill/live.shtml/$_") for 1 .. 20;
is(status()->{Outputs}, $before->{Outputs}, 'what a client invents makes no other output');
ask('/fill/live.shtml', @$_) for ['Cache-Control' => 'no-cache'], [Range => 'bytes=0-1'], ['If-None-Match' => '*'], [Authorization => 'Basic YTpi'], ['Content-Length' => 0];
get('/site/fill/live.shtml', method => $_) for qw(HEAD OPTIONS POST);
is((ask('/fill/live.shtml'))[1], 1, 'the others have the kept page whatever one client asks for');

# The elements of SSI can be looked for only where they have the usual tags.
use_server(VaultTest::Server->start('tags', config => qq(${base}SSIEndTag "-->"\n)));
is(shared('/free/live.shtml'), '0 0', 'a site that sets the tags of SSI');
cmp_ok(status_of_children()->{Personal}{ssi}, '>', 0, '... and the status says why');

finish();
