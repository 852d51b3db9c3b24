# SPDX-License-Identifier: Apache-2.0
# Kept responses are compressed once, by the filters of httpd, and sent in the form that the client prefers. The log says whether a filter ran.
use strict;
use warnings;
use Compress::Zlib ();
use VaultTest;
use VaultTest::Site;

settle_files();

my $module = VaultTest::Server::_modules_dir() . '/mod_brotli.so';
my $br = -f $module;
my $both = $br ? 'BROTLI_COMPRESS;DEFLATE' : 'DEFLATE';
my $brotli = $br ? qq(LoadModule brotli_module "$module"\nBrotliFilterNote Output br-size\n) : '';
my $log = vars('t_logs') . '/forms-log';
unlink $log;
my $config = <<"END";
DeflateFilterNote Output gzip-size
${brotli}CustomLog "$log" "%{X-Request}i gzip %{gzip-size}n br %{br-size}n"
<Location "/kept/">
    SetHandler vault-test
    VaultCache On
    AddOutputFilterByType $both text/html
</Location>
<Directory "@{[site_path('/cache')]}">
    VaultCache On
    Options +Includes
    AddType text/html .shtml
    AddOutputFilter INCLUDES;DEFLATE .shtml
</Directory>
SendBufferSize 8192
<Location "/kept/chain/">
    SetOutputFilter $both
</Location>
<Location "/kept/old/">
    AddOutputFilterByType DEFLATE text/html text/plain
    SetEnvIf User-Agent old no-gzip no-brotli
    SetEnvIf User-Agent html gzip-only-text/html
    SetEnvIf User-Agent force force-gzip
</Location>
END

