# SPDX-License-Identifier: Apache-2.0
# Two servers and a nats-server: a notify on one of them reaches the pages of the other one, and no other page. The rows of the test module
# belong to one server each, so a row is added there silently, and the other server notifies.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $nats = VaultTest::Nats->start('first');
my %servers = map { $_ => cluster_server("reaches-$_", [$nats]) } qw(a b);

wait_said($_, 'VLT00493', 1) for values %servers;

# Any bytes: what has a meaning in subjects of NATS, and what has none there. When the engine knows of a new interest, the page checks for
# changes once, so that is awaited.
my @names = ('plain', 'DB-logs', 'a.b', 'a.*', '>', 'two words', "tab\there", "caf\xc3\xa9", '=41', 'x' x 200);
for my $number (0 .. $#names) {
    my $interest = $names[$number];
    my $rows = "cluster$number";
    my ($page, $poll) = waiting_page($servers{b}, $rows, $interest);
    on($servers{b}, sub { text_of("/test/add?name=$rows") });
    ok($poll->is_silent, '  a second one alone wakes no page');
    is(notify_on($servers{a}, $interest), 200, '  the other server notifies');
    is_told($servers{b}, $page, $poll, "2\n", '  the page is told');
}
finish();
