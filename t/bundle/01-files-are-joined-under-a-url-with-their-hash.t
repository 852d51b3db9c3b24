# SPDX-License-Identifier: Apache-2.0
# VaultBundle: the files in their order under one URL; a tag writes the URL with the hash of the content, which may be cached for a year; a
# change of a file is seen at once.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

site_file('/bundle/a.css', "\xef\xbb\xbf\@charset \"utf-8\";\n\@import url(base.css);\na { color: red }\n");
site_file('/bundle/b.css', "/* b */ b { color: blue }");
site_file('/bundle/one.js', "let one = 1 // no line end");
site_file('/bundle/two.js', "(function () { return 2 })()\n");
site_file('/bundle/empty.css', '');
site_file('/bundle/head.html', "<b>caf\xc3\xa9</b>");
site_file('/bundle/page.shtml', qq(<link rel="stylesheet" href="<!--#vault bundle="/bundle/site.css" -->">\n));
site_file('/bundle/lua.lua', "local vault = require 'vault'\nfunction handle(r) r:puts(tostring(vault.bundle_url(r, '/bundle/site.css')), ' ', "
    . "tostring(vault.bundle_url(r, '/none.css'))) return apache2.OK end\n");
my $outside = vars('t_logs') . '/outside.js';
open my $file, '>', $outside or die "$outside: $!\n";
print $file "let outside\n";
close $file;

# A front controller, a proxy, rules and filters, as sites have them: a bundle is answered in spite of all of them.
my $server = VaultTest::Server->start('bundle', config => <<"END");
VaultBundle /bundle/site.css bundle/a.css bundle/b.css
VaultBundle /bundle/app.js bundle/one.js "$outside" bundle/two.js
VaultBundle /bundle/empty.css bundle/empty.css
VaultBundle /bundle/parts.html bundle/head.html
<Directory "@{[vars('documentroot')]}">
    Require all granted
    Options +Includes
    AddOutputFilter INCLUDES .shtml
    FallbackResource /test/echo?text=fallback
</Directory>
<IfModule lua_module>
    <Files "*.lua">
        SetHandler lua-script
        LuaPackageCPath "@{[vars('top_dir')]}/lua/?.so"
    </Files>
</IfModule>
RewriteEngine On
RewriteRule "^/bundle/site.*\\.css\$" "/test/echo?text=rewritten" [PT]
<Location "/bundle/app.js">
    Header set X-Section app
</Location>
END
use_server($server);

# ---------------------------------------------------------------- joined
my $css = get('/bundle/site.css');
is($css->{status}, 200, 'a bundle');
is($css->{body}, "\n\@import url(base.css);\na { color: red }\n\n/* b */ b { color: blue }", 'the files in their order, without byte order mark and @charset');
is($css->{headers}{'content-type'}, 'text/css; charset=utf-8', 'its type says what @charset said');
is($css->{headers}{'cache-control'}, 'max-age=60', 'without a hash it is cached for a minute');
is($css->{headers}{vary}, 'Accept-Encoding', 'caches keep its forms apart');
my $js = get('/bundle/app.js');
is($js->{body}, "let one = 1 // no line end\n;\nlet outside\n\n;\n(function () { return 2 })()\n", 'no file of JavaScript continues the one before');
is($js->{headers}{'content-type'}, 'text/javascript; charset=utf-8', '  and its type');
is($js->{headers}{'x-section'}, 'app', 'a section of the configuration applies to its URL');
my $html = get('/bundle/parts.html');
is("$html->{headers}{'content-type'} $html->{body}", "text/html; charset=utf-8 <b>caf\xc3\xa9</b>", 'HTML');

my $empty = get('/bundle/empty.css', headers => {'Accept-Encoding' => 'gzip'});
is("$empty->{status} $empty->{headers}{'content-length'}", '200 0', 'an empty file');

