# SPDX-License-Identifier: Apache-2.0
# Where VaultCache is not set, live pages of SSI, feeds and templates are rendered once, whatever the requests of clients contain.
# What other modules do for one visitor affects no other visitor.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

use constant LUA => grep { /lua_module/ } split /^/m, VaultTest::read_file(vars('t_conf') . '/modules.conf');

my $top = vars('top_dir');
my $htdocs = vars('documentroot');
my $TAG = '<!--#feed name="tests" method="again" interest="ours" template="again.html" replace="view" -->';

sub write_pages
{
    my ($folder) = @_;
    site_file("$folder/again.html", '<p id="view">{{#rows}}{{view}}{{/rows}}</p>');
    site_file("$folder/live-new.shtml", "now $TAG");
    live_shtml("$folder/live.shtml", "$folder/live-new.shtml", "$TAG\n");
    site_file("$folder/plain.shtml", $TAG);
    return;
}
my @folders = qw(free off on early polls interests members php lua gate charset expires session);
write_pages("/ours/$_") for @folders;
site_file('/ours/php/live.php', VaultTest::read_file("$htdocs/ours/php/live.shtml"));
site_file('/ours/lua.lua', <<'END');
require 'apache2'
function answer(r)
    r.content_type = 'text/html'
    r:puts('[', r.headers_in['X-Visitor'] or '', ']')
    return apache2.OK
end
function say(r)
    r.headers_out['X-Said'] = r.headers_in['X-Visitor'] or ''
    if r.headers_in['X-Poll'] then
        r.headers_out['Vault-Poll'] = r.headers_in['X-Poll']
    end
    if r.headers_in['X-Property'] then
        r.headers_out['Vault-Property'] = 'who=' .. r.headers_in['X-Property']
    end
    return apache2.OK
end
END

my $lua = LUA ? <<"END" : '';
<Location "/ours/lua/">
    LuaMapHandler "/live(-new)?\\.shtml\$" "$htdocs/ours/lua.lua" answer
    LuaHookFixups "$htdocs/ours/lua.lua" say
</Location>
<Location "/ours/free/">
    LuaHookFixups "$htdocs/ours/lua.lua" say
</Location>
END

# Modules of httpd that have filters of their own. mod_session adds one to every response, also where `Session` is off: so all that is
# shared here is shared beside it.
my $modules = VaultTest::Server::_modules_dir();
my $session = join '', map { qq(LoadModule ${_}_module "$modules/mod_$_.so"\n) } qw(expires session session_cookie);
$session .= <<"END";
<Location "/ours/expires/">
    VaultCache On
    ExpiresActive On
    ExpiresDefault "access plus 1 hour"
</Location>
<Location "/ours/session/">
    Session On
    SessionCookieName session
    SessionMaxAge 1000
</Location>
<Location "/ours/app/">
    VaultCache On
    SetHandler vault-test
</Location>
END

my $config = <<"END" . live_folder('/ours');
VaultFeed tests "$top/modules/vault_feed_test.so" word=hello
DocumentRoot "$htdocs"
<Directory "$htdocs">
    Require all granted
</Directory>
<Location "/ours/off/">
    VaultCache Off
</Location>
<Location "/ours/on/">
    VaultCache On
</Location>
Header add Set-Cookie "visit=%t" early
Header add X-Visit "%t" early
<Location "/ours/early/">
    Header set X-Server "%{HTTP_HOST}e"
</Location>
<Location "/ours/polls/">
    VaultPoll "/ours/polls/live-new.shtml?of=%{escape:%{HTTP:X-Visitor}}" "%{HTTP:X-Visitor} != ''"
</Location>
<Location "/ours/interests/">
    VaultInterest "of-%{HTTP:X-Visitor}" "%{HTTP:X-Visitor} != ''"
</Location>
<Location "/ours/gate/">
    SetEnv vault-test-gate member
</Location>
<Location "/ours/charset/">
    AddType "text/html; charset=utf-8" .shtml
</Location>
<Location "/ours/php/">
    AddType application/x-httpd-php .php
    AddOutputFilter INCLUDES .php
</Location>
<Location "/test/">
    SetHandler vault-test
    VaultLongPoll On
</Location>
$session$lua
END
use_server(VaultTest::Server->start('ours', config => $config . for_users('^/ours/members/')));
settle();

# A request, and whether the store answered.
sub ask
{
    my ($path, %with) = @_;
    my $before = status()->{Cached};
    my $answer = get($path, %with);
    return ($answer, status()->{Cached} - $before);
}

# The number of views, of three, that the store answered, and of runs of the methods that it saved.
sub shared
{
    my ($path, %with) = @_;
    my $before = status();
    my @pages = map { open_page($path, %with) } 1 .. 3;
    $_->poll for @pages;
    my $after = status();
    return join ' ', map { $after->{$_} - $before->{$_} } qw(Cached Shared);
}

# ---------------------------------------------------------------- what is shared
is(shared('/ours/free/live.shtml'), '2 2', 'a live page: its view and its method');
is(shared('/ours/charset/live.shtml'), '2 2', 'whatever the parameters of its media type are');
is(shared('/ours/on/live.shtml'), '2 2', 'VaultCache On: the same');
is(shared('/ours/off/live.shtml'), '0 0', 'VaultCache Off: nothing');
my $not_live = status_of_children()->{Personal}{notlive};
is((ask('/ours/free/plain.shtml'))[1], 0, 'a page that is not live is not kept') for 1 .. 2;
is(status_of_children()->{Personal}{notlive} - $not_live, 2, '... and the status says why');
is((ask('/ours/on/plain.shtml'))[1], $_, '... but where VaultCache is On') for 0, 1;

