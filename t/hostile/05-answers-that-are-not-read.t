# SPDX-License-Identifier: Apache-2.0
# One client asks for megabytes on sixty connections and reads nothing. What the server keeps for it is bounded (VaultMaxAnswer,
# VaultMaxUnsentPerClient): past that it is told to come again before any method runs. Other clients are served, and nothing is lost.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

needs_parking();

use constant {MANY => 60, MB => 1 << 20, UNSENT => 8 << 20};

my $feed = vars('top_dir') . '/modules/vault_feed_test.so';
use_server(VaultTest::Server->start(
    'unread',
    size => "StartServers 1\nServerLimit 2\nThreadLimit 64\nThreadsPerChild 64\nMaxRequestWorkers 64\nMinSpareThreads 1\nMaxSpareThreads 64\n"
        . "AsyncRequestWorkerFactor 60\n",
    config => <<"END"
SendBufferSize 65536
VaultMaxUnsentPerClient 8M
VaultFeed tests "$feed" word=hello
<Location "/vault/feed">
    SetHandler vault-feed
    VaultFeedExpose tests echo
</Location>
<Location "/vault/page">
    SetHandler vault-page
</Location>
END
));

# Megabytes of memory that the children have taken for data.
sub memory
{
    my $kb = 0;
    read_file("/proc/$_/status") =~ /^RssAnon:\s+(\d+)/m and $kb += $1 for children();
    return $kb / 1024;
}

sub big_page { my ($n, $methods, %with) = @_; return live_page([map { "/test/big?bytes=1000000&n=$n-$_" } 1 .. $methods], receive_buffer => 4096, %with) }

# How many of the polls or streams were answered or refused since.
sub decided { my ($before) = @_; my $s = status(); return ($s->{Answers} + $s->{Refused} - $before->{Answers} - $before->{Refused}, $s) }

# With a sanitizer memory that was freed stays for a while.
my $plain = ($ENV{VAULT_SANITIZER} // 'no') eq 'no';
my $start = memory();

# ---------------------------------------------------------------- polls
my @pages = map { big_page($_, 16) } 1 .. MANY;
my $before = status();
my @polls = map { $_->start_poll } @pages;
my $now = wait_until(sub { my ($n, $s) = decided($before); $n >= MANY && $s }, 'each poll is answered or refused');
cmp_ok($now->{Unsent}, '<=', UNSENT, 'what waits for one client is bounded');
cmp_ok($now->{Unsent}, '>', 3 * MB, '  and is counted');
is($now->{Answers} - $before->{Answers}, 2, '  two answers of four megabytes');
SKIP: {
    skip 'a sanitizer keeps memory', 1 unless $plain;
    wait_until(sub { memory() < $start + 64 }, 'the memory of the methods goes back to the system');
    pass('the memory for sixty polls that are not read: ' . int(memory() - $start) . ' MB');
}

my $honest = live_page(['/test/rows?name=h05&interest=h05'], from => '127.0.0.2');
my $poll = $honest->start_poll;
wait_waiting(1);
text_of('/test/add?name=h05&notify=h05');
is(VaultTest::Page::text($honest->finish_poll($poll)), "1\n", 'another client is served meanwhile');

my $runs = status()->{Runs};
my $refused = big_page(0, 1)->poll;
is($refused->{status}, 503, 'one more poll of the greedy client: 503');
is($refused->{headers}{'retry-after'}, 5, '  with Retry-After');
is($refused->{body}, '{"error":"earlier answers wait for this client to read them"}', '  and a sentence');
is(get('/vault/feed/tests/echo')->{status}, 503, 'a call of a feed: 503');
is(post('/vault/page', '{"add":["/vault/feed/tests/echo"]}', headers => {'Content-Type' => 'application/json'})->{status}, 503, 'a page that is a file: 503');
is(get('/vault/poll?page=' . big_page(0, 1)->id . '&seq=0', headers => {Accept => 'text/event-stream'})->{status},
    503, 'a stream: 503');
is(status()->{Runs}, $runs, '  and no method has run for any of them');
is(get('/vault/feed/tests/echo', from => '127.0.0.2')->{status}, 200, 'none of which holds for others');
announce(qr/VLT00290: a client does not read its answers/);

$_->reset for @polls;
wait_until(sub { !status()->{Unsent} }, 'what was counted is given back when the connections end');
delete $_->{with}{receive_buffer} for @pages;
my ($page, %seen) = $pages[-1];
for (1 .. 4) {
    $seen{$_->{method}} += length $_->{body} for @{$page->poll->{updates}};
}
is_deeply([scalar keys %seen, grep { $_ != 1e6 } values %seen], [16], 'a page that was refused gets all of its methods, in four answers, each once');
wait_until(sub { !status()->{Unsent} }, 'and nothing is left to be written');

# ---------------------------------------------------------------- streams
my @streams = map { VaultTest::Events->ask([big_page("s$_", 16)], receive_buffer => 4096) } 1 .. 20;
$_->head for @streams;
is_deeply([grep { $_ != 200 && $_ != 503 } map { $_->{status} } @streams], [], 'streams begin, or are told to come again');
wait_until(sub { (status()->{Waiting} // 0) <= 3 && status()->{Unsent} > 3 * MB }, 'streams that are not read are dropped but for two or three');
$now = status();
cmp_ok($now->{Unsent}, '<=', UNSENT, 'what waits in streams is bounded as well');
SKIP: {
    skip 'a sanitizer keeps memory', 1 unless $plain;
    wait_until(sub { memory() < $start + 64 }, 'the memory goes back');
    pass('  and the memory');
}
my $child = (children())[0];
announce(qr/VLT00004: child $child /);
kill KILL => $child;
wait_until(sub { my @now = eval { children() }; @now && $now[0] != $child }, 'another child serves');
is(status()->{Unsent}, 0, 'a child that was killed has nothing that waits');
delete $page->{with}{receive_buffer};
is(big_page('k', 1, receive_buffer => undef)->poll->{status}, 200, '  and its client is answered');
$_->reset for @streams;

finish();
