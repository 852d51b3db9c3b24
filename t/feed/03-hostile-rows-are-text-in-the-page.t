# SPDX-License-Identifier: Apache-2.0
# Whatever is in the database, and whichever program wrote it: in the page it is text.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Site;

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $tag = '<!--#feed name="database" method="get_new_instances" table="logs" limit="1" template="hostile.html" append="list" -->';
    site_file('/feed/hostile.html', '{{#rows}}<p title="{{line}}">{{line}}</p>{{/rows}}');
    live_tag('/feed/hostile', $tag, '%s');

    my @hostile = (
        '<script>alert(1)</script>', q{"><img src=x onerror=alert(1)>}, q{' onmouseover='alert(1)}, '&lt;b&gt; &amp; &', '</template></turbo-stream><script>',
        '{{{line}}}{{#rows}}{{/rows}}', '<!--#exec cmd="id" --><!--#vault poll="/x" -->', q{'); DROP TABLE logs; --}, "a\tb\nc\r\nd",
        "\x01\x7f", "caf\x{e9} \x{1f600} \x{202e}gnirts", "\x{fffd}\x{feff}", '%s%n%x', 'x' x 5000, ' select ( from a, b',
    );
    my %escape = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', "'" => '&#39;');
    my $page = open_page('/feed/hostile.shtml');
    for my $line (@hostile) {
        insert_row('logs', $line);
        my $answer = $page->poll;
        my $text = VaultTest::Page::text($answer);
        utf8::decode($text);
        my ($title, $body) = $text =~ m{^<turbo-stream action="append" target="list"><template><p title="([^"<>]*)">([^<>]*)</p></template></turbo-stream>$}s;
        (my $shown = JSON::PP->new->allow_nonref->ascii->encode($line)) =~ s/(.{60}).*/$1…/;
        (my $wanted = $line) =~ s/([&<>"'])/$escape{$1}/g;
        # How an apostrophe is written is the template's affair; that it cannot end an attribute is not.
        for ($title, $body) { $_ //= 'no such element'; s/&#x27;|&apos;/&#39;/g }
        is($body, $wanted, "as text: $shown");
        is($title, $wanted, '  and within an attribute');
    }
    my ($html) = open_page('/feed/hostile.shtml')->html =~ m{<p title="([^"]*)">};
    is($html, ' select ( from a, b', 'and the view shows the last row');
    cmp_ok(scalar(rows_of('logs')), '>=', scalar @hostile, 'the table is still there');

    # Hostile arguments: the names of tables and columns.
    for my $table ('logs; DROP TABLE logs', 'logs"', "logs'--", 'sqlite_master', 'LOGS', '', '../logs', 'x' x 300) {
        my $answer = calls_feed('database', 'all', {table => $table});
        is($answer->{rows}, undef, 'refused as a table: ' . JSON::PP->new->allow_nonref->ascii->encode(substr $table, 0, 40));
        like($answer->{error}, qr/table/, '  with a sentence');
    }
    for my $column ('line"=1 OR 1=1 --', 'LINE', 'nonsense', 'id) --') {
        like(calls_feed('database', 'filter', {table => 'logs', where => {$column => 1}})->{error}, qr/has no column/, "refused as a column: $column");
        like(calls_feed('database', 'save', {table => 'logs', values => {$column => 1}})->{error}, qr/has no column/, '  and to be saved');
    }
    announce(qr/VLT00040: feed database, method all: there is no table "logs&quot;|VLT00040: feed database, method all: there is no table "logs""/);
    site_file('/feed/table.shtml', qq(<!--#feed name="database" method="all" table="logs&quot;" template="hostile.html" -->\n));
    is(text_of('/feed/table.shtml'), "[ssi error]\n", 'a hostile table in a tag');

    announce(qr/VLT00040: .*new rows of table "plain" cannot be distinguished from old ones/);
    site_file('/feed/plain.shtml', qq(<!--#feed name="database" method="get_new_instances" table="plain" template="hostile.html" -->\n));
    is(text_of('/feed/plain.shtml'), "[ssi error]\n", 'a table whose keys are used again is refused');
}
finish();