# ---------------------------------------------------------------- what a client writes into its request
for my $n (1 .. 3) {
    is((ask("/ours/free/live.shtml?$n"))[1], 1, 'a query makes no other page of it');
    is((ask('/ours/free/live.shtml', headers => {Host => "h$n.example"}))[1], 1, 'nor does a name of the host');
    is((ask("/ours/free/live.shtml/$n"))[1], 0, 'with a path behind its name it is not kept');
}
is((ask('/ours/free/live.shtml', headers => {Authorization => 'Basic YTpi'}))[1], 0, 'nor with credentials');
is((ask('/ours/free/live.shtml', headers => {'Content-Length' => 0}))[1], 0, 'nor with a body');

# ---------------------------------------------------------------- what the site has configured
is(shared('/ours/members/live.shtml', headers => {Authorization => 'Basic YW5uYTpzZWNyZXQ='}), '0 0', 'who has logged in shares nothing');
is(shared('/ours/php/live.php'), '0 2', 'a media type may name a handler: such a page is not kept');

my @visits = map { [ask('/ours/early/live.shtml')] } 1 .. 3;
is(join(' ', map { $_->[1] } @visits), '0 1 1', 'Header, and cookies of other modules, do not make a page personal');
my %seen;
for my $visit (@visits) {
    my ($headers) = $visit->[0]{headers};
    is(join(',', grep { $seen{$headers->{$_}}++ || $headers->{$_} =~ /,/ } qw(set-cookie x-visit)), '', '... and each visitor has the headers of its own request, once');
    ok(exists $headers->{'x-server'}, '... with those that Header sets');
}

is(shared('/ours/expires/live.shtml'), '2 2', 'mod_expires: a live page is shared');
@visits = map { [ask('/ours/expires/plain.shtml')] } 1 .. 3;
is(join(' ', map { $_->[1] } @visits), '0 1 1', '... and so is another one');
is($visits[2][0]{headers}{'cache-control'}, 'max-age=3600', '... until the time that it has set');
is(shared('/ours/session/live.shtml'), '0 2', 'Session On: mod_session says that a page is private');
my @said = map { [ask('/ours/app/said?name=X-Visitor&header=Vault-Shared:yes&header=Vault-Interest:app')] } 1 .. 3;
is(join(' ', map { $_->[1] } @said), '0 0 0', 'mod_session: an application can set a session by a header, which is for no other visitor');

# ---------------------------------------------------------------- what other modules do to a request
for my $visitor (qw(anna bert anna bert)) {
    my $view = open_page('/ours/polls/live.shtml', headers => {'X-Visitor' => $visitor});
    like(text_of('/vault/status?page=' . $view->id), qr/of=$visitor/, "VaultPoll: what it gives for $visitor");
}
# The status of a page after its polls have got all updates, so that the last poll waits.
sub after_its_polls
{
    my ($path, %headers) = @_;
    my $page = open_page($path);
    my ($poll, $now);
    do {
        $page->finish_poll($poll) if $poll;
        my $before = status();
        $poll = $page->start_poll(undef, %headers);
        $now = wait_until(sub { my $s = status(); ($s->{Waiting} || $s->{Answers} > $before->{Answers}) && $s }, 'the poll is answered or waits');
    } until $now->{Waiting};
    my $status = text_of('/vault/status?page=' . $page->id);
    $poll->close;
    wait_waiting(0);
    return $status;
}
for my $visitor ('', 'anna', 'bert') {
    my ($interest) = after_its_polls('/ours/interests/live.shtml', 'X-Visitor' => $visitor) =~ /\b(of-\w+)/;
    is($interest // '', $visitor && "of-$visitor", 'VaultInterest: what it gives for ' . ($visitor || 'no name'));
}

# A handler of another module answers in the place of the file, but not for members.
my @member = ('X-Visitor' => 'member');
is(join(' ', map { (ask('/ours/gate/live.shtml', headers => {@member}))[1] } 1 .. 3), '0 1 1', 'a handler of another module declines: the page is kept');
is(get('/ours/gate/live.shtml')->{body}, 'for members', '... for those for whom it declines');
my @members = map { open_page('/ours/gate/live.shtml', headers => {@member}) } 1 .. 3;
my $saved = status()->{Shared};
like(VaultTest::Page::text($_->poll(undef, @member)), qr/now/, '... the method, too') for @members[0, 1];
is(status()->{Shared} - $saved, 1, '... it runs once for them');
is(VaultTest::Page::text($members[2]->poll), 'for members', '... and for no other visitor');

SKIP: {
    skip 'this httpd has no mod_lua', 1 unless LUA;
    for my $visitor (qw(anna bert)) {
        my @property = after_its_polls('/ours/free/live.shtml', 'X-Property' => $visitor) =~ /"(anna|bert)"/g;
        is("@property", $visitor, "a hook may set a property for the method of $visitor");
        unlike(after_its_polls('/ours/free/live.shtml'), qr/"(?:anna|bert)"/, '... and for no other page');
    }
    for my $visitor (qw(anna bert)) {
        my ($answer, $cached) = ask('/ours/free/live.shtml', headers => {'X-Visitor' => $visitor});
        is("$cached $answer->{headers}{'x-said'}", "1 $visitor", 'headers of a hook are those of the request');
        ($answer, $cached) = ask('/ours/lua/live.shtml', headers => {'X-Visitor' => $visitor});
        is("$cached $answer->{body}", "0 [$visitor]", 'a handler that answers in place of a file is found out');
        my $view = open_page('/ours/free/live.shtml', headers => {'X-Poll' => "/ours/free/live-new.shtml?of=$visitor"});
        like(text_of('/vault/status?page=' . $view->id), qr/of=$visitor/, 'a hook may add methods, for its request');
    }
}

finish();
