# SPDX-License-Identifier: Apache-2.0
# vaultctl doctor loads a page and says what is live, who answers, and what to change: for pages that are live, for those that are not, and
# for what can stand between mod_vault and a browser.
use strict;
use warnings;
use IO::Compress::Gzip qw(gzip);
use IO::Socket::INET;
use JSON::PP ();
use VaultTest;
use VaultTest::Server;
use VaultTest::Site;
use VaultTest::Stub;
use VaultTest::Vaultctl;

needs_vaultctl();
my $live = view_of('/test/rows?name=v11&interest=v11');
my $id = qr/[0-9a-f]{12}/;

sub doctor { return vaultctl('doctor', @_) }

# says(SAID, CODE, NAME, what its sentences are like …): the exit code, and each of them on a line of its own
sub says
{
    my ($said, $code, $name, @sentences) = @_;
    is($said->{code}, $code, "$name: exit code") or diag("$said->{out}$said->{err}");
    for my $sentence (@sentences) {
        like($said->{out}, qr/^$sentence$/m, '... ' . (ref $sentence ? "$sentence" =~ s/^\(\?\^:(.*)\)$/$1/r : $sentence));
    }
    return $said;
}

# The sections of the manual that sentences have named.
my %sections;
sub note_sections
{
    my ($text) = @_;
    $sections{"$1 $2"}++ while $text =~ /; see (\S+\.md), "([^"]+)"$/mg;
    return;
}

# ---------------------------------------------------------------- a server of many faults
my $root = vars('t_logs') . '/doctor-site';
mkdir $root;

sub file
{
    my ($name, $text) = @_;
    open my $file, '>:raw', "$root/$name" or die "$root/$name: $!\n";
    print $file $text;
    close $file or die "$root/$name: $!\n";
    return;
}

my $plain = '<!doctype html><script src="/vault/vault.js" defer></script>';
my $packed = '<!doctype html><title>no script in here</title>';
gzip(\$packed => \my $gzip) or die "gzip\n";
file('index.html', '<!doctype html><title>The application</title>');
file('plain.html', $plain);
file('packed.html', $plain);
file('packed.gz', $gzip);
file('old.html', '<!-- <script data-vault-page="no" src="/no"></script> --><SCRIPT defer src=\'/vault/vault.js\' data-vault-page="' . 'a' x 40 . '"></SCRIPT>');
file('cut.html', '<script src=/vault/vault.js data-vault-page=abc></script>');
file('ssi.html', '<!--#vault poll="/x" -->');
file('failed.html', '<p>[an error occurred while processing this directive]');
file('login.html', '<form><input name=p type=PASSWORD></form>');
file('sniff.html', '<script src="/sniff/vault.js"></script>');
file('text.txt', 'text');
my $top = vars('top_dir');
my @below = map { qq(<Location "/$_/page">\nSetHandler vault-test\nVaultLongPoll On\nVaultPath /$_\n</Location>\n) } qw(taken shut moved gets open silent);
my $config = join '', @below, <<"END";
AddType text/html .html
AddType text/plain .txt
DocumentRoot "$root"
<Directory "$root">
    Require all granted
</Directory>
CustomLog "$root/access" "%U %{X-Secret}i %{Authorization}i"
VaultMaxWaitingPerClient 20
<Location "/vault/page">
    SetHandler vault-page
</Location>
<Location "/changed/">
    SetHandler vault-test
    VaultLongPoll On
    Header set Cache-Control "max-age=60"
</Location>
RewriteEngine On
RewriteRule ^/taken/(?!page) /index.html [PT]
RewriteRule ^/away http://localhost:%{SERVER_PORT}/index.html [R,L]
RewriteCond %{HTTP:Accept-Encoding} gzip
RewriteRule ^/packed.html /packed.gz [T=text/html,E=packed:1]
Header set Content-Encoding gzip env=packed
Alias "/sniff/vault.js" "$top/vault.js"
<Location "/sniff/vault.js">
    ForceType text/plain
    Header set X-Content-Type-Options nosniff
</Location>
<Location "/shut/poll">
    SetHandler vault-poll
    Require all denied
</Location>
Redirect "/moved/poll" "/login.html"
<Location "/gets/poll">
    SetHandler vault-poll
    <Limit POST>
        Require all denied
    </Limit>
</Location>
<Location "/open/poll">
    SetHandler vault-poll
</Location>
<Location "/silent/poll">
    SetHandler vault-poll
    VaultStreamTimeout 0
</Location>
<Location "/open/page">
    AuthType Basic
    AuthName tests
    AuthUserFile "$top/t/conf/site.users"
    Require user anna
