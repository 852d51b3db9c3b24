# SPDX-License-Identifier: Apache-2.0
# VaultNotifyAfter: when a request that may have written has been handled, well or not, the interests of its location are notified.
use strict;
use warnings;
use VaultTest;
use VaultTest::Page qw(texts);

my $page = live_page(['/test/rows?name=c05&interest=after-1']);
my $other = live_page(['/test/rows?name=c05&interest=after-3']);

sub wakes
{
    my ($page, $why, $act, $connection) = @_;
    my $poll = $page->start_poll($connection);
    wait_waiting(1);
    $act->();
    like(texts($page->finish_poll($poll)), qr/\d\n$/, $why);
    return;
}

for my $method (qw(POST PUT PATCH DELETE)) {
    wakes($page, "$method", sub { is(get('/after/add?name=c05', method => $method)->{status}, 200, $method) });
}
wakes($page, 'a request that failed', sub { is(get('/after/add?name=c05&fail=500', method => 'POST')->{status}, 500, 'an error') });
wakes($page, 'output that broke off', sub { text_of('/test/add?name=c05'); get('/after/broken?text=x', method => 'POST') });
wakes(
    $page,
    'a client that went away',
    sub {
        my $gone = connect_to();
        $gone->request('POST', '/after/add?name=c05&after=c05-gone', {'Content-Length' => 0});
        wait_arrived('c05-gone', 1);
        undef $gone;
        open_barrier('c05-gone');
    }
);
announce(qr/AH00052|VLT00004/);
my ($here, $there) = children(2);
my $victim = connect_in($there);
wakes($page, 'a child that died', sub { $victim->request('POST', '/after/add?name=c05&die=1', {'Content-Length' => 0}) }, connect_in($here));
wait_replaced($there);

# Once, and after the handler.
my $poll = $page->start_poll;
wait_waiting(1);
my $before = status();
my $post = connect_to();
$post->request('POST', '/after/add?name=c05&after=c05-late', {'Content-Length' => 0});
wait_arrived('c05-late', 1);
is(status()->{Notifies}, $before->{Notifies}, 'not before it is done');
open_barrier('c05-late');
$post->response;
like(texts($page->finish_poll($poll)), qr/\d\n$/, 'but then');
is(status()->{Notifies} - $before->{Notifies}, 2, 'each interest once');

# What does not write does not notify.
for my $method (qw(GET HEAD OPTIONS)) {
    $before = status();
    get('/after/add?name=c05', method => $method);
    is(status()->{Notifies}, $before->{Notifies}, "$method notifies no page");
}
$before = status();
get('/after/off/add?name=c05', method => 'POST');
is(status()->{Notifies}, $before->{Notifies}, 'nor does anything where it is Off');
get('/after/other/add?name=c05', method => 'POST');
is(status()->{Notifies} - $before->{Notifies}, 1, 'a location inside has interests of its own');
texts($other->poll);
wakes($other, 'an error document is not in the way', sub { is(get('/after/other/add?name=c05&fail=500', method => 'POST')->{status}, 500, 'an error document') });

finish();
