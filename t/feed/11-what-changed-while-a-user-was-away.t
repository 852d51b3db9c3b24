# SPDX-License-Identifier: Apache-2.0
# persistent="yes" for a row, an attribute, a property, a collection and a query: what happened to them between two visits comes at the second, also
# when httpd was started anew in between; and no more at the third.
use strict;
use warnings;
use MIME::Base64 ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $TABLES = <<'END';
CREATE TABLE profiles(id {integer} PRIMARY KEY,full_name {text},status {text});
CREATE TABLE posts(id {integer} PRIMARY KEY,wall {integer},body {text});
INSERT INTO profiles VALUES(1,'Ann','here'),(2,'Bob','away');
INSERT INTO posts VALUES(1,1,'hello'),(2,2,'hi'),(4,1,'left');
END
my $MODEL = <<'END';
{"entities": {"Profile": {"table": "profiles", "properties": {"name": "full_name"},
                          "collections": {"posts": {"entity": "WallPost", "column": "wall"}}},
              "WallPost": {"table": "posts", "properties": {"text": "body"}}},
 "queries": {"wall": {"sql": "SELECT p.id, p.body, a.full_name FROM posts p JOIN profiles a ON a.id = p.wall WHERE a.id = :wall ORDER BY p.id",
                      "parameters": {"wall": "integer"}, "tables": ["posts", "profiles"],
                      "columns": {"id": "integer", "body": "text", "full_name": "text"}, "key": ["id"]}}}
END

# Name => tag's attributes, template, what is shown at the first and at the second visit.
my %PAGES = (
    'away-row' => ['method="get_modified_instance" table="profiles" key="1"', '{{#rows}}[{{full_name}} {{status}}]{{/rows}}', '[Ann here]', '[Anna out]'],
    'away-attribute' => ['method="get_attribute_changes" table="profiles" key="1" attribute="status"', '{{#rows}}{{old}} to {{new}}{{/rows}}', ' to here', 'here to out'],
    'away-property' => ['method="get_property_changes" entity="Profile" id="1" property="name"', '{{#rows}}{{old}} to {{new}}{{/rows}}', ' to Ann', 'Ann to Anna'],
    'away-collection' => ['method="get_collection_changes" entity="Profile" id="1" collection="posts"',
        '{{#added}}+{{id}}:{{text}} {{/added}}{{#removed}}-{{id}}:{{text}} {{/removed}}', '+1:hello +4:left ', '+2:hi +3:newer -1:hello '],
    'away-query' => ['method="get_query_changes" query="wall" parameters.wall="1"',
        '{{#added}}+{{id}}:{{body}} by {{full_name}} {{/added}}{{#removed}}-{{id}} {{/removed}}{{#changed}}={{id}} by {{full_name}} {{/changed}}',
        '+1:hello by Ann +4:left by Ann ', '+2:hi by Anna +3:newer by Anna -1 =4 by Anna '],
);
my @MEANWHILE = (
    q{UPDATE profiles SET status='gone' WHERE id=1}, q{UPDATE profiles SET status='out',full_name='Anna' WHERE id=1},
    q{UPDATE posts SET wall=1 WHERE id=2}, q{INSERT INTO posts VALUES(3,1,'new')}, q{UPDATE posts SET body='newer' WHERE id=3},
    q{DELETE FROM posts WHERE id=1},
);
for my $name (keys %PAGES) {
    my $tag = qq(<!--#feed name="away" $PAGES{$name}[0] persistent="yes" template="$name.html" -->);
    site_file("/feed/$name.html", $PAGES{$name}[1]);
    live_tag("/feed/$name", $tag);
}

my %anna = (Authorization => 'Basic ' . MIME::Base64::encode('anna:secret', ''));

# What a visit shows. It has been acknowledged when its poll waits.
sub shown
{
    my ($name) = @_;
    my $page = open_page("/feed/$name.shtml", headers => \%anna);
    my $poll = $page->start_poll(undef, %anna);
    wait_waiting(1);
    $poll->close;
    wait_waiting(0);
    return $page->html =~ m{<p>(.*)</p>}s ? $1 : undef;
}

sub config_of
{
    my ($db) = @_;
    my $model = model_file('away', $MODEL);
    return $db->feed('away', 'away', "poll=100 timeout=10 model=$model") . live_folder('/feed')
        . for_users('^/(feed|vault/poll)');
}

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    skip 'mod_auth_basic is missing', 1 unless have_module('auth_basic');
    for my $db (databases()) {
        my $driver = $db->driver;
        $db->make('away', $TABLES);
        $db->watch('away', qw(profiles posts));
        my $start = sub { return use_server(VaultTest::Server->start("away-$driver-$_[0]", config => config_of($db))) };
        $start->('before');
        is(shown($_), $PAGES{$_}[2], "$driver, $_: the first visit") for sort keys %PAGES;
        use_server(undef);
        $db->does('away', $_) for @MEANWHILE;
        $start->('after');
        for my $name (sort keys %PAGES) {
            is(shown($name), $PAGES{$name}[3], "$driver, $name: what happened meanwhile");
            is(shown($name), '', '... and nothing more');
        }
        $db->does('away', 'DELETE FROM vault_results');
        is(shown('away-query'), '+2:hi by Anna +3:newer by Anna +4:left by Anna ', "$driver: a result that is not kept any more is shown whole");
        use_server(undef);
    }
}
finish();
