# SPDX-License-Identifier: Apache-2.0
# VaultMaxPollBody: a form of so many bytes is a poll, one byte more is 413, whether its length is said before or it comes in chunks.
use strict;
use warnings;
use VaultTest;

my $page = live_page(['/test/rows?name=p16&interest=p16']);
my $type = {'Content-Type' => 'application/x-www-form-urlencoded'};
my $n = 0;

# A form of exactly so many bytes.
sub form
{
    my ($bytes) = @_;
    my $form = 'page=' . $page->id . '&seq=' . $page->seq . '&more=';
    return $form . 'x' x ($bytes - length $form);
}

# Sent with its length, or in chunks that the limit does not end with.
sub in_one { my ($path, $form) = @_; return connect_to()->request(POST => $path, $type, $form) }

sub in_chunks
{
    my ($path, $form) = @_;
    my $body = join '', map { sprintf "%x\r\n%s\r\n", length, $_ } unpack '(a1000)*', $form;
    return connect_to(plain => 1)->send_raw("POST $path HTTP/1.1\r\nHost: localhost\r\nContent-Type: $type->{'Content-Type'}\r\n"
            . "Transfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n");
}

my @limits = (['/vault/poll', 16 * 1024], ['/short/poll', 4096], ['/long/poll', 100 * 1024]);
for my $limit (@limits) {
    my ($path, $bytes) = @$limit;
    for my $send ([\&in_one, 'with its length'], [\&in_chunks, 'in chunks']) {
        my ($sent, $how) = @$send;
        text_of('/test/add?name=p16&notify=p16');
        my $answer = $page->finish_poll($sent->($path, form($bytes)));
        is(VaultTest::Page::text($answer), ++$n . "\n", "$path: $bytes bytes $how are a poll");
        my $refusal = $sent->($path, form($bytes + 1))->response;
        is($refusal->{status}, 413, '... and one more is too long');
        like($refusal->{body}, qr/^\{"error":"the form of a poll may have $bytes bytes here \(VaultMaxPollBody, /, '... which is said');
    }
}

# Nothing of what was refused has touched the page.
text_of('/test/add?name=p16&notify=p16');
is(VaultTest::Page::text($page->poll), ++$n . "\n", 'the page goes on');

# What follows on the connection is not read as a request: the rest of the form may be anything.
my $connection = connect_to(plain => 1)->request(POST => '/short/poll', $type, form(4097));
is($connection->response->{headers}{connection} // '', 'close', 'the connection of a form that is too long is closed');

finish();