SKIP: {
    skip 'httpd has no mod_deflate', 1 unless have_module('deflate');
    use_server(VaultTest::Server->start('forms', size => "ThreadLimit 32\nThreadsPerChild 32\nMaxRequestWorkers 32\n", config => $config));

    my $n = 0;
    my $shared = 'header=Vault-Shared:yes&header=Cache-Control:max-age=1000';
    my $text = join ' ', 1 .. 200;
    my $path = '/kept/echo?text=' . ($text =~ tr/ /+/r) . "&$shared";

    # A request: {coding, filtered: did a filter of httpd run, cached: did the store answer}
    my $ask = sub {
        my ($what, $accept, %with) = @_;
        my $before = status()->{Cached};
        my $id = ++$n;
        my $answer = get($what, %with, headers => {'X-Request' => $id, $accept ? ('Accept-Encoding' => $accept) : (), %{$with{headers} || {}}});
        my $line;
        wait_until(sub { ($line) = grep { /^$id / } split /\n/, -f $log ? read_file($log) : '' }, 'the request is logged');
        return {
            %$answer,
            coding => $answer->{headers}{'content-encoding'} // 'plain',
            filtered => $line =~ /(?:gzip|br) \d/ ? 1 : 0,
            cached => status()->{Cached} - $before,
        };
    };

    # ------------------------------------------------------------ once
    my $plain = $ask->($path);
    is("$plain->{coding} $plain->{body}", "plain $text", 'the first response is rendered, plain');
    my $first = $ask->($path, 'gzip');
    is("$first->{coding} $first->{cached} $first->{filtered}", 'gzip 1 1', 'the first client that accepts gzip: httpd compresses the kept response');
    my $gzip = $ask->($path, 'gzip');
    is("$gzip->{coding} $gzip->{cached} $gzip->{filtered}", 'gzip 1 0', 'the next one is sent that form, and no filter runs');
    is(Compress::Zlib::memGunzip(my $copy = $gzip->{body}), $text, '  which is the response, compressed once');
    is($gzip->{body}, $first->{body}, '  with the same bytes');
    is($gzip->{headers}{'content-length'}, length $gzip->{body}, '  and their length');
    like($_->{headers}{vary}, qr/Accept-Encoding/, '  as caches are told') for $first, $gzip, $ask->($path);
    my $tag = $ask->($path)->{headers}{etag};
    is($_->{headers}{etag}, $tag =~ s/"$/-gzip"/r, '  it has an entity tag of its own') for $first, $gzip;
    is($ask->($path)->{body}, $text, 'a client that accepts none has the plain response');

    # ------------------------------------------------------------ HTTP
    my $head = $ask->($path, 'gzip', method => 'HEAD');
    is("$head->{coding} $head->{headers}{'content-length'} [$head->{body}]", 'gzip ' . length($gzip->{body}) . ' []', 'HEAD');
    my $same = $ask->($path, 'gzip', headers => {'If-None-Match' => $gzip->{headers}{etag}});
    is("$same->{status} $same->{headers}{etag}", "304 $gzip->{headers}{etag}", 'not modified');
    like($same->{headers}{vary}, qr/Accept-Encoding/, '  with Vary');
    is($ask->($path, 'gzip', headers => {'If-None-Match' => $tag})->{status}, 200, '  but the tag of the plain form is of another one');
    is($ask->($path, undef, headers => {'If-None-Match' => $gzip->{headers}{etag}})->{status}, 200, '  and the other way round');
    my $range = $ask->($path, 'gzip', headers => {Range => 'bytes=2-9', 'If-Range' => $gzip->{headers}{etag}});
    is("$range->{status} $range->{coding} " . ($range->{body} eq substr $gzip->{body}, 2, 8), '206 gzip 1', 'a range of the form');
    $range = $ask->($path, 'gzip', headers => {Range => 'bytes=2-9', 'If-Range' => $tag});
    is($range->{status}, 200, '  not for a client that has a part of the plain response');
    $range = $ask->($path, undef, headers => {Range => 'bytes=2-9'});
    is("$range->{status} $range->{body}", '206 ' . substr($text, 2, 8), 'a range of the plain response');

    # ------------------------------------------------------------ which form
    my $best = $br ? 'br' : 'gzip';
    $ask->($path, 'br') for 1 .. 2;
    for my $row (["gzip, deflate, br", $best, 'a browser'], ['gzip;q=0.9, br;q=0.1', 'gzip', 'the higher weight'],
        ['identity, gzip;q=0.5', 'plain', 'plain is preferred'], ['gzip;q=0', 'plain', 'gzip is refused'], ['*', $best, 'any']) {
        my $answer = $ask->($path, $row->[0]);
        is("$answer->{coding} $answer->{filtered}", "$row->[1] 0", "Accept-Encoding: $row->[0]: $row->[2]");
    }
    SKIP: {
        skip 'httpd has no mod_brotli', 1 unless $br;
        is($ask->($path, 'br')->{headers}{etag}, $tag =~ s/"$/-br"/r, 'br has its tag');
    }

    # ------------------------------------------------------------ not compressed
    my $typed = "/kept/big?bytes=1000&$shared";
    $ask->($typed, 'gzip') for 1 .. 3;
    my $other = $ask->($typed, 'gzip');
    is("$other->{cached} $other->{coding}", '1 plain', 'another media type stays plain, as httpd is configured');
    is($other->{headers}{vary}, undef, '  and does not vary');
    $ask->("/kept/echo?text=small&$shared", 'gzip') for 1 .. 2;
    is($ask->("/kept/echo?text=small&$shared", 'gzip')->{coding}, 'plain', 'so does a small response');
    my $old = $path =~ s{/kept/}{/kept/old/}r;
    $ask->($old, 'gzip') for 1 .. 2;
    my $kept = $ask->($old, 'gzip');
    is("$kept->{coding} $kept->{filtered}", 'gzip 0', 'a kept form');
    my $not = $ask->($old, 'gzip', headers => {'User-Agent' => 'old'});
    is("$not->{coding} $not->{cached} $not->{body}", "plain 1 $text", '  is not for a client with no-gzip');
    my $text_plain = "/kept/old/big?bytes=1000&$shared";
    is($ask->($text_plain, 'gzip', headers => {'User-Agent' => 'html'})->{coding}, 'plain', '  nor with gzip-only-text/html for another type') for 1 .. 2;
    $ask->($text_plain, 'gzip');
    $other = $ask->($text_plain, 'gzip');
    is("$other->{coding} $other->{filtered}", 'gzip 0', '  which keeps no other client from it');
    is($ask->($old, undef, headers => {'User-Agent' => 'force'})->{coding}, 'gzip', '  and force-gzip is left to httpd');

    # ------------------------------------------------------------ the filters are in the chain of each response
    my $chain = $path =~ s{/kept/}{/kept/chain/}r;
    $ask->($chain, $best) for 1 .. 2;
    my $answer = $ask->($chain, $best);
    is("$answer->{coding} $answer->{cached} $answer->{filtered}", "$best 1 0", 'SetOutputFilter: the same');

    # ------------------------------------------------------------ an application's own tag
    my $own = "$path&header=ETag:W/%22own%22";
    $ask->($own, 'gzip') for 1 .. 2;
    is($ask->($own, 'gzip')->{headers}{etag}, 'W/"own-gzip"', 'the tag of an application');

    # ------------------------------------------------------------ changes, and a client that leaves
    my $value = '/kept/value?name=v&header=Vault-Shared:yes&header=Vault-Interest:forms';
    for my $round (qw(one two)) {
        text_of('/test/set?name=v&value=' . $round x 100);
        text_of('/test/notify?interest=forms');
        $ask->($value, 'gzip') for 1 .. 4;
        my $now = $ask->($value, 'gzip');
        is("$now->{cached} $now->{filtered} " . Compress::Zlib::memGunzip($now->{body}), '1 0 ' . $round x 100, "the form of the present response: $round");
    }

    # A large response, whose form does not fit into the buffers of a client that does not read.
    my $large = '<!--#config errmsg="" -->' . join ' ', map { int rand 1e12 } 1 .. 9000;
    site_file('/cache/large-form.shtml', $large);
    $large =~ s/^<.*?>//;
    my $big = '/cache/large-form.shtml';
    is($ask->($big, 'gzip')->{cached}, 0, 'a large response, which comes to the filter in parts');
    is($ask->($big)->{cached}, 1, '  is kept although its first client had it compressed');
    my $slow = connect_to(receive_buffer => 4096);
    $slow->request(GET => $big, {'Accept-Encoding' => 'gzip', 'X-Request' => 'slow'});
    wait_until(sub { $ask->($big, 'gzip')->{filtered} == 0 }, 'a client that does not read keeps no other one from the form');
    ok(Compress::Zlib::memGunzip($ask->($big, 'gzip')->{body}) eq $large, '  which is whole');
    ok(Compress::Zlib::memGunzip($slow->response->{body}) eq $large, '  and the slow client has it in the end');
}
finish();
