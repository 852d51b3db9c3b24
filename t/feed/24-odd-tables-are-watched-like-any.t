# SPDX-License-Identifier: Apache-2.0
# Tables as people declare them: keys that are bytes or lists, columns of several character sets, names that differ in capitals only. Once they
# are watched others still write into them, their new rows come, and rows are updated and deleted through the feed.
use strict;
use warnings;
use utf8;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

# Name, columns, a row whose v is "one", and why.
my %CASES = (
    sqlite3 => [
        ['pairs', 'k TEXT,n INTEGER,v TEXT,PRIMARY KEY(n,k)', q{('a,\\b',7,'one')}, 'a key of two columns'],
        ['no_key', 'k TEXT PRIMARY KEY,v TEXT', q{(NULL,'none'),('a','one')}, 'a row without a key is passed over'],
        ['Size "x', 'k INTEGER PRIMARY KEY,v TEXT', q{(1,'one')}, 'a blank and a quote in the name'],
    ],
    pgsql => [
        ['bytes', 'k BYTEA PRIMARY KEY,v TEXT', q{('\x00ff2041','one')}, 'a key of bytes'],
        ['pairs', 'k BYTEA,n CHAR(5),v TEXT,PRIMARY KEY(n,k) INCLUDE(v)', q{('\x5c2c','a,','one')}, 'a key of two columns'],
        ['list', 'k INTEGER[] PRIMARY KEY,v TEXT', q{('{1,2}','one')}, 'a list'],
        ['Items', 'k INTEGER PRIMARY KEY,v TEXT', q{(1,'one')}, 'capitals'],
        ['items', 'k INTEGER PRIMARY KEY,v TEXT', q{(2,'one')}, 'and none'],
        ['Size "x', 'k INTEGER PRIMARY KEY,v TEXT', q{(1,'one')}, 'a blank and a quote in the name'],
    ],
    mysql => [
        ['bytes', 'k BINARY(4) PRIMARY KEY,v TEXT', q{(X'00ff2041','one')}, 'a key of bytes that are no text'],
        ['many_bytes', 'k VARBINARY(200) PRIMARY KEY,v TEXT', q{(REPEAT(X'00ff2041',50),'one')}, 'base64 of it has several lines'],
        ['pairs', 'k BINARY(2),n INT(5) ZEROFILL,v VARCHAR(9),PRIMARY KEY(n,k)', q{(X'5c2c',7,'one')}, 'a key of two columns'],
        ['bits', 'k BIT(8) PRIMARY KEY,v TEXT', q{(b'101','one')}, 'bits'],
        ['wide', 'k VARCHAR(9) CHARACTER SET utf16 PRIMARY KEY,v VARCHAR(9) CHARACTER SET ucs2', q{('é','one')}, 'two bytes a character'],
        ['sets', 'k INT PRIMARY KEY,v VARCHAR(9) CHARACTER SET latin1,w VARCHAR(9) CHARACTER SET cp1251', q{(1,'one','ж')}, 'several character sets'],
        ['Items', 'k INT PRIMARY KEY,v TEXT', q{(1,'one')}, 'a name that differs from the next'],
        ['items', 'k INT PRIMARY KEY,v TEXT,w TEXT', q{(2,'one',NULL)}, 'in capitals only'],
        ['Size "x', 'k INT PRIMARY KEY,v TEXT', q{(1,'one')}, 'a blank and a quote in the name'],
    ],
);

site_file('/feed/odd-row.html', '{{#rows}}[{{v}}]{{/rows}}');

for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    my $quote = $driver eq 'mysql' ? '`' : '"';
    my @cases = map { my $name = $_->[0] =~ s/$quote/$quote$quote/gr; [@$_, "$quote$name$quote"] } @{$CASES{$driver}};
    $db->make('odd', join '', map { "CREATE TABLE $_->[4]($_->[1]);" } @cases);
    $db->watch('odd', map { $_->[0] } @cases);
    use_server(VaultTest::Server->start("odd-$driver", config => $db->feed('odd', 'odd', 'rows=20 poll=50 timeout=5') . live_folder('/feed')));
    for my $i (0 .. $#cases) {
        my ($name, undef, $row, $why, $quoted) = @{$cases[$i]};
        my $shown = $name =~ s/"/&quot;/gr;
        my $tag = qq(<!--#feed name="odd" method="get_new_instances" table="$shown" template="odd-row.html" append="rows" -->);
        live_tag("/feed/odd-$driver-$i", $tag);
        my $page = open_page("/feed/odd-$driver-$i.shtml");
        my $poll = $page->start_poll;
        wait_waiting(1);
        $db->does('odd', "INSERT INTO $quoted VALUES$row");
        like(VaultTest::Page::text($page->finish_poll($poll)), qr{<template>\[one\]</template>}, "$driver: $why");
        is(calls_feed('odd', 'update', {table => $name, where => {v => 'one'}, values => {v => 'two'}})->{rows}[0]{updated}, 1, '... it is updated');
        is(calls_feed('odd', 'delete', {table => $name, where => {v => 'two'}})->{rows}[0]{deleted}, 1, '... and deleted');
    }
    next if $driver ne 'mysql';
    is(calls_feed('odd', 'save', {table => 'bits', values => {k => '6', v => 'six'}})->{rows}[0]{id} // 'nothing', 6, 'digits are no bytes to a BIT');
    is(calls_feed('odd', 'update', {table => 'bits', key => '6', values => {v => 'seven'}})->{rows}[0]{updated}, 1, '... nor where a row is looked for');
}
use_server(undef);
finish();
