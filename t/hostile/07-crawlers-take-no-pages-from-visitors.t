# SPDX-License-Identifier: Apache-2.0
# Crawlers load live pages and never poll them. However many there are and however quick, visitors keep their pages and new visitors get
# theirs. Where the configuration knows crawlers by their User-Agent, as the manual has it, no page is kept for them.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

my ($line) = read_file(vars('top_dir') . '/docs/operating.md') =~ /^(BrowserMatchNoCase .*no-vault-page)$/m or die "the manual has no such line\n";
is(() = read_file(vars('top_dir') . '/vault.conf') =~ /^#    \Q$line\E$/mg, 1, 'vault.conf has the line of the manual');
use_server(VaultTest::Server->start('crawlers', config => <<"END"));
VaultMaxPages 200
VaultMaxPagesPerClient 60
$line
<Location "/headers/">
    SetHandler vault-test
    VaultLongPoll On
</Location>
<Location "/configured/">
    SetHandler vault-test
    VaultLongPoll On
    VaultPoll /test/rows?name=h07&interest=h07
</Location>
AddType text/html .shtml
AddOutputFilter INCLUDES .shtml
<Directory "@{[vars('documentroot')]}/h07">
    Options +Includes
    VaultLongPoll On
</Directory>
END

my $view = view_of('/test/rows?name=h07&interest=h07');

# Each way to make a page, for crawlers and for browsers.
site_file('/h07/live.shtml', '<head><!--#vault poll="/test/rows?name=h07&interest=h07" --></head>text');
my %ways = (
    'a module' => $view, 'a tag' => '/h07/live.shtml', 'the configuration' => '/configured/echo?type=text/html&text=text',
    'a header' => '/headers/echo?type=text/html&text=text&header=Vault-Poll:/test/rows%3Fname=h07',
);
my %agents = (
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' => 0, 'Mozilla/5.0 (compatible; bingbot/2.0)' => 0,
    'SomeCrawler' => 0, 'Slackbot-LinkExpanding 1.0' => 0,
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' => 1,
    'Mozilla/5.0 (Linux; Android 9; CUBOT X20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0 Mobile Safari/537.36' => 1,
);
my $pages = 0;
for my $way (sort keys %ways) {
    for my $agent (sort keys %agents) {
        my $answer = get($ways{$way}, headers => {'User-Agent' => $agent});
        is($answer->{status}, 200, "$way, $agent");
        is($answer->{body} =~ /data-vault-page/ ? 1 : 0, $agents{$agent}, '... the script');
        unlike($answer->{body}, qr/an error occurred/, '... and no error');
        is($answer->{headers}{'cache-control'}, 'private, no-store', '... and no cache keeps it');
        $pages += $agents{$agent};
    }
}
wait_until(sub { status()->{Pages} == $pages }, 'the pages of browsers are there, and no others');

# ---------------------------------------------------------------- crawlers that are not known as such
my @visitors = map { open_page($view, from => "127.0.1.$_") } 1 .. 10;
my @polls = map { $_->start_poll } @visitors;
wait_waiting(10);

get($view, from => '127.0.0.66') for 1 .. 100;
my $status = status();
is($status->{Pages}, 70 + $pages, 'one crawler has as many pages as one client may have');
cmp_ok($status->{HeapUsed}, '<', 0.1 * $status->{HeapSize}, '... and little memory') or diag($status->{HeapUsed});

for my $crawler (1 .. 20) {
    get($view, from => "127.0.2.$crawler") for 1 .. 20;
}
is(status()->{Pages}, 200, 'twenty more fill the table of pages');
for my $n (11 .. 20) {
    push @visitors, open_page($view, from => "127.0.1.$n");    # dies without a page
    push @polls, $visitors[-1]->start_poll;
}
pass('new visitors get a page each');
wait_waiting(20);
text_of('/test/add?name=h07&notify=h07');
is(scalar(grep { VaultTest::Page::text($visitors[$_]->finish_poll($polls[$_])) eq "1\n" } 0 .. 19), 20, '... and all visitors hear of what is new');

tolerate(qr/VLT00010|VLT00051|VLT00280/);
finish();
