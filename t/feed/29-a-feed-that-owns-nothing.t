# SPDX-License-Identifier: Apache-2.0
# What docs/feeds.md grants to a user who owns no table is enough for all that a feed does: to read, write and look, for queries and positions of users,
# to be told of others' changes, and to prune. And it is no more than that.
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $MODEL = '{"queries":{"all":{"sql":"SELECT id,name FROM items","tables":["items"],"columns":{"id":"integer","name":"text"},"key":["id"]}}}';

sub grants
{
    my ($driver) = @_;
    my $name = $driver eq 'pgsql' ? 'PostgreSQL' : 'MariaDB';
    my ($block) = read_file(vars('top_dir') . '/docs/feeds.md') =~ /^```sql\n(GRANT [^\n]* -- $name\n.*?)^```/ms or die "the manual grants nothing on $name\n";
    return $block =~ s/ -- $name$//mr =~ s/\bshop\./grants./gr;
}

my $login = {headers => {Authorization => 'Basic ' . MIME::Base64::encode('anna:secret', '')}};

sub call
{
    my ($method, $form) = @_;
    my $answer = post("/vault/feed/grants/$method", $form, %$login);
    return "$answer->{status} $answer->{body}" =~ s/\s+//gr;
}

sub test_feed
{
    my ($db) = @_;
    like(call('all', 'table=items'), qr/^200\[\{"id":1,"name":"one"\}\]$/, 'it reads');
    like(call('save', 'table=items&values.name=two'), qr/^200\[\{"id":2\}\]$/, 'it saves');
    like(call('update', 'table=items&key=2&values.name=zwei'), qr/^200\[\{"updated":1\}\]$/, '... updates');
    like(call('get_query_changes', 'query=all&persistent=yes'), qr/^200.*"zwei"/, '... runs a query, and keeps its result');
    my @urls = map { "/vault/feed/grants/$_" } 'get_new_instances?table=items&persistent=yes', 'get_query_changes?query=all&persistent=yes';
    my $asked = post('/vault/page', JSON::PP->new->encode({add => \@urls}), headers => {%{$login->{headers}}, 'Content-Type' => 'application/json'});
    my $page = VaultTest::Page->of(JSON::PP->new->decode($asked->{body}));
    my $poll = $page->start_poll(undef, %{$login->{headers}});
    wait_waiting(1);
    $db->does('grants', q{INSERT INTO items(name) VALUES('of the owner')});
    my %told;
    for (1 .. 3) {    # the commit may come between the one's run and the other's
        my $answer = $page->finish_poll($poll) or last;
        $told{$_->{method}} = 1 for grep { $_->{body} =~ /of the owner/ } @{$answer->{updates}};
        $poll = $page->start_poll(undef, %{$login->{headers}});
        last if keys %told == 2;
    }
    is(join(' ', sort keys %told), join(' ', sort @urls), "... is told of another's row");
    wait_waiting(1);
    is(join(' ', $db->does('grants', 'SELECT COUNT(*)>0 FROM vault_subscriptions')), $db->driver eq 'pgsql' ? 't' : '1', '... keeps positions of users');
    $poll->close;
    wait_waiting(0);
    like(call('delete', 'table=items&key=2'), qr/^200\[\{"deleted":1\}\]$/, '... deletes');
    return;
}

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    skip 'mod_auth_basic is missing', 1 unless have_module('auth_basic');
    my $model = model_file('grants', $MODEL);
    for my $db (databases('pgsql', 'mysql')) {
        my $driver = $db->driver;
        my $web = $driver eq 'pgsql' ? 'web' : 'web@localhost';
        note("on $driver");
        $db->make('grants', "CREATE TABLE items(id {serial},name {text});CREATE TABLE secrets(id {serial},name {text});INSERT INTO items(name) VALUES('one');");
        $db->watch('grants', 'items');
        $db->does('grants', $driver eq 'pgsql' ? 'DROP ROLE IF EXISTS web' : "DROP USER IF EXISTS $web");
        $db->does('grants', $driver eq 'pgsql' ? 'CREATE ROLE web LOGIN' : "CREATE USER $web");
        $db->grant('grants', grants($driver));

        my $config = $db->feed('grants', 'grants', "model=$model poll=50") =~ s/user=vault/user=web/r;
        my $methods = 'all save update delete get_new_instances get_query_changes';
        my $server = use_server(VaultTest::Server->start("grants-$driver",
            config => $config . for_users('^/vault/(poll|page|feed)') . "<Location /vault/page>\nSetHandler vault-page\n</Location>\n<Location /vault/feed>\nSetHandler vault-feed\nVaultFeedExpose grants $methods\n</Location>\n"));
        test_feed($db);
        announce(qr/VLT00070/) if $driver eq 'pgsql';    # MariaDB hides the table
        unlike(call('all', 'table=secrets'), qr/^200/, 'what was not granted it does not read');
        $server->stop;

        # A child that begins to look prunes first.
        $db->does('grants', 'UPDATE vault_changes SET at=at-100000');
        $server = use_server(VaultTest::Server->start("grants-again-$driver", config => $config =~ s/poll=50/poll=50 keep=60/r));
        wait_until(sub { ($db->does('grants', 'SELECT COUNT(*) FROM vault_changes'))[0] == 0 }, 'it prunes');
        $server->stop;
        use_server(undef);
        $db->does('grants', $driver eq 'pgsql' ? 'DROP OWNED BY web; DROP ROLE web' : "DROP USER $web");
    }
}
finish();
