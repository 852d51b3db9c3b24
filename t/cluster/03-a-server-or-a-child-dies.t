# SPDX-License-Identifier: Apache-2.0
# The child with the connection is killed: another one takes over. A whole server is killed: it may have written something and not have
# notified it, so the pages of the other server check for changes.
use strict;
use warnings;
use VaultTest;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $nats = VaultTest::Nats->start('deaths');
my $two = "StartServers 2\nMinSpareThreads 16\nMaxSpareThreads 16\nMaxRequestWorkers 16\n";
my %servers = map { $_ => cluster_server("deaths-$_", [$nats], size => $two) } qw(a b);

sub on { my ($name, $code) = @_; use_server($servers{$name}); return $code->() }
sub said { my ($name, $tag) = @_; return on($name, sub { grep { /$tag/ } $servers{$name}->lines }) }
sub gateway { my ($name) = @_; my ($pid) = (said($name, 'VLT00493'))[-1] =~ /\[pid (\d+)/; return $pid }

# A page that waits, and that the engine knows of: then it has been told of its first row.
sub waiting_page
{
    my ($rows) = @_;
    return on('b', sub {
        my $before = status();
        my $page = live_page(["/test/rows?name=$rows&interest=$rows"]);
        my $first = $page->start_poll;
        wait_counter('EngineInterests', $before, 1);
        text_of("/test/add?name=$rows&notify=$rows");
        is(VaultTest::Page::text($page->finish_poll($first)), "1\n", "$rows: the first row");
        my $poll = $page->start_poll;
        wait_waiting(1);
        return ($page, $poll);
    });
}

wait_until(sub { said($_, 'VLT00493') }, "server $_ is connected") for qw(a b);

# The child of the server that notifies.
my ($page, $poll) = waiting_page('sender');
my $gateway = gateway('a');
kill 'KILL', $gateway;
on('b', sub { text_of('/test/add?name=sender') });
on('a', sub { post('/vault/notify', 'interest=sender') });
is(VaultTest::Page::text(on('b', sub { $page->finish_poll($poll) })), "2\n", 'a notify while no child has the connection reaches the other server');
wait_until(sub { gateway('a') != $gateway }, 'another child has the connection');
pass('another child has the connection');

# The whole server: no process of it is left, and nothing was notified.
($page, $poll) = waiting_page('server');
on('b', sub { text_of('/test/add?name=server') });
ok($poll->is_silent, 'a row that is not notified');
kill 'KILL', $servers{a}->pid, on('a', sub { children(2) });
is(VaultTest::Page::text(on('b', sub { $page->finish_poll($poll) })), "2\n", 'the pages of the other server check for changes when a server dies');
is(scalar(said('b', 'VLT00498')), 1, '... and the log says why');
$servers{a}->ignore;
use_server($servers{b});
finish();
