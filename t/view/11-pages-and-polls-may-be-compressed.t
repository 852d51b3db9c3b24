# SPDX-License-Identifier: Apache-2.0
# mod_deflate on pages and on polls: neither the page's tag nor the poll's answer is hidden from us, or spoilt.
use strict;
use warnings;
use IO::Uncompress::Gunzip ();
use VaultTest;
use VaultTest::Site;

SKIP: {
    skip 'httpd has no mod_deflate', 1 unless have_module('deflate');
    my %gzip = ('Accept-Encoding' => 'gzip');
    my $unzip = sub {
        my ($answer, $what) = @_;
        is($answer->{headers}{'content-encoding'}, 'gzip', "$what is compressed");
        IO::Uncompress::Gunzip::gunzip(\$answer->{body}, \my $text) or die "not gzip: $IO::Uncompress::Gunzip::GunzipError\n";
        return $text;
    };

    text_of('/test/set?name=zip&value=0');
    live_shtml('/view/zipped/index.shtml', '/test/rows?name=zip&interest=zip', '<p>' . 'again ' x 500 . "</p>\n");
    my $view = get('/view/zipped/', headers => \%gzip);
    my $html = $unzip->($view, 'the view');
    is($view->{headers}{'cache-control'}, 'private, no-store', 'and private');
    my $page = VaultTest::Page->new({%$view, body => $html}, poll_path => '/zipped/poll');

    my $poll = $page->start_poll(undef, %gzip);
    wait_waiting(1);
    text_of('/test/set?name=zip&value=200&notify=zip');
    my $json = $unzip->($poll->response, 'the answer to a poll that has waited');
    is(JSON::PP::decode_json($json)->{updates}[0]{body}, join('', map { "$_\n" } 1 .. 200), 'and whole');

    # The same connection goes on, and the method's own output was not compressed inside of the JSON.
    $page->{seq} = JSON::PP::decode_json($json)->{seq};
    text_of('/test/set?name=zip&value=201&notify=zip');
    is(JSON::PP::decode_json($unzip->($page->start_poll($poll, %gzip)->response, 'the next one'))->{updates}[0]{body}, "201\n",
        'on the same connection');
}
finish();
