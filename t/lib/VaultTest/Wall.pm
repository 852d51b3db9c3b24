# SPDX-License-Identifier: Apache-2.0
# What the tests of one wall share: profiles, which have posts, in a database that is watched, and pages that show the posts of one profile.
#
#     my $path = wall_page('shop', 1);                        # /feed/shop-1.shtml, of the feed `shop`
#     wall_tables($db, 'shop', 'INSERT INTO …');              # profiles 1 and 2: Ann, Bob
#     use_server(wall_server($db, 'shop', 'poll=50'));
#     my $page = open_page($path);
#     my %has;                                                # ID => TEXT
#     push @wrong, wall_apply(\%has, $page->html);            # and what each poll says
#     is(wall_shown(\%has), '1:hello 2:hi', …);
package VaultTest::Wall;
use strict;
use warnings;
use Exporter 'import';
use VaultTest;
use VaultTest::Site;

our @EXPORT = qw(wall_apply wall_page wall_server wall_shown wall_tables);

my $MODEL = <<'END';
{"entities": {"Profile": {"table": "profiles", "properties": {"name": "name"},
                          "collections": {"posts": {"entity": "WallPost", "column": "wall"}}},
              "WallPost": {"table": "posts", "properties": {"text": "body"}}}}
END

# A page of the feed of this name that shows one wall, its posts in an element with the id `list`; `more`: other attributes of the tag.
sub wall_page
{
    my ($name, $wall, $more) = @_;
    $more //= '';
    site_file("/feed/$name.html",
        '{{#added}}+{{id}}:{{text}};{{/added}}{{#removed}}-{{id}}:{{text}};{{/removed}}{{#changed}}={{id}}:{{text}};{{/changed}}');
    return live_tag("/feed/$name-$wall",
        qq(<!--#feed name="$name" method="get_collection_changes" entity="Profile" id="$wall" collection="posts" template="$name.html" $more -->),
        '<p id="list">%s</p>');
}

# The database of this name, watched; `key`: what else is declared of the key of posts
sub wall_tables
{
    my ($db, $name, $rows, %with) = @_;
    $rows //= '';
    my $key = $with{key} // '';
    $db->make($name, <<"END");
CREATE TABLE profiles(id {integer} PRIMARY KEY,name {text});
CREATE TABLE posts(id {integer} PRIMARY KEY $key,wall {integer},body {text});
INSERT INTO profiles VALUES(1,'Ann'),(2,'Bob');
$rows
END
    return $db->watch($name, 'posts', 'profiles');
}

# A server with a feed of this name for it; `parameters` of the feed; `more`: of the configuration, and what VaultTest::Server takes
sub wall_server
{
    my ($db, $name, $parameters, %with) = @_;
    my $model = model_file($name, $MODEL);
    return VaultTest::Server->start("$name-" . $db->driver, %with,
        config => $db->feed($name, $name, "$parameters model=$model") . live_folder('/feed') . ($with{more} // ''));
}

# Do to this wall, {ID => TEXT}, what a page was told, or its HTML. Those of the words that cannot be: a post that comes twice, or goes or
# changes and was not there.
sub wall_apply
{
    my ($wall, $told) = @_;
    my @wrong;
    $told = $1 if $told =~ m{<p id="list">(.*)</p>}s;
    while ($told =~ /([-+=])(\d+):([^;]*);/g) {
        my ($sign, $id, $text) = ($1, $2, $3);
        push @wrong, "$sign$id:$text" if ($sign eq '+') == exists $wall->{$id};
        $wall->{$id} = $text;
        delete $wall->{$id} if $sign eq '-';
    }
    return @wrong;
}

# "ID:TEXT …"
sub wall_shown
{
    my ($wall) = @_;
    return join ' ', map { "$_:$wall->{$_}" } sort { $a <=> $b } keys %$wall;
}

1;
