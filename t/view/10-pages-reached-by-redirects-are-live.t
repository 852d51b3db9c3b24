# SPDX-License-Identifier: Apache-2.0
# DirectoryIndex, rewritten URLs, FallbackResource: however httpd comes to the page, it is one page and it is live.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

text_of('/test/set?name=red&value=0');
my $method = '/test/rows?name=red&interest=red';
live_shtml('/view/live.shtml', $method);
live_shtml('/view/folder/index.shtml', $method);
site_file('/view/fallback/.keep', '');

my $rewrite = have_module('rewrite');
for my $way (['/view/live.shtml', 'as it is'], ['/view/folder/', 'by DirectoryIndex'], ['/view/fallback/no/such/file', 'by FallbackResource'],
    $rewrite ? ['/view/old', 'by a RewriteRule'] : ()) {
    my ($path, $how) = @$way;
    my $page = keeps(1, sub { open_page($path) }, "one page, $how");
    is($page->{answer}{headers}{'cache-control'}, 'private, no-store', "$how: private");
    text_of('/test/set?name=red&value=0');
    my $poll = $page->start_poll;
    wait_waiting(1);
    text_of('/test/add?name=red&notify=red');
    is(VaultTest::Page::text($page->finish_poll($poll)), "1\n", "$how: live");
}

# A page that is the document of an error is shown, but is not live: its status says that the page is not there.
my $answer = keeps(0, sub { get('/view/missing/page') }, 'the document of an error leaves no page');
is($answer->{status}, 404, 'and keeps the status');

finish();
