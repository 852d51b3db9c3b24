# SPDX-License-Identifier: Apache-2.0
# A page asks for a row by a key, and rows are announced by name. Where a database takes several texts for one key, a page that asks with
# another one than that of the row is refused, at once or when the row comes; all others see what happens. None waits for ever.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $SSI_ERROR = '[ssi error]';
my $UUID = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';

# Type of the key, key that is asked for, key of the row that comes later, and what becomes of it: "sees"; "refused" at once; "late" when
# the row is there. "members": so in a collection, too.
my %CASES = (
    sqlite3 => [
        ['INTEGER', '7', '7', 'sees'],
        ['INTEGER', '007', '7', 'refused'],
        ['INTEGER', ' 7', '7', 'refused'],
        ['INTEGER', '7.0', '7', 'refused'],
        ['INTEGER', '0009007199254740993', '9007199254740993', 'refused'],
        ['TEXT', 'Ann', q{'Ann'}, 'sees'],
        ['TEXT COLLATE NOCASE', 'Ann', q{'Ann'}, 'sees', 'members'],
        ['TEXT COLLATE NOCASE', 'ANN', q{'Ann'}, 'late', 'members'],
        ['NUMERIC', '7', '7.0', 'sees'],
        ['NUMERIC', '07', '7', 'late'],
    ],
    pgsql => [
        ['BIGINT', '7', '7', 'sees'],
        ['BIGINT', '007', '7', 'refused'],
        ['INTEGER', ' 7', '7', 'refused'],
        ['TEXT', 'Ann', q{'Ann'}, 'sees'],
        ['VARCHAR(5)', 'Ann ', q{'Ann '}, 'sees'],
        ['UUID', $UUID, qq{'\U$UUID'}, 'sees', 'members'],
        ['UUID', uc $UUID, "'$UUID'", 'refused', 'members'],
        ['UUID', "{$UUID}", "'$UUID'", 'refused'],
        ['UUID', 'none', "'$UUID'", 'refused'],
        ['NUMERIC(6,2)', '7.00', '7', 'sees'],
        ['NUMERIC(6,2)', '7', '7', 'late', 'members'],
        ['NUMERIC', '07', '7', 'late'],
        ['CHAR(5)', 'Ann', q{'Ann'}, 'sees', 'members'],
        ['CHAR(5)', 'Ann ', q{'Ann'}, 'late', 'members'],
        ['DATE', '2026-11-21', q{'20261121'}, 'sees'],
        ['DATE', '20261121', q{'20261121'}, 'late'],
        ['TIMESTAMP', '2026-11-21 05:06:07', q{'2026-11-21 05:06:07'}, 'refused', 'members'],
        ['DOUBLE PRECISION', '7', '7', 'refused'],
        ['INTERVAL', '1 day', q{'1 day'}, 'refused'],
        ['TSTZRANGE', 'empty', q{'empty'}, 'refused'],
        ['whenever', '2026-11-21 05:06:07', q{'2026-11-21 05:06:07'}, 'refused', 'members'],
    ],
    mysql => [
        ['BIGINT', '7', '7', 'sees'],
        ['BIGINT', '007', '7', 'refused'],
        ['BIGINT UNSIGNED', '0018446744073709551615', '18446744073709551615', 'late'],
        ['INT ZEROFILL', '7', '7', 'sees'],
        ['BIT(10)', '513', '513', 'refused'],
        ['VARCHAR(20) COLLATE utf8mb4_general_ci', 'Ann', q{'Ann'}, 'sees', 'members'],
        ['VARCHAR(20) COLLATE utf8mb4_general_ci', 'ANN', q{'Ann'}, 'late', 'members'],
        ['VARCHAR(20) COLLATE utf8mb4_bin', 'Ann ', q{'Ann'}, 'late'],
        ['UUID', $UUID, qq{'\U$UUID'}, 'sees'],
        ['UUID', uc $UUID, "'$UUID'", 'refused', 'members'],
        ['DECIMAL(6,2)', '7', '7', 'late'],
        ['DATE', '20261121', q{'20261121'}, 'late'],
        [q{ENUM('Ann','Bob')}, 'BOB', q{'Bob'}, 'late'],
        ['VARBINARY(9)', 'Ann', q{'Ann'}, 'refused'],
    ],
);

# The row, and all rows of a table that belong to an object.
my %TAGS = (
    row => 'method="get_modified_instance" table="t%d" key="%s" update="row"',
    members => 'method="get_collection_changes" entity="Owner" id="%2$s" collection="c%1$d" append="members"',
);
site_file('/feed/keys-row.html', '{{#rows}}[{{v}}]{{/rows}}{{^rows}}none{{/rows}}');
site_file('/feed/keys-members.html', '{{#added}}+{{v}} {{/added}}{{#removed}}-{{v}} {{/removed}}{{#changed}}={{v}} {{/changed}}');

