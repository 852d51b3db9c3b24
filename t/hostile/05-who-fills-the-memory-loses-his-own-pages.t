# SPDX-License-Identifier: Apache-2.0
# One client subscribes to calls with very long arguments, again and again: a page of many KB each time. It gets as much of the shared
# memory as one client may have. Where an administrator has allowed it all of it, it makes room as soon as others need some. The pages of
# others live on, and who comes new gets a page.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;

my $json = JSON::PP->new->canonical;
my $attacker = '127.0.0.66';
my $top = VaultTest::Main::vars('top_dir');

sub config
{
    my ($limit) = @_;
    return <<"END";
VaultSharedMemory 8M
VaultMaxMemoryPerClient $limit
VaultMaxPages 3000
VaultMaxPagesPerClient 3000
VaultFeed tests "$top/modules/vault_feed_test.so" word=hello
<Location "/vault/feed">
    SetHandler vault-feed
    VaultFeedExpose tests echo
</Location>
<Location "/vault/page">
    SetHandler vault-page
</Location>
END
}

# One page of so many calls of so many bytes. @return the status
sub attack
{
    my ($n, $calls, $bytes) = @_;
    my @urls = map { "/vault/feed/tests/echo?x=$n-$_-" . 'x' x ($bytes || 990) } 1 .. ($calls || 16);
    return post('/vault/page', $json->encode({add => \@urls}), from => $attacker, headers => {'Content-Type' => 'application/json'})->{status};
}

# How many pages he gets until he is refused; then smaller ones, so that there is no room between them.
sub fill
{
    my $n = 0;
    for my $size ([16, 990], [6, 990], [2, 990], [1, 700], [1, 300], [1, 10]) {
        $n++ while $n < 2000 && attack($n, @$size) == 200;
    }
    return $n;
}

sub pages_of { return @{$json->decode(text_of('/vault/status?pages'))->{Pages}} }

my $view = view_of('/test/rows?name=h05&interest=h05');
sub visitor { return open_page($view, from => "127.0.1.$_[0]") }

# The share of one client.
use_server(VaultTest::Server->start('share', config => config('512K')));
my $made = fill();
my $status = status();
cmp_ok($made, '>', 5, "he gets $made pages");
cmp_ok($status->{HeapUsed}, '<=', 512 * 1024, '... and no more memory than a client may have');
my $bytes = 0;
$bytes += $_->{Bytes} for pages_of();
is($status->{HeapUsed}, $bytes, '... which is what the pages come to, one by one');
my $other = visitor(1);
my $poll = $other->start_poll;
wait_waiting(1);
text_of('/test/add?name=h05&notify=h05');
is(VaultTest::Page::text($other->finish_poll($poll)), "1\n", 'another address gets a page, and it lives');

# No limit: the memory is full.
use_server(VaultTest::Server->start('all', config => config('1G')));
my @honest = map { visitor($_) } 1 .. 20;
my @polls = map { $_->start_poll } @honest;
wait_waiting(20);
$made = fill();
$status = status();
cmp_ok($status->{HeapUsed}, '>', $status->{HeapSize} * 0.9, "$made pages fill the memory");
for my $n (21 .. 60) {
    push @honest, visitor($n);    # dies without a page
    attack("more$n");
    push @polls, $honest[-1]->start_poll;
}
pass('forty more visitors get a page each, while he goes on');
wait_waiting(60);
text_of('/test/add?name=h05&notify=h05');
my @answers = map { $honest[$_]->finish_poll($polls[$_]) } 0 .. $#honest;
is(scalar(grep { $_->{status} == 200 && VaultTest::Page::text($_) =~ /1\n\z/ } @answers), 60, 'each page that was there and each new one is answered');
cmp_ok(status()->{PagesEvicted}, '>', 0, 'pages of his made room');

wait_until(sub { grep { /VLT00280: \d+ pages were evicted to make room for others/ } error_log_lines() }, 'the log says that pages make room');

announce(qr/VLT00011: the page cannot be kept live: its client has VaultMaxMemoryPerClient 524288/);
announce(qr/VLT00011: the page cannot be kept live: its state does not fit in the shared memory/);
finish();
