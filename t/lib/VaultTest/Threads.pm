# SPDX-License-Identifier: Apache-2.0
# What must hold wherever polls wait in threads, whichever MPM it is.
package VaultTest::Threads;
use strict;
use warnings;
use Exporter 'import';
use Time::HiRes ();
use VaultTest;

our @EXPORT = qw(polls_in_threads);

# A server of this MPM in which as many as two polls wait in a child; with prefork in all six children.
sub polls_in_threads
{
    my ($mpm) = @_;
    plan(skip_all => "httpd has no MPM $mpm") unless VaultTest::Server::has_mpm($mpm);
    my $config = qq(VaultLongPollThreads 2\n<Location "/quick/poll">\nSetHandler vault-poll\nVaultLongPollTimeout 1\n</Location>\n);
    use_server(VaultTest::Server->start($mpm, mpm => $mpm, config => $config));
    _waits_and_answers();
    _ends_in_time();
    _notices_clients();
    _supersedes();
    _limits($mpm);
    _keeps_places($mpm);
    _restarts();
    return;
}

sub _waits_and_answers
{
    my $page = live_page(['/test/rows?name=threads&interest=threads']);
    my $connection = connect_to();
    for my $n (1 .. 3) {
        my $poll = $page->start_poll($connection);
        wait_waiting(1);
        is(status()->{WaitingInThreads}, 1, "poll $n waits in a thread");
        text_of('/test/add?name=threads&notify=threads');
        is(VaultTest::Page::text($page->finish_poll($poll)), "$n\n", '  and is answered, on the connection it came by');
    }
    return;
}

sub _ends_in_time
{
    my $page = live_page(['/test/rows?name=threads-none&interest=threads-none'], poll_path => '/quick/poll');
    is($page->poll->{status}, 204, 'time is up: 204');
    is(status()->{WaitingInThreads}, 0, '  and the thread is free');
    return;
}

sub _notices_clients
{
    my $page = live_page(['/test/rows?name=threads-gone&interest=threads-gone']);
    my $before = status();
    my $poll = $page->start_poll;
    wait_waiting(1);
    $poll->reset;
    wait_waiting(0);
    wait_counter('ClientsGone', $before, 1);
    pass('a client that hangs up frees its thread');

    $poll = $page->start_poll;
    wait_waiting(1);
    $poll->request(GET => '/test/echo?text=later');
    is($page->read_poll($poll)->{status}, 204, 'a request while the poll waits ends it');
    is($poll->response->{body}, 'later', '  and is answered');

    $poll->send_raw(join '', map { "GET $_ HTTP/1.1\r\nHost: localhost\r\n\r\n" } $page->path, '/test/echo?text=same');
    is($page->read_poll($poll)->{status}, 204, 'so does one in the same segment');
    is($poll->response->{body}, 'same', '  and is answered');
    return;
}

sub _supersedes
{
    my $page = live_page(['/test/rows?name=threads&interest=threads']);
    $page->poll;
    my $older = $page->start_poll;
    wait_waiting(1);
    my $newer = $page->start_poll;
    my $answer = $page->read_poll($older);
    is($answer->{status}, 204, 'a newer poll ends the older');
    is($answer->{headers}{'vault-superseded'}, '1', '  which is told why');
    wait_waiting(1);
    $newer->close;
    wait_waiting(0);
    return;
}

# To one child; with prefork, where a connection takes a whole child, to any.
sub _connections
{
    my ($mpm, $n) = @_;
    my ($child) = children();
    return map { $mpm eq 'prefork' ? connect_to() : connect_in($child) } 1 .. $n;
}

sub _limits
{
    my ($mpm) = @_;
    my @pages = map { live_page(['/test/rows?name=threads-limit&interest=threads-limit']) } 1 .. 3;
    my @connections = _connections($mpm, 3);
    my @polls = map { $pages[$_]->start_poll($connections[$_]) } 0, 1;
    wait_waiting(2);
    my $answer = $pages[2]->poll($connections[2]);
    is($answer->{status}, 503, 'more than VaultLongPollThreads: 503');
    like($answer->{headers}{'retry-after'}, qr/^\d+$/, '  with Retry-After, and the page polls at intervals');
    text_of('/test/add?name=threads-limit&notify=threads-limit');
    is(VaultTest::Page::text($pages[$_]->finish_poll($polls[$_])), "1\n", '  the others are answered') for 0, 1;
    is(VaultTest::Page::text($pages[2]->poll), "1\n", '  and it as well, next time');
    return;
}

# Who waits has its place while its methods run again for nothing, though another one asks for it just then.
sub _keeps_places
{
    my ($mpm) = @_;
    my $path = '/test/rows?name=threads-place&interest=threads-place&between=threads-place';
    open_barrier('threads-place');
    my @pages = map { live_page([$path]) } 0, 1;
    my $other = live_page(['/test/rows?name=threads-other&interest=threads-other']);
    my ($connection, @connections) = _connections($mpm, 3);
    my @polls = map { $pages[$_]->start_poll($connections[$_]) } 0, 1;
    wait_waiting(2);
    is(status()->{ThreadsHeld}, 2, 'two threads are held');
    text_of('/test/close?name=threads-place');
    text_of('/test/notify?interest=threads-place');
    wait_arrived('threads-place', 2);
    is(status()->{WaitingInThreads}, 0, 'polls whose methods run do not wait');
    is($other->poll($connection)->{status}, 503, '  and have their places: another poll gets none');
    open_barrier('threads-place');
    wait_waiting(2);
    text_of('/test/add?name=threads-place&notify=threads-place');
    is(VaultTest::Page::text($pages[$_]->finish_poll($polls[$_])), "1\n", '  where they go on to wait') for 0, 1;
    return;
}

sub _restarts
{
    my $page = live_page(['/test/rows?name=threads-restart&interest=threads-restart']);
    my $poll = $page->start_poll;
    wait_waiting(1);
    my $begin = Time::HiRes::time();
    graceful_restart();
    is($page->read_poll($poll)->{status}, 204, 'a graceful restart ends a poll');
    cmp_ok(Time::HiRes::time() - $begin, '<', 12, '  long before its time');
    text_of('/test/add?name=threads-restart&notify=threads-restart');
    is(VaultTest::Page::text($page->poll), "1\n", '  and the page goes on');
    return;
}

1;