# ---------------------------------------------------------------- the URL with a hash
my $tag = qr{<link rel="stylesheet" href="(/bundle/site-[0-9a-f]{16}\.css)">};
my ($url) = text_of('/bundle/page.shtml') =~ $tag;
ok($url, 'the tag writes a URL with a hash');
my $hashed = get($url);
is($hashed->{body}, $css->{body}, '  whose answer is the bundle');
is($hashed->{headers}{'cache-control'}, 'max-age=31536000, immutable', '  and may be cached for a year');
is($hashed->{headers}{etag}, $css->{headers}{etag}, '  with the same ETag');
like($hashed->{headers}{etag}, qr/^"[0-9a-f]+"$/, '  which is a strong one');
like($hashed->{headers}{expires}, qr/ GMT$/, '  and a date for mod_expires');
SKIP: {
    skip 'the module for Lua was not built', 1 unless -f vars('top_dir') . '/lua/vault.so';
    is(text_of('/bundle/lua.lua'), "$url nil", 'Lua gets the same URL, and nil for a URL of no bundle');
}
for my $other ('/bundle/site-0123456789abcdef.css', $url =~ s/-(.)/'-' . ($1 eq '0' ? '1' : '0')/er) {
    my $answer = get($other);
    is("$answer->{status} $answer->{body}", "200 $css->{body}", 'with another hash: the present content');
    is($answer->{headers}{'cache-control'}, 'max-age=60', '  for a minute');
}
for my $none ('/bundle/site-0123456789ABCDEF.css', '/bundle/site-0123456789abcde.css', '/bundle/site-0123456789abcdef0.css',
    '/bundle/site-0123456789abcdef.js', '/bundle/site-.css', '/bundle/site.css/x') {
    isnt(get($none)->{body}, $css->{body}, "$none is no URL of it");
}
is(get($url =~ s/site/app/r =~ s/css/js/r)->{headers}{'cache-control'}, 'max-age=60', 'the hash of one bundle is not that of another');
is(get($url =~ s/site/app/r =~ s/css/js/r)->{headers}{'x-section'}, 'app', 'sections apply to URLs with a hash');

# ---------------------------------------------------------------- HTTP
my $head = get($url, method => 'HEAD');
is("$head->{status} $head->{headers}{'content-length'} $head->{body}", '200 ' . length($css->{body}) . ' ', 'HEAD');
my $same = get($url, headers => {'If-None-Match' => $hashed->{headers}{etag}});
is($same->{status}, 304, 'not modified');
is($same->{headers}{'cache-control'}, 'max-age=31536000, immutable', '  for another year');
is($same->{headers}{etag}, $hashed->{headers}{etag}, '  with its ETag');
my $part = get($url, headers => {Range => 'bytes=1-7', 'If-Range' => $hashed->{headers}{etag}});
is("$part->{status} $part->{body}", '206 @import', 'a range of this very content');
is(get($url, headers => {Range => 'bytes=1-7', 'If-Range' => '"other"'})->{status}, 200, '  and all of it to one who has another');
my $post = post($url, 'a=b');
is("$post->{status} " . join(',', sort split /, */, $post->{headers}{allow} // ''), '405 GET,HEAD,TRACE', 'POST is refused');

# ---------------------------------------------------------------- changes
site_file('/bundle/b.css', "b { color: green }");
my ($new) = text_of('/bundle/page.shtml') =~ $tag;
isnt($new, $url, 'a changed file has another URL');
like(get($new)->{body}, qr/green/, '  with the new content');
is(get($new)->{headers}{'cache-control'}, 'max-age=31536000, immutable', '  for a year');
my $old = get($url, headers => {'If-None-Match' => $hashed->{headers}{etag}});
is("$old->{status} $old->{headers}{'cache-control'}", '200 max-age=60', 'the old URL has the new content, for a minute');
like($old->{body}, qr/green/, '  and no 304');

# Changes in place, of the same length, within a tick of the file system's clock.
my $stale = 0;
for my $n (10 .. 29) {
    open my $css, '+<', site_path('/bundle/b.css') or die "b.css: $!\n";
    print $css sprintf 'b { order: %2d     }', $n;
    close $css;
    $stale++ unless text_of('/bundle/site.css') =~ /order: $n/;
}
is($stale, 0, 'twenty changes, each as soon as the one before was read, are all seen');

# A file that is gone, and one that is no CSS any more.
announce(qr{VLT00411: VaultBundle /bundle/app.js: \Q$outside\E: No such file});
unlink $outside or die "$outside: $!\n";
my $gone = get('/bundle/app.js');
is("$gone->{status} $gone->{body}", "200 $js->{body}", 'without one of its files the bundle is as it was');
is($gone->{headers}{'cache-control'}, 'max-age=60', '  for a minute');
open $file, '>', $outside or die "$outside: $!\n";
print $file "let again\n";
close $file;
like(get('/bundle/app.js')->{body}, qr/let again/, 'it heals');
$server->reconfigure($server->{config} =~ s/VaultBundle \/bundle\/parts.html.*//r);
isnt(get('/bundle/parts.html')->{body}, $html->{body}, 'a bundle that is not configured any more is gone');

finish();
