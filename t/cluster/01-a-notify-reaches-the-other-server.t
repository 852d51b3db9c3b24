# SPDX-License-Identifier: Apache-2.0
# Two servers and a nats-server: a notify on one of them reaches the pages of the other one, and no other page. The rows of the test module
# belong to one server each, so a row is added there silently, and the other server notifies.
use strict;
use warnings;
use VaultTest;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $nats = VaultTest::Nats->start('first');
my %servers = map { $_ => cluster_server("reaches-$_", [$nats]) } qw(a b);

sub on { my ($name, $code) = @_; use_server($servers{$name}); return $code->() }
sub notify_on { my ($name, $interest) = @_; return on($name, sub { post('/vault/notify', 'interest=' . VaultTest::_escape($interest))->{status} }) }
sub is_connected { my ($name) = @_; return on($name, sub { grep { /VLT00493/ } $servers{$name}->lines }) }

wait_until(sub { is_connected($_) }, "server $_ is connected") for qw(a b);

# Any bytes: what has a meaning in subjects of NATS, and what has none there. When the engine knows of a new interest, the page checks for
# changes once, so that is awaited.
my @names = ('plain', 'DB-logs', 'a.b', 'a.*', '>', 'two words', "tab\there", "caf\xc3\xa9", '=41', 'x' x 200);
for my $number (0 .. $#names) {
    my $interest = $names[$number];
    my $rows = "cluster$number";
    my ($page, $poll) = on('b', sub {
        my $before = status();
        my $made = live_page(["/test/rows?name=$rows&interest=" . VaultTest::_escape($interest)]);
        my $first = $made->start_poll;
        wait_counter('EngineInterests', $before, 1);
        text_of("/test/add?name=$rows&notify=" . VaultTest::_escape($interest));
        return ($made, $first);
    });
    is(VaultTest::Page::text(on('b', sub { $page->finish_poll($poll) })), "1\n", "\"$interest\": the first row");
    $poll = on('b', sub { my $next = $page->start_poll; wait_waiting(1); text_of("/test/add?name=$rows"); return $next });
    ok($poll->is_silent, '  a second one alone wakes no page');
    is(notify_on('a', $interest), 200, '  the other server notifies');
    is(VaultTest::Page::text(on('b', sub { $page->finish_poll($poll) })), "2\n", '  the page is told');
}
finish();
