# SPDX-License-Identifier: Apache-2.0
# A bundle is compressed once, and sent in the form that the client prefers; each form has its ETag. A real program minifies.
use strict;
use warnings;
use Compress::Zlib ();
use IPC::Open2 qw(open2);
use VaultTest;
use VaultTest::Site;

my $rules = join '', map { ".rule-$_ {\n    color: red;\n}\n" } 1 .. 100;
site_file('/forms/a.css', $rules);
site_file('/forms/small.css', "a {\n    color: #ff0000;\n}\n");
site_file('/forms/one.js', "var count = 1 + 1 // two\n");
site_file('/forms/page.shtml', '<style><!--#include virtual="/forms/site.css" --></style>');
my ($esbuild) = grep { -x } map { "$_/esbuild" } split /:/, $ENV{PATH};
my $filters = $esbuild ? join '', map { qq(VaultBundleFilter $_ "esbuild --minify --loader=$_"\n) } qw(css js) : '';
my $server = VaultTest::Server->start('bundle-forms', config => <<"END");
VaultBundle /forms/site.css forms/a.css
VaultBundle /forms/small.css forms/small.css
VaultBundle /forms/app.js forms/one.js
$filters<Directory "@{[vars('documentroot')]}">
    Require all granted
    Options +Includes
    AddOutputFilter INCLUDES .shtml
    <IfModule deflate_module>
        AddOutputFilterByType DEFLATE text/css text/html
    </IfModule>
</Directory>
END
use_server($server);

SKIP: {
    skip 'esbuild is not installed', 2 unless $esbuild;
    is(text_of('/forms/small.css'), "a{color:red}\n", 'esbuild minifies CSS');
    is(text_of('/forms/app.js'), "var count=2;\n", '  and JavaScript');
}

sub accepts { return get('/forms/site.css', headers => {'Accept-Encoding' => $_[0], %{$_[1] || {}}}, method => $_[2] || 'GET') }
sub coding { return $_[0]{headers}{'content-encoding'} // 'plain' }

my $plain = accepts('identity');
is(coding($plain), 'plain', 'plain');
my $has_br = coding(accepts('br')) eq 'br';
my $best = $has_br ? 'br' : 'gzip';
for my $row (['gzip', 'gzip', 'gzip'], ["gzip, deflate, br", $best, 'a browser'], ['gzip;q=0.5, br;q=0.1', 'gzip', 'the higher weight'],
    ['identity, gzip;q=0.9', 'plain', 'plain is preferred'], ['gzip;q=0', 'plain', 'gzip is refused'], ['*', $best, 'any']) {
    my $answer = accepts($row->[0]);
    is(coding($answer), $row->[1], "Accept-Encoding: $row->[0]: $row->[2]");
    is($answer->{headers}{vary}, 'Accept-Encoding', '  which caches are told');
}

my $gzip = accepts('gzip');
is(Compress::Zlib::memGunzip(my $copy = $gzip->{body}), $plain->{body}, 'gzip has the same content, compressed once');
cmp_ok(length $gzip->{body}, '<', length($plain->{body}) / 2, '  and is shorter');
is($gzip->{headers}{etag}, $plain->{headers}{etag} =~ s/"$/-gzip"/r, 'it has an ETag of its own');
ok(accepts('gzip')->{body} eq $gzip->{body}, 'it is kept');
SKIP: {
    skip 'this build has no brotli, or there is no node', 2 unless $has_br && grep { -x "$_/node" } split /:/, $ENV{PATH};
    my $br = accepts('br');
    is($br->{headers}{etag}, $plain->{headers}{etag} =~ s/"$/-br"/r, 'br has its ETag');
    my $pid = open2(my $out, my $in, 'node', '-e', 'process.stdout.write(require("zlib").brotliDecompressSync(require("fs").readFileSync(0)))');
    binmode $in;
    print $in $br->{body};
    close $in;
    is(do { local $/; readline $out }, $plain->{body}, '  and the same content');
    waitpid $pid, 0;
}

my $head = accepts('gzip', {}, 'HEAD');
is("$head->{headers}{'content-length'} " . coding($head), length($gzip->{body}) . ' gzip', 'HEAD says the length of that form');
is(accepts('gzip', {'If-None-Match' => $gzip->{headers}{etag}})->{status}, 304, 'not modified');
is(accepts('gzip', {'If-None-Match' => $plain->{headers}{etag}})->{status}, 200, '  but the ETag of another form does not match');
my $part = accepts('gzip', {Range => 'bytes=2-9', 'If-Range' => $gzip->{headers}{etag}});
is("$part->{status} " . ($part->{body} eq substr $gzip->{body}, 2, 8), '206 1', 'a range of a form');
is(coding(get('/forms/small.css', headers => {'Accept-Encoding' => 'gzip, br'})), 'plain', 'what would not become shorter is sent plain');

# A subrequest has the headers of its page's client, and must not answer with a form or 304 in the middle of the page.
my $page = get('/forms/page.shtml', headers => {'If-None-Match' => $plain->{headers}{etag}});
is($page->{body}, "<style>$plain->{body}</style>", 'a page includes a bundle');
$page = get('/forms/page.shtml', headers => {'Accept-Encoding' => 'gzip, br'});
is(coding($page) eq 'gzip' ? Compress::Zlib::memGunzip($page->{body}) : $page->{body}, "<style>$plain->{body}</style>", '  that is compressed as a whole');

finish();
