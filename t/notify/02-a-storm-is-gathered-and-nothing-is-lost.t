# SPDX-License-Identifier: Apache-2.0
# VaultNotifyRate: what one client notifies past it is sent together within a second; no other client is held up, and nothing is lost.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;

use_server(VaultTest::Server->start('rate', config => "VaultNotifyRate 5\n"));

# A keep-alive connection that notifies: its statuses.
sub storm
{
    my ($n, $name, %with) = @_;
    my $connection = connect_to(%with);
    my %seen;
    for my $i (1 .. $n) {
        my $body = 'interest=' . ($name =~ /%d/ ? sprintf $name, $i : $name);
        $connection->request(POST => '/vault/notify', {'Content-Type' => 'application/x-www-form-urlencoded'}, $body);
        my $answer = $connection->response;
        $seen{$answer->{status}}++;
        if ($answer->{status} == 503) {    # with which httpd ends the connection
            $seen{after} = $answer->{headers}{'retry-after'};
            last;
        }
        is($answer->{body}, '{"delayed":true}', 'delayed, it says') if $answer->{status} == 202 && $seen{202} == 1;
    }
    return \%seen;
}

my $page = live_page(['/test/rows?name=n02&interest=n02']);
my $poll = $page->start_poll;
wait_waiting(1);
my $before = status();
my $seen = storm(500, 'n02');
cmp_ok($seen->{200}, '>=', 5, 'a second\'s worth is told at once');
cmp_ok($seen->{202}, '>', 300, 'the others are taken');
is($seen->{200} + $seen->{202}, 500, 'none is refused');
my $after = status();
is($after->{NotifiesDelayed} - $before->{NotifiesDelayed}, $seen->{202}, 'they are counted');
cmp_ok($after->{Notifies} - $before->{Notifies}, '<', 100, 'a storm costs the server little');

# The last of a storm is told as well: the change that it announces becomes visible.
for my $n (1 .. 3) {
    storm(20, 'n02');
    text_of('/test/add?name=n02');
    my $last = post('/vault/notify', 'interest=n02');
    like($last->{status}, qr/^20[02]$/, "change $n is announced at the end of a storm");
    my $answer = $page->finish_poll($n == 1 ? $poll : $page->start_poll);
    is(VaultTest::Page::text($answer), "$n\n", '... and comes to the page');
}

# Another client is not held up.
storm(50, 'n02');
is(post('/vault/notify', 'interest=n02', from => '127.0.0.2')->{status}, 200, 'another address notifies at once');

# An application that says it in a header: never refused, and not forgotten.
$poll = $page->start_poll;
wait_waiting(1);
text_of('/test/add?name=n02');
my $connection = connect_to();
$before = status();
for my $n (1 .. 100) {
    $connection->request(POST => '/test/echo?text=x&header=Vault-Notify:%20n02', {}, '');
    $connection->response;
}
cmp_ok(status()->{NotifiesDelayed}, '>', $before->{NotifiesDelayed}, 'notifies by a header are gathered as well');
is(VaultTest::Page::text($page->finish_poll($poll)), "4\n", '... and told');

# So many names may wait; then the client is told to come again.
$seen = wait_until(sub { my $s = storm(2500, 'n02-%d'); $s->{503} && $s }, 'more than a thousand names in a second');
is($seen->{503}, 1, 'past a thousand names it is told to come again');
is($seen->{after}, 1, '... in a second');

# What waits is told before its child ends.
$poll = $page->start_poll;
wait_waiting(1);
text_of('/test/add?name=n02');
wait_until(sub { !storm(30, 'n02')->{503} }, 'what filled the room has been told');
graceful_restart();
my $answer = $page->finish_poll($poll);
$answer = $page->finish_poll($page->start_poll) while $answer->{status} == 204;
is(VaultTest::Page::text($answer), "5\n", 'a restart loses nothing');

announce(qr/VLT00231: a client notifies more often than VaultNotifyRate 5 a second/);
finish();
