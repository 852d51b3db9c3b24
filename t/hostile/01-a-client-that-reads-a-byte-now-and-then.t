# SPDX-License-Identifier: Apache-2.0
# Clients ask for megabytes and read one byte now and then, or none at all: more of them than the child has threads. Between any two of
# their bytes other pages are answered, and plain requests are. When httpd's Timeout is over it drops them; their pages live.
use strict;
use warnings;
use VaultTest;

needs_parking();

plan(skip_all => 'httpd has no mod_status') unless have_module('status');
my $config = qq(Timeout 6\n<LocationMatch "^/(large|vault)/poll">\nSetHandler vault-poll\nVaultMaxOutput 64M\nVaultLongPollTimeout 3\n</LocationMatch>\n)
    . qq(<Location "/server-status">\nSetHandler server-status\n</Location>\n);
use_server(VaultTest::Server->start('trickle', config => $config));
my @slow = map { live_page(['/test/rows?name=h01&interest=h01'], poll_path => '/large/poll', receive_buffer => 4096) } 1 .. 12;
my $quick = live_page(['/test/rows?name=h01quick&interest=h01quick']);
my @polls = map { $_->start_poll } @slow;
wait_waiting(scalar @slow);
my $before = status();
text_of('/test/set?name=h01&value=300000&notify=h01');
wait_counter('Answers', $before, scalar @slow);
pass('every answer is made, though no client has read a byte');

# Half of them read a byte whenever another page has had its answer; the rest never read.
for my $n (1 .. 8) {
    my $poll = $quick->start_poll;
    wait_waiting(1);
    text_of('/test/add?name=h01quick&notify=h01quick');
    is(VaultTest::Page::text($quick->finish_poll($poll)), "$n\n", "another page is answered, $n");
    is(text_of("/test/echo?text=$n"), $n, '  and a plain request');
    $_->read_byte for @polls[0 .. 5];
}
sub closing { return text_of('/server-status?auto') =~ /^ConnsAsyncClosing: (\d+)/m ? $1 : die "mod_status does not say it\n" }
wait_until(sub { closing() >= @polls }, 'httpd closes their connections when its Timeout is over');
ok(!eval { $polls[$_]->read_to_end =~ /\n300000\b/ }, 'what one reads later is not whole') for 0, 11;
$_->reset for @polls[1 .. 10];

delete $_->{with}{receive_buffer} for @slow;
for my $page (@slow[0, 11]) {
    my @rows = split /\n/, VaultTest::Page::text($page->poll);
    is("$rows[0] $rows[-1] " . @rows, '1 300000 300000', 'its page gets all of it again');
}
finish();