sub page_of
{
    my ($kind, $i, $key) = @_;
    my $tag = sprintf qq(<!--#feed name="keys" $TAGS{$kind} template="keys-$kind.html" -->), $i, $key;
    live_tag("/feed/keys-$kind-$i", $tag);
    return "/feed/keys-$kind-$i.shtml";
}

sub model_of
{
    my ($cases) = @_;
    my @all = 0 .. $#$cases;
    my $entities = join ',', map { qq("E$_":{"table":"f$_","properties":{"v":"v"}}) } @all;
    my $collections = join ',', map { qq("c$_":{"entity":"E$_","column":"k"}) } @all;
    return model_file('keys', qq({"entities":{"Owner":{"table":"t0","properties":{"v":"v"},"collections":{$collections}},$entities}}));
}

# What a page is told when this was done.
sub told
{
    my ($db, $page, $sql) = @_;
    my $poll = $page->start_poll;
    wait_waiting(1);
    $db->does('spelled', $sql);
    return VaultTest::Page::text($page->finish_poll($poll)) =~ m{<template>(.*)</template>}s ? $1 : '';
}

sub refusals { return scalar grep { /VLT00040: .*must be given as the database writes it/ } error_log_lines() }

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    my @cases = @{$CASES{$driver}};
    my @all = 0 .. $#cases;
    my @with = grep { $cases[$_][4] } @all;
    my $domains = $driver eq 'pgsql' ? 'CREATE DOMAIN moment AS TIMESTAMP;CREATE DOMAIN whenever AS moment;' : '';
    $db->make('spelled', $domains . join '', (map { "CREATE TABLE t$_(k $cases[$_][0] PRIMARY KEY,v {text});" } @all), map { "CREATE TABLE f$_(id {serial},k $cases[$_][0],v {text});" } @with);
    $db->watch('spelled', (map { "t$_" } @all), map { "f$_" } @with);
    my $feed = $db->feed('keys', 'spelled', 'rows=20 poll=50 timeout=5 model=' . model_of(\@cases));
    use_server(VaultTest::Server->start("keys-$driver", config => $feed . <<"END"));
SSIErrorMsg "$SSI_ERROR"
@{[live_folder('/feed')]}
END
    announce(qr/VLT00040: feed keys, /);
    tolerate(qr/VLT00011: the page cannot be kept live: /, qr/VLT00030: method .* failed: .*must be given as the database writes it/);
    for my $i (@all) {
        my ($type, $asked, $key, $what, $members) = @{$cases[$i]};
        my %url = map { $_ => page_of($_, $i, $asked) } 'row', $members // ();
        if ($what eq 'refused') {
            like(text_of($url{$_}), qr{<p>\Q$SSI_ERROR\E</p>}, "$driver: $type, \"$asked\" is refused ($_)") for sort keys %url;
            next;
        }
        my %insert = (row => "INSERT INTO t$i(k,v) VALUES($key,'%s')", members => "INSERT INTO f$i(k,v) VALUES($key,'%s')");
        for my $kind (sort keys %url) {
            my $page = open_page($url{$kind});
            like($page->html, $kind eq 'row' ? qr{<p>none</p>} : qr{<p></p>}, "$driver: $type, \"$asked\": nothing is there ($kind)");
            if ($what eq 'late') {
                my $before = refusals();
                my $poll = $page->start_poll;
                wait_waiting(1);
                $db->does('spelled', sprintf $insert{$kind}, 'one');
                wait_until(sub { refusals() > $before }, "... $key is refused when it comes");
                $poll->close;
                wait_waiting(0);
                next;
            }
            my ($table, $plus, $minus, $same) = $kind eq 'row' ? ("t$i", '[%s]', 'none', '[%s]') : ("f$i", '+%s ', '-%s ', '=%s ');
            my $tell = sub { my ($form, $line) = @_; return $form =~ s/%s/$line/r };
            is(told($db, $page, sprintf $insert{$kind}, 'one'), $tell->($plus, 'one'), '... it comes');
            is(told($db, $page, "UPDATE $table SET v='two'"), $tell->($same, 'two'), '... changes');
            is(told($db, $page, "DELETE FROM $table"), $tell->($minus, 'two'), '... goes');
            is(told($db, $page, sprintf $insert{$kind}, 'three'), $tell->($plus, 'three'), '... and comes again');
        }
    }
    use_server(undef);
}
finish();