</Location>
Redirect "/old" "/login.html"
Redirect "/around" "/around"
END
my $main = 'http://127.0.0.1:' . VaultTest::port_of();
my $faults = VaultTest::Server->start('doctor', config => $config);
my $site = 'http://127.0.0.1:' . $faults->port;

# A proxy that has a Host of its own.
my $front = VaultTest::Server->start('front', without_vault => 1, config => "ProxyPass \"/\" \"$main/\"\nProxyVia On\n");
my $silent = vaultctl_start('doctor', $site . $live =~ s/test/silent/r);    # takes five seconds

# ---------------------------------------------------------------- live
my $said = says(doctor("$main$live"), 0, 'a live page',
    qr{\Q$main$live\E answers 200 over HTTP/1\.1, by Apache\S*.*\.},
    qr{Its HTML is that of a live page, $id, with the script \Q$main\E/vault/vault\.js\.},
    'No cache keeps it: two loadings are two pages, and Cache-Control is "private, no-store"\.',
    'The script is that of mod_vault\.', qr{mod_vault answers \Q$main\E/vault/poll\.},
    'A stream of events begins at once: nothing keeps it back\.', 'A poll waits for news\.', 'An acknowledgement by POST is taken\.',
    'The page is live, and there is nothing to change\.');
SKIP: {
    skip 'polls wait in threads here', 1 unless have_parking();
    like($said->{out}, qr{^The event MPM: polls wait without a thread, \d+ in each of \d+ children \(connections allow \d+, open files \d+\); those that need a thread are 8 in a child \(VaultLongPollThreads\); one client may have 100000\.$}m, '... in which server');
}
my $all = JSON::PP::decode_json(doctor('--json', "$main$live")->{out});
ok($all->{Live}, 'JSON says so, too');
is_deeply([$all->{Url}, $all->{Changes}], ["$main$live", []], '... of this URL, with nothing to change');
ok((grep { $_ eq 'A poll waits for news.' } @{$all->{Facts}}), '... and the same sentences');
says(doctor($main . view_of('/test/echo?text=hi')), 0, 'a page that has news at once', 'A poll is answered at once, with news of 1 of the page\'s methods\.', 'A poll waits for news\.');
$said = says(doctor($main . view_of('/test/status?code=302', '/test/echo?text=hi')), 1, 'a page with a method that redirects to a login',
    'A poll is answered at once, with news of 1 of the page\'s methods\.', 'The page is live, and there is something to change\.',
    'change: The method /test/status\?code=302 answers 302 to the poll: it needs a login that the page and its poll do not bring; .*');
note_sections($said->{out});
is(() = $said->{out} =~ /^change: /mg, 1, '... said once');
announce(qr{VLT00030: .*method /test/status\?code=404});
for my $row ([0, 'not live', '/test/status?code=404'], [1, 'live', '/test/status?code=404', '/test/rows?name=v11&interest=v11']) {
    my ($lives, $word, @methods) = @$row;
    $said = says(doctor($main . view_of(@methods)), 1, "a page with a method that answers 404, of " . @methods, 'A poll waits for news\.',
        'change: The method /test/status\?code=404 fails when the poll runs it, so the page shows none of its updates: VLT00030 .*',
        "The page is $word, and there is something to change\\.");
    note_sections($said->{out});
    is(() = $said->{out} =~ /^change: /mg, 1, '... and no other change');
    is($said->{out} =~ /^An acknowledgement by POST is taken/m ? 1 : 0, $lives, '... a page that is live acknowledges');
}
says(doctor("$site/plain.html"), 0, 'a plain file', qr{Its HTML is a plain file with the script \Q$site\E/vault/vault\.js, which asks for a page\.},
    qr{mod_vault answers \Q$site\E/vault/page\.});
says(doctor($live =~ s{^}{127.0.0.1:@{[VaultTest::port_of()]}}r), 0, 'a URL without a scheme', 'A poll waits for news\.');

# ---------------------------------------------------------------- a client of its own
# A tag that fails leaves a page that the server does not keep.
announce(qr/VLT00040: .*no table "nowhere"/, qr/VLT00011: the page cannot be kept live: /);
site_file('/view/v11-fails.shtml', '<!--#vault poll="/test/rows?name=v11&interest=v11" --><!--#feed name="database" method="all" table="nowhere" -->');
$said = says(doctor("$main/view/v11-fails.shtml"), 1, 'a page with a tag that fails',
    'change: mod_vault does not know the page \(410, ".*"\): .* or something in the page failed when it was rendered, and VLT00011 in the error log says what; .*',
    qr{The status at \Q$main\E/vault/ does not know the page: .*});
