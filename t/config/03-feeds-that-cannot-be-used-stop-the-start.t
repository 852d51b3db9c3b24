# SPDX-License-Identifier: Apache-2.0
# VaultFeed, VaultFeedLog and VaultFeedExpose: what is wrong with a feed is said at start, not when the first page asks it.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;

my $feed = feed_path('test');
my $good = qq(VaultFeed tests "$feed" word=hello\n);

accepts($good, 'a feed');
accepts($good . qq(VaultFeed others "$feed" word=bye\n), 'the same shared object under another name');

refuses("VaultFeed\n", 'VaultFeed: a name and the path of a feed are needed, then its parameters as key=value', 'no arguments');
refuses("VaultFeed tests\n", 'VaultFeed: a name and the path of a feed are needed', 'no path');
refuses("VaultFeed tests /no/such/feed.so word=x\n", qr{^VaultFeed tests /no/such/feed\.so: it cannot be loaded: .*No such file}, 'a file that is not there');
refuses(qq(VaultFeed tests "@{[vars('t_conf')]}/modules.conf" word=x\n), qr/^VaultFeed tests \S+: it cannot be loaded: /, 'a file that is no shared object');
my ($dir) = map { m{(\S+)/mod_dir\.so} ? $1 : () } do { open my $f, '<', vars('t_conf') . '/modules.conf' or die $!; readline $f };
refuses("VaultFeed tests $dir/mod_dir.so word=x\n", qr/^VaultFeed tests \S+: it is no feed: it exports no "vault_feed"$/, 'a module of httpd');
refuses(qq(VaultFeed old "@{[feed_path('old')]}"\n), qr/^VaultFeed old \S+: it was built for ABI 2, this server has ABI 1; build it against this server's vault\.h$/,
    'another version of the interface');
refuses(qq(VaultFeed part "@{[feed_path('part')]}"\n), qr/^VaultFeed part \S+: its descriptor is not complete$/, 'half a feed');

refuses($good . $good, 'VaultFeed tests: there is a feed of that name already', 'a name that is taken');
refuses(qq(VaultFeed tests "$feed"\n), 'VaultFeed tests: the parameter "word" is missing: a word', 'a parameter is missing');
refuses(qq(VaultFeed tests "$feed" word=x colour=red\n), qr/^VaultFeed tests: colour=red: there is no such parameter; these are accepted: word, broken, journal, stops$/,
    'a parameter that there is not');
refuses(qq(VaultFeed tests "$feed" word=x word=y\n), 'VaultFeed tests: the parameter "word" is given twice', 'a parameter twice');
refuses(qq(VaultFeed tests "$feed" "word=two words"\n), qr/^VaultFeed tests: word=two words: a word is accepted$/, 'a value that the feed refuses');
refuses(qq(VaultFeed tests "$feed" word\n), 'VaultFeed: "word": after the first two words only key=value is accepted', 'a word that is no parameter');
refuses(qq(VaultFeed tests "$feed" =x\n), 'VaultFeed: "=x": after the first two words only key=value is accepted', 'a parameter without a name');

SKIP: {
    my $messages = feed_path('messages');
    skip 'the messages feed was not built', 1 unless -f $messages;
    my $feed_on_file = qq(VaultFeed messages "$messages" database=x.db);
    accepts("$feed_on_file anonymous=yes rate=1 keep=100000\n", 'the messages feed, before there is a database');
    accepts("$feed_on_file admin=anna owner_channels=1 idle=87600\n", '... with an administrator');
    refuses(qq($feed_on_file "admin=anna "\n), 'admin=anna : the name of a user is accepted, and this begins or ends with a blank', '... whose name no user has');
    refuses("$feed_on_file anonymous=on\n", 'anonymous=on: yes or no is accepted', '... neither yes nor no');
    refuses("$feed_on_file $_->[0]=$_->[1]\n", "$_->[0]=$_->[1]: a whole number from 1 to $_->[2] is accepted", "... with $_->[0]=$_->[1]") for
        ['message_bytes', 65537, 65536], ['keep', 0, 100000], ['users', 'many', 10000000], ['channels', -1, 1000000], ['user_channels', '', 1000000],
        ['owner_channels', 0, 1000000], ['idle', 87601, 87600],
        ['subscribers', '1e3', 1000000], ['rate', 1000001, 1000000];
    refuses("$feed_on_file poll=$_\n", qr/poll=$_: a whole number from 10 to 60000 is accepted/, "... with poll=$_: its pages need the tailer") for 0, 9, 60001;
    refuses("$feed_on_file look=9\n", qr/look=9: a whole number from 10 to 60000 is accepted/, '... with look=9, the old name');
}

