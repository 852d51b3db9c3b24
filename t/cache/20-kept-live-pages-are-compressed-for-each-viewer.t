# SPDX-License-Identifier: Apache-2.0
# A kept live page is compressed by the filters of httpd as a page that was rendered: for each viewer, with the id of the viewer's own page in it.
# No compressed form of it is kept, and each page is live.
use strict;
use warnings;
use Compress::Zlib ();
use VaultTest;
use VaultTest::Site;

my $module = VaultTest::Server::_modules_dir() . '/mod_brotli.so';
my $br = -f $module;
my $brotli = $br ? qq(LoadModule brotli_module "$module"\nBrotliFilterNote Output br-size\n) : '';
my $log = vars('t_logs') . '/live-forms-log';
unlink $log;
my $filters = $br ? 'BROTLI_COMPRESS;DEFLATE' : 'DEFLATE';

SKIP: {
    skip 'httpd has no mod_deflate', 1 unless have_module('deflate');
    use_server(VaultTest::Server->start('live-forms', config => live_folder('/zipped') . <<"END"));
DeflateFilterNote Output gzip-size
${brotli}CustomLog "$log" "%{X-Request}i gzip %{gzip-size}n br %{br-size}n"
VaultFeed tests "@{[vars('top_dir')]}/modules/vault_feed_test.so" word=hello
<Directory "@{[site_path('/zipped')]}">
    AddOutputFilterByType $filters text/html
    VaultCache On
</Directory>
END
    my $text = join ' ', 1 .. 3000;
    site_file('/zipped/method.shtml', '<!--#feed name="tests" method="again" interest="zipped" template="again.html" -->');
    site_file('/zipped/again.html', '{{#rows}}[again]{{/rows}}');
    live_shtml('/zipped/page.shtml', 'method.shtml', "<p>$text</p>\n");
    settle();

    my $n = 0;
    my $ask = sub {
        my ($accept) = @_;
        my $id = ++$n;
        my $before = status();
        my $answer = get('/zipped/page.shtml', headers => {'X-Request' => $id, $accept ? ('Accept-Encoding' => $accept) : ()});
        my $line;
        wait_until(sub { ($line) = grep { /^$id / } split /\n/, -f $log ? read_file($log) : '' }, 'the request is logged');
        my $coding = $answer->{headers}{'content-encoding'} // 'plain';
        my $html = $coding eq 'gzip' ? Compress::Zlib::memGunzip(my $copy = $answer->{body}) : $coding eq 'plain' ? $answer->{body} : undef;
        return {%$answer, coding => $coding, html => $html, cached => status()->{Cached} - $before->{Cached},
            filtered => join('', $line =~ /(gzip|br) \d/)};
    };

    is($ask->()->{cached}, 0, 'the first view is rendered');
    my $memory = status()->{OutputMemory};
    my @answers = map { $ask->('gzip') } 1 .. 4;
    is("$_->{coding} $_->{cached} $_->{filtered}", 'gzip 1 gzip', 'a viewer that accepts gzip: from the store, by a filter of httpd') for @answers;
    my @pages = map { VaultTest::Page->new({%$_, body => $_->{html}}) } @answers;
    my %ids = map { $_->id => 1 } @pages;
    is(scalar keys %ids, @pages, '... each with an id of its own');
    my %same = map { my $id = $pages[$_]->id; ($answers[$_]{html} =~ s/$id/ID/gr) => 1 } 0 .. $#pages;
    is(scalar keys %same, 1, '... and the same page otherwise');
    like($_->{html}, qr/<p>\Q$text\E/, '... which is whole') for $answers[-1];
    for my $answer (@answers) {
        like($answer->{headers}{vary}, qr/Accept-Encoding/, '... Vary');
        is($answer->{headers}{'cache-control'}, 'private, no-store', '... no cache may store it');
        is($answer->{headers}{etag}, undef, '... and it has no tag');
        last;
    }
    is($ask->()->{coding}, 'plain', 'a viewer that accepts none has it plain');
    SKIP: {
        skip 'httpd has no mod_brotli', 3 unless $br;
        for my $accept ('br', 'gzip, br', 'gzip;q=1, br;q=0.1') {
            my $answer = $ask->($accept);
            is("$answer->{coding} $answer->{cached} $answer->{filtered}", 'br 1 br', "Accept-Encoding: $accept: by the first filter that may");
        }
    }
    is(status()->{OutputMemory}, $memory, 'the store keeps the plain page alone');

    # Their polls.
    $_->{seq} = $_->poll->{seq} for @pages;
    my @polls = map { $_->start_poll } @pages;
    wait_waiting(scalar @pages);
    text_of('/test/notify?interest=zipped');
    like(VaultTest::Page::text($pages[$_]->finish_poll($polls[$_])), qr/\[again\]/, 'each page is live') for 0 .. $#pages;
}
use_server();
finish();