note_sections($said->{out});

my $source = '<turbo-stream-source src="<!--#echo var="HTTP_VAULT_STREAM" -->"></turbo-stream-source>';
site_file('/view/v11-turbo.shtml', qq(<!--#vault stream="/test/rows?name=v11&interest=v11" -->$source));
$said = says(doctor("$main/view/v11-turbo.shtml"), 0, 'a page whose stream Turbo takes',
    qr{Its HTML is that of a live page, $id, without the script of mod_vault: a client of its own, such as Turbo or htmx, takes the stream at \Q$main\E/vault/poll\.},
    'No cache keeps it: two loadings are two pages, .*', 'A stream of HTML begins at once: nothing keeps it back\.',
    'The page is live, and there is nothing to change\.');
site_file('/view/v11-both.shtml', qq(<!--#vault poll="/test/rows?name=v11&interest=v11" -->$source));
$said = says(doctor("$main/view/v11-both.shtml"), 1, 'a page with both',
    'change: The HTML has the script of mod_vault, and another client that takes the stream: .*', 'The page is live, and there is something to change\.');
note_sections($said->{out});
file("htmx-$_->[0].html", qq(<!doctype html><body sse-connect="/$_->[1]?page=) . 'a' x 40 . '&amp;as=html">') for ['old', 'vault/poll'], ['off', 'silent/poll'], ['gone', 'nothing/poll'];
for my $row (
    ['old', 'mod_vault does not know the page: a cache keeps the HTML, the page and its stream reach .*'],
    ['off', 'The stream is refused \(406, ".*"\); see protocol\.md, .*'],
    ['gone', qr{\Q$site\E/nothing/poll answers 404, and it is something else than mod_vault that does: .*}],
) {
    my ($name, $sentence) = @$row;
    $said = says(doctor("$site/htmx-$name.html"), 1, "a stream of a page: $name", qr/change: $sentence/, 'The page is not live, and there is something to change\.');
    note_sections($said->{out});
}

# ---------------------------------------------------------------- the page is not live
for my $row (
    ["$main/denied/x", 'An answer of status 403 is never a live page: the server does not let it be seen from here; .*'],
    ["$site/nothing", 'An answer of status 404 is never a live page; .*'],
    ["$site/text.txt", 'The answer is no HTML \(Content-Type: text/plain\); .*'],
    ["$site/index.html", 'The HTML has no script of mod_vault: VaultLongPoll is not On there, or nothing names a method .*'],
    ["$site/ssi.html", 'Tags of SSI are in the HTML as they were written: Options \+Includes .*'],
    ["$site/failed.html", 'A tag of SSI has failed: .*'],
    ["$site/packed.html", 'The application compresses its HTML itself, .*'],
    ["$site/cut.html", 'data-vault-page is no id of 40 hexadecimal digits: .*'],
    ["$site/around", 'There are more than 5 redirects; .*'],
    ["$site/open/page", 'A user is needed: --user or --netrc say who, .*'],
    ["$site/old", 'This is a page for logging in: --header "Cookie: \.\.\." .*'],
) {
    my ($url, $sentence) = @$row;
    $said = says(doctor($url), 1, $url, "change: $sentence", 'The page is not live, and there is something to change\.');
    note_sections($said->{out});
    is(() = $said->{out} =~ /^change: /mg, 1, '... and no other change');
}
announce(qr{AH01630: client denied by server configuration: \S+/denied});
like(doctor("$site/old")->{out}, qr{^\Q$site\E/old leads to \Q$site\E/login\.html \(302\)\.$}m, 'a redirect is told');

# ---------------------------------------------------------------- something is in between
announce(qr{AH01630: client denied by server configuration: \S+/(?:shut|gets)});
for my $row (
    [1, "$site/old.html", 'Two loadings gave the same page: a cache or a caching plug-in keeps the HTML \(no header says which\), .*'],
    [1, "$site/old.html", 'mod_vault does not know the page \(410, ".*"\): a cache keeps the HTML, .*'],
    [1, $site . $live =~ s/test/changed/r, 'Cache-Control is "max-age=60" where mod_vault says "private, no-store": .*'],
    [1, $site . $live =~ s/test/taken/r, qr{\Q$site\E/taken/vault\.js answers 200, and not with the client of mod_vault: .*}],
    [1, $site . $live =~ s/test/taken/r, qr{\Q$site\E/taken/poll answers 200, and it is something else than mod_vault that does: .*}],
    [1, $site . $live =~ s/test/shut/r, qr{\Q$site\E/shut/poll answers 403: whoever may see the page must be let in here as well, .*}],
    [1, $site . $live =~ s/test/moved/r, qr{\Q$site\E/moved/poll leads to \Q$site\E/login\.html \(302\): something else than mod_vault .*}],
    [1, $site . $live =~ s/test/gets/r, 'An acknowledgement, by POST, is answered 403 where mod_vault answers 204: .*'],
    [1, "$site/sniff.html", 'The script has the type "text/plain" and X-Content-Type-Options, so browsers do not run it: .*'],
    [1, '-u', 'anna:secret', $site . $live =~ s/test/open/r, 'The poll is refused \(403, ".*"\): give its URL the same authentication as the page; .*'],
) {
    my ($code, @words) = @$row;
    my $sentence = pop @words;
    $said = says(doctor(@words), $code, "@words", qr/change: $sentence/);
    note_sections($said->{out});
}

# No other server gets the login and the headers of the command.
$said = says(doctor('-u', 'anna:secret', '-H', 'X-Secret: hush', "$site/away"), 1, 'a redirect to another origin',
    qr{\Q$site\E/away leads to http://localhost:\d+/index\.html \(302\), another origin, which is not told the login and the headers of this command\.});
my @access = split /\n/, read_file("$root/access");
is_deeply([grep { m{^/(?:away|index\.html) } } @access[-2, -1]], ['/away hush -', '/index.html - -'], '... and it is not');


# The status of another server, and one that may not be asked.
announce(qr{AH01630: client denied by server configuration: \S+/denied});
says(doctor('--url', "$site/vault/", "$main$live"), 0, 'the status of another server', qr{The status at \Q$site\E/vault/ does not know the page: it is that of another server, or no page was kept\.});
says(doctor('--url', "$main/denied", "$main$live"), 0, 'a status that is closed',
    qr{What kind of server it is, and whether the page's methods fail, cannot be asked from here \(\Q$main\E/denied/status\?check answers 403\): .*});

$said = says(doctor('http://127.0.0.1:' . $front->port . view_of('/test/rows?name=v11-front&interest=v11-front')), 1, 'through a proxy', qr/A proxy is in between \(Via: 1\.1 .*\)\./,
    'change: A POST of the page is refused \(".*"\): a proxy must pass on the Host header of the browser .*',
    'The page is live, and there is something to change\.');
note_sections($said->{out});
text_of('/test/add?name=v11-front&notify=v11-front');    # so that the proxy, which knows of no hang-up, waits for no poll when it is stopped

$said = says(vaultctl_end($silent), 1, 'no stream', 'change: Nothing of a stream of events came within 5 s, so pages poll instead: .*', 'A poll waits for news\.');
note_sections($said->{out});

# Twenty polls of one client may wait there.
use_server($faults);
wait_waiting(0);
my @waiting = map { live_page(['/test/rows?name=v11&interest=v11'])->start_poll } 1 .. 20;
wait_waiting(20);
$said = says(doctor("$site$live"), 1, 'a client at its limit', 'change: The poll is refused \(503, ".*"\); see operating\.md, .*');
note_sections($said->{out});
announce(qr{VLT00291});
use_server();

# ---------------------------------------------------------------- TLS and HTTP/2
SKIP: {
    skip 'httpd has no TLS', 4 unless have_tls();
    my $tls = 'https://localhost:' . VaultTest::port_of('vault_tls');
    $said = doctor("$tls$live");
    is($said->{code}, 2, 'a certificate of an unknown authority');
    like($said->{err}, qr{^vaultctl: \Q$tls$live\E: .*certificate}, '... it says so');
    my ($version, @changes) = have_http2() && qx(curl --version) =~ /nghttp2/ ? ('2', 'change: httpd speaks HTTP/2 itself, so each poll that waits holds a thread: .*') : ('1\.1');
    $said = says(doctor('--cacert', vars('top_dir') . '/certificate.pem', "$tls$live"), @changes ? 1 : 0, 'a page over TLS', qr{\S+ answers 200 over HTTP/$version, .*}, @changes);
    note_sections($said->{out});
    site_file('/d11-mixed.shtml', "<script src='$main/vault/vault.js'></script>");
    $said = says(doctor('-k', "$tls/d11-mixed.shtml"), 1, 'a script that comes without', 'change: The page comes over https and its script does not, so browsers do not load it; .*');
    note_sections($said->{out});
}

# ---------------------------------------------------------------- another MPM
SKIP: {
    skip 'httpd has no prefork MPM', 3 unless VaultTest::Server::has_mpm('prefork');
    use_server(VaultTest::Server->start('doctor-prefork', mpm => 'prefork', config => ''));
    $said = says(doctor('http://127.0.0.1:' . VaultTest::port_of() . $live), 1, 'prefork',
        'The prefork MPM: each poll that waits holds a thread, of 1 in each of 12 children; 8 may \(VaultLongPollThreads\)\.',
        'change: vaultctl check: with the prefork MPM each poll that waits holds one of 12 processes: .*',
        'The page is live, and there is something to change\.');
    note_sections($said->{out});
    use_server();
}
SKIP: {
    skip 'httpd has no worker MPM', 2 unless VaultTest::Server::has_mpm('worker');
    use_server(VaultTest::Server->start('doctor-worker', mpm => 'worker', config => ''));
    $said = says(doctor('http://127.0.0.1:' . VaultTest::port_of() . $live), 1, 'worker',
        'change: The event MPM of httpd 2\.4\.63 and later lets polls wait without a thread; .*');
    note_sections($said->{out});
    use_server();
}

# ---------------------------------------------------------------- what cannot be asked
my $nowhere = 'http://127.0.0.1:' . VaultTest::Server::free_port() . '/';
for my $row (
    [$nowhere, qr{^vaultctl: \Q$nowhere\E: .*onnect}], ['ftp://127.0.0.1/', qr{ftp://127\.0\.0\.1/: this is no URL of http or https}],
    ['http://u:p@127.0.0.1/', qr{^vaultctl: http://127\.0\.0\.1/: --user says who logs in, not the URL$}],
) {
    $said = doctor($row->[0]);
    is($said->{code}, 2, $row->[0]);
    like($said->{err}, $row->[1], '... it says why');
    is($said->{out}, '', '... and nothing else');
}
like(doctor()->{err}, qr/which page\?/, 'without a URL');
is(doctor('a', 'b')->{code}, 2, 'two URLs');

# ---------------------------------------------------------------- a server that answers what it likes
my $stub = VaultTest::Stub->new;
my $esc = "\e[2J\e]0;owned\a\x{9b}31m\xe2\x80\xae\x7f";
my $text_of_terminal = qr/[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]/;
my %hostile = (
    'a header and HTML' => "HTTP/1.1 200 OK\r\nServer: $esc\r\nVia: $esc\r\nCache-Control: $esc\r\nContent-Type: text/html\r\n\r\n<script src='/$esc/vault.js' data-vault-page=" . 'b' x 40 . '>',
    'a redirect' => "HTTP/1.1 302 Found\r\nLocation: /$esc\r\nContent-Length: 0\r\n\r\n",
    'a type' => "HTTP/1.1 200 OK\r\nContent-Type: $esc\r\n\r\n$esc",
    'a header of mod_vault' => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nVault-Poll: $esc\r\n\r\n",
    'a status of its own' => qq(HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<script data-vault-page=@{['c' x 40]} src=/vault.js>{"Limits":{"MPM":"$esc"}}),
    'a stream' => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<body sse-connect='/$esc/poll?page=" . 'd' x 40 . "&as=html'>",
    'an answer that is a tag' => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<script " . join(' ', map { "a$_='" } 1 .. 50_000),
    'no end' => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" . '<' x 6_000_000,
    'another comment' => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!--",
);
for my $name (sort keys %hostile) {
    $stub->answers($hostile{$name});
    for my $json ([], ['--json']) {
        $said = doctor(@$json, '-m', 5, $stub->url);
        ok($said->{code} =~ /^[12]$/, "hostile: $name @$json: exit code") or diag($said->{code});
        my $both = "$said->{out}$said->{err}";
        ok($both !~ $text_of_terminal && utf8::decode($both), '... in harmless words') or diag(JSON::PP->new->ascii->allow_nonref->encode($both));
        ok(!@$json || eval { JSON::PP::decode_json($said->{out}) } || $said->{code} == 2, '... and JSON');
    }
}
$stub->answers($hostile{'a header of mod_vault'});
$said = says(doctor($stub->url), 1, 'a server without the module', 'change: The answer still has its header Vault-Poll, which mod_vault takes out of every answer: .*');
note_sections($said->{out});

# Each section that was named is one.
for my $named (sort keys %sections) {
    my ($page, $section) = split / /, $named, 2;
    like(read_file("$top/docs/$page"), qr/^#+ \Q$section\E$/m, "$page has \"$section\"");
}
cmp_ok(scalar keys %sections, '>', 10, 'many sections were named');

finish();
