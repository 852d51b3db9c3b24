# SPDX-License-Identifier: Apache-2.0
# Methods that fail in all ways: each is counted and logged, contributes nothing, and the page's other method answers.
use strict;
use warnings;
use VaultTest;

my $good = '/test/rows?name=f05&interest=f05';
text_of('/test/add?name=f05');
my @rows = (
    ['/nowhere',                           'its handler answered 404',           'a URL that is not there'],
    ['/test/status?code=500',              'its handler answered 500',    'a method that answers 500'],
    ['/test/broken?text=half',             'its output broke off with status 502', 'a method whose output is cut off'],
    ['/test/big?bytes=70000',              'it wrote more than VaultMaxOutput, 65536 bytes', 'a method that writes too much'],
    ['/test/big?bytes=50000000',           'it wrote more than VaultMaxOutput', 'a method that writes far too much'],
    ['/test/value?name=' . 'n' x 100,      'its handler answered 400',    'a method with a bad parameter of its own'],
    ['/test/rows?name=f05&interest=' . 'i' x 600, 'the interest "i+" cannot be kept: its name is empty or too long',
        'a method whose interest is too long'],
);
for my $row (@rows) {
    my ($bad, $log, $what) = @$row;
    my $before = status();
    my $at = () = error_log_lines();
    my $page = live_page([$bad, $good], poll_path => '/small/poll');
    my $answer = $page->poll;
    is(join('', map { "$_->{method} $_->{body}" } @{$answer->{updates}}), "$good 1\n", "$what: the other method answers alone");
    is(status()->{Failures} - $before->{Failures}, 1, '  the failure is counted');
    my @lines = error_log_lines();
    ok((grep { /VLT00030: method \Q$bad\E failed: $log/ } @lines[$at .. $#lines]), '  and logged, with its reason')
        or diag(grep { /VLT/ } @lines[$at .. $#lines]);
}

# What is no failure: nothing new.
for my $row (['/test/status?code=204', '204'], ['/test/echo?text=', 'no output'], ['/test/echo?text=%20%0A%09%0D', 'white space']) {
    my ($method, $what) = @$row;
    my $before = status();
    my $page = live_page([$method, $good]);
    is(VaultTest::Page::text($page->poll), "1\n", "a method that answers $what has no update");
    is(status()->{Failures} - $before->{Failures}, 0, '  and did not fail');
}
my $silent = live_page(['/test/echo?text=']);
my $poll = $silent->start_poll;
wait_waiting(1);
ok($poll->is_silent, 'a page that has but silent methods waits');
$poll->close;
wait_waiting(0);

# Bytes that are no UTF-8 become U+FFFD, so that the JSON is JSON.
my $bytes = live_page(['/test/echo?text=a%ff%fe%c3b%ed%a0%80c']);
my $body = VaultTest::Page::text($bytes->poll);
like($body, qr/^a(?:\xef\xbf\xbd)+b(?:\xef\xbf\xbd)+c$/, 'bytes that are no UTF-8 are replaced');
my $nul = live_page(['/test/echo?text=a%00b']);
is($nul->poll->{status}, 200, 'an output with an escaped NUL does no harm');

announce(qr/VLT00030: method .* failed/);
finish();