SKIP: {
    my $database = feed_path('database');
    skip 'the database feed was not built', 5 unless -f $database;
    accepts(qq(VaultFeed database "$database" database=/x/y.db\n), 'the database feed, before there is a database');
    refuses(qq(VaultFeed database "$database"\n), 'the parameter "database" is missing: the path of the database file', '... without one');
    refuses(qq(VaultFeed database "$database" database=x.db timeout=61\n), 'timeout=61: a whole number from 1 to 60 is accepted', '... that waits too long');
    refuses(qq(VaultFeed database "$database" database=x.db driver=oracle\n), 'driver=oracle: not supported; there is sqlite3', '... of another kind');
    refuses(qq(VaultFeed database "$database" database=x.db init=/no/such.sql\n), 'init=/no/such.sql: the file cannot be read', '... with a script that is not there');
    my $on_file = qq(VaultFeed database "$database" database=x.db);
    refuses("$on_file look=$_\n", "look=$_: a whole number from 10 to 60000 is accepted, and 0", "... with look=$_") for 5, 60001, 'x';
    accepts(qq($on_file $_\n), "... with $_") for 'tables=news', 'tables=news,items', 'tables=*', '"tables=my news,items"', 'tables=News,news';
    my $names = 'names of tables, separated by commas without blanks, are accepted';
    refuses(qq($on_file "tables=$_->[0]"\n), "tables=$_->[0]: $_->[1]", qq(... with "tables=$_->[0]")) for
        ['', $names], [',', $names], ['news,', $names], [',news', $names], ['news,,items', $names], ['news, items', $names], ['news ', $names],
        ['news,items,news', '"news" is given twice'],
        ['news,vault_changes', q("vault_changes": names that begin with vault_ are of mod_vault's own tables)],
        ['VAULT_message_texts', q("VAULT_message_texts": names that begin with vault_)];
}

accepts($good . qq(VaultFeedLog tests echo "x=%{THE_REQUEST}" "y.z=%{REQUEST_STATUS}"\n), 'VaultFeedLog');
refuses($good . "VaultFeedLog\n", 'VaultFeedLog: the name of a feed and one of its methods are needed', '... without arguments');
refuses($good . "VaultFeedLog tests\n", 'VaultFeedLog: the name of a feed and one of its methods are needed', '... without a method');
refuses($good . "VaultFeedLog test echo\n", qr/there is no feed "test": a VaultFeed must declare it first$/, '... of a feed that there is not');
refuses("VaultFeedLog tests echo\n$good", qr/there is no feed "tests": a VaultFeed must declare it first$/, '... of a feed that comes later');
refuses($good . "VaultFeedLog tests ekho\n", qr/the feed "tests" has no method "ekho"$/, '... with a method that it does not have');
refuses($good . "VaultFeedLog tests echo nonsense\n", 'VaultFeedLog: "nonsense": after the first two words only key=value is accepted', '... with a word');
refuses($good . qq(VaultFeedLog tests echo "x=%{NO_SUCH"\n), qr/^VaultFeedLog: "x=%\{NO_SUCH" is not an expression: /, '... with half an expression');

accepts($good . "VaultFeedExpose tests echo tick\nVaultFeedExpose tests empty\n", 'VaultFeedExpose');
accepts("VaultFeedExpose off\n", '... off');
refuses($good . "VaultFeedExpose\n", 'VaultFeedExpose: the name of a feed and one or more of its methods are needed; or Off', '... without arguments');
refuses($good . "VaultFeedExpose tests\n", 'VaultFeedExpose: the name of a feed and one or more of its methods are needed; or Off', '... without a method');
refuses($good . "VaultFeedExpose test echo\n", qr/^VaultFeedExpose test echo: there is no feed "test": a VaultFeed must declare it first$/, '... of a feed that there is not');
refuses($good . "VaultFeedExpose tests echo ekho\n", qr/^VaultFeedExpose tests ekho: the feed "tests" has no method "ekho"$/, '... with a method that it does not have');
refuses(qq(VaultFeed "a b" "$feed" word=x\nVaultFeedExpose "a b" echo\n), qr/^VaultFeedExpose a b echo: only letters, digits, "_" and "-" are accepted in a name/,
    '... whose name does not fit into a URL');

# A feed that cannot start in the children: the server runs, and each call says why.
use_server(VaultTest::Server->start('broken-feed', config => qq(VaultFeed broken "$feed" word=x "broken=it was told so"\n)));
announce(qr/VLT00021: feed broken cannot start: it was told so/);
like(text_of('/closed/call?feed=broken&method=echo'), qr/"error":"it was told so"/, 'a feed that cannot start says so with each call');
like(text_of('/closed/call?feed=none&method=echo'), qr/"error":"there is no feed \\"none\\"/, 'and one that does not exist');
is(get('/test/pid')->{status}, 200, 'the server runs all the same');
use_server();

finish();
