# SPDX-License-Identifier: Apache-2.0
# A server keeps many thousand changes. A page that reads, or a writer, reads those that are new to it, not all of them again.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

use constant {KEPT => 20000, ROUNDS => 10};

my %READ = (
    pgsql => q{SELECT (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname='vault_changes')+
        (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname='vault_changes')},
    mysql => q{SELECT SUM(VARIABLE_VALUE) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME LIKE 'HANDLER_READ%'},
);

my %tags = (
    new => 'method="get_new_instances" table="logs" limit="1"',
    row => 'method="get_modified_instance" table="logs" key="7"',
);
site_file('/feed/reads.html', '{{#rows}}[{{id}}:{{line}}]{{/rows}}');
for my $name (keys %tags) {
    my $tag = qq(<!--#feed name="reads" $tags{$name} template="reads.html" -->);
    live_tag("/feed/reads-$name", $tag);
}

# What the page is told until it has this.
sub told
{
    my ($page, $poll, $wanted) = @_;
    my $text = '';
    while (1) {
        my $news = VaultTest::Page::text($page->finish_poll($$poll));
        $text .= $news;
        $$poll = $page->start_poll;
        return $text if $news eq '' || $text =~ /\Q$wanted\E/;
    }
}

for my $db (has_database() ? databases(qw(pgsql mysql)) : ()) {
    my $driver = $db->driver;
    $db->make('many', 'CREATE TABLE logs(id {serial},line {text});');
    $db->watch('many', 'logs');
    $db->does('many', $driver eq 'pgsql'
        ? "INSERT INTO logs(line) SELECT 'old' FROM generate_series(1,@{[KEPT]})"
        : "INSERT INTO logs(line) SELECT 'old' FROM seq_1_to_@{[KEPT]}");
    $db->does('many', $driver eq 'pgsql' ? 'ANALYZE' : 'ANALYZE TABLE vault_changes');
    my $server = use_server(VaultTest::Server->start("reads-$driver", config => $db->feed('reads', 'many', 'connections=1 timeout=20 poll=100') . live_folder('/feed')));
    my %page = map { $_ => open_page("/feed/reads-$_.shtml") } keys %tags;
    my %poll = map { $_ => $page{$_}->start_poll } keys %page;
    wait_waiting(2);
    # All has been found, numbered, and looked at by those who hold it once.
    $db->does('many', q{INSERT INTO logs(line) VALUES('first')});
    like(told($page{new}, \$poll{new}, 'first'), qr/first/, "$driver: the first new row");
    wait_waiting(2);
    my ($before) = $db->does('many', $READ{$driver});
    for my $i (1 .. ROUNDS) {
        $db->does('many', "INSERT INTO logs(line) VALUES('row $i')");
        like(told($page{new}, \$poll{new}, "row $i"), qr/row $i/, '... another program inserts');
        calls_feed('reads', 'save', {table => 'logs', values => {line => "saved $i"}});
        like(told($page{new}, \$poll{new}, "saved $i"), qr/saved $i/, '... the feed inserts');
        $db->does('many', "UPDATE logs SET line='as $i' WHERE id=7");
        like(told($page{row}, \$poll{row}, "as $i"), qr/7:as $i/, '... a row is changed');
        wait_waiting(2);
    }
    $_->close for values %poll;
    $server->stop;    # a connection that ends says what it has read
    wait_until(sub { ($db->does('many', q{SELECT count(*) FROM pg_stat_activity WHERE datname='many' AND backend_type='client backend'}))[0] == 1 }, 'the connections have ended')
        if $driver eq 'pgsql';
    my ($after) = $db->does('many', $READ{$driver});
    my $read = $after - ($driver eq 'pgsql' ? 0 : $before);
    # PostgreSQL counts from the beginning; what is pruned once a minute is looked for among all.
    cmp_ok($read, '<', 4 * KEPT, "$driver: @{[3 * ROUNDS]} changes made no process read all of them again and again");
    note("$driver: $read were read");
}
finish();
