# SPDX-License-Identifier: Apache-2.0
# What tests of several servers have in common. A server is what cluster_server() of VaultTest::Nats returns; see also there.
#
#     my ($page, $poll) = waiting_page($b, 'rows');      # a live page of server $b that waits, and that the engine knows of
#     on($b, sub { text_of('/test/add?name=rows') });     # a row that is not notified
#     notify_on($a, 'rows');                              # another server notifies
#     is_told($b, $page, $poll, "2\n", 'why');
#
# A test of what holds for each of strategies() starts its servers at once, so that their waits overlap: pairs_of().
package VaultTest::Cluster;
use strict;
use warnings;
use Exporter 'import';
use VaultTest;

our @EXPORT = qw(checks_of gateway_of is_told notify_on on processes_of said strategies wait_checks wait_said waiting_page);

# Of VaultClusterStrategy. Servers of two of them may share an engine, with a VaultClusterNamespace each.
sub strategies { return qw(subscriptions filters broadcast) }

# Run the code with the functions of VaultTest talking to this server.
sub on { my ($server, $code) = @_; use_server($server); return $code->() }

# The lines of the server's log with this tag or pattern.
sub said { my ($server, $tag) = @_; return grep { /$tag/ } $server->lines }

sub wait_said
{
    my ($server, $tag, $times, $why) = @_;
    return wait_until(sub { said($server, $tag) >= $times }, $why || "the log has $tag $times times");
}

# How often all pages of this server have checked for changes.
sub checks_of { my ($server) = @_; return on($server, sub { status()->{NotifyAlls} }) }

# A server that starts checks once for its connection, and once for each other server that it hears: twice where the other has a connection
# that the strategy knows of. Before that, no page is sure to wait for a notify alone.
sub wait_checks
{
    my ($server, $checks, $why) = @_;
    return wait_until(sub { checks_of($server) >= $checks }, $why || "$checks checks of all pages");
}

# The process id of the child with the connections.
sub gateway_of { my ($server) = @_; my ($pid) = ((said($server, 'VLT00493'))[-1] // '') =~ /\[pid (\d+)/; return $pid }

# The process ids of all that belongs to a server.
sub processes_of
{
    my ($server) = @_;
    my $pid = $server->pid;
    return ($pid, grep { eval { read_file("/proc/$_/stat") =~ /^\d+ \(.*\) \S $pid / } } map { m{(\d+)$} } glob '/proc/[0-9]*');
}

sub notify_on
{
    my ($server, $interest) = @_;
    return on($server, sub { post('/vault/notify', 'interest=' . VaultTest::_escape($interest))->{status} });
}

# A page with one row that waits for more. The engine has the subscription to its interest, and the page has made the check that follows
# from that.
sub waiting_page
{
    my ($server, $rows, $interest) = @_;
    my $name = VaultTest::_escape($interest // $rows);
    return on($server, sub {
        my $before = status();
        my $page = live_page(["/test/rows?name=$rows&interest=$name"]);
        my $first = $page->start_poll;
        wait_counter('EngineInterests', $before, 1);
        text_of("/test/add?name=$rows&notify=$name");
        is(VaultTest::Page::text($page->finish_poll($first)), "1\n", "$rows: the first row");
        my $poll = $page->start_poll;
        wait_waiting(1 + $before->{Waiting});
        return ($page, $poll);
    });
}

sub is_told
{
    my ($server, $page, $poll, $text, $why) = @_;
    return is(VaultTest::Page::text(on($server, sub { $page->finish_poll($poll) })), $text, $why);
}

1;
