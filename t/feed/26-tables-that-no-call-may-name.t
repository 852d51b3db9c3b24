# SPDX-License-Identifier: Apache-2.0
# The caller of a method names the table. The feeds' own tables cannot be used: they hold rows of every watched table, deleted ones as
# well, and what users say to each other. Nor are those of the database itself, nor those that the parameter `tables` does not name.
use strict;
use warnings;
use utf8;
use JSON::PP ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;
use VaultTest::Vaultctl;
binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);

my @METHODS = qw(all filter save update delete get_new_instances get_modified_instance get_attribute_changes get_filter_changes);
my @OWN = qw(vault_changes vault_watched vault_results vault_subscriptions vault_message_users vault_message_channels
    vault_message_subscriptions vault_message_texts vault_message_deliveries VAULT_CHANGES Vault_Message_Texts);
# Other ways to write one, and what databases keep of themselves.
my @NONE = ('"vault_changes"', '`vault_changes`', '[vault_changes]', ' vault_changes', 'v' . "\x{e4}" . 'ult_changes', "\x{ff56}ault_changes",
    'main.vault_changes', 'public.vault_changes', 'hidden.vault_changes', 'news AS t,vault_changes', 'sqlite_master', 'sqlite_schema', 'sqlite_sequence', 'main.sqlite_master',
    'pg_class', 'pg_catalog.pg_class', 'pg_shadow', 'tables', 'TABLES', 'information_schema.tables', 'INFORMATION_SCHEMA.TABLES', 'mysql.user', 'user');

sub escaped { my ($text) = @_; utf8::encode($text); $text =~ s/([^\w.-])/sprintf '%%%02X', ord $1/ge; return $text }

sub said
{
    my ($method, $table, $feed) = @_;
    $feed //= 'shop';
    my $answer = post("/vault/feed/$feed/$method", 'table=' . escaped($table) . '&key=1&where.id=1&values.id=1&attribute=id' =~ s/&(\w+)[^&]*/_takes($method, $1) ? $& : ''/ger);
    return "$answer->{status} " . (($answer->{body} =~ /^\[/ ? undef : JSON::PP->new->utf8->decode($answer->{body})->{error}) // $answer->{body});
}

sub _takes
{
    my ($method, $argument) = @_;
    return $argument eq 'where' ? $method =~ /^(?:filter|delete|get_filter_changes)$/
        : $argument eq 'key' ? $method =~ /^(?:update|get_[ma].*)$/
        : $argument eq 'values' ? $method =~ /^(?:save|update)$/ : $method eq 'get_attribute_changes';
}

sub model
{
    return model_file('nobodys-model', JSON::PP->new->encode({
        entities => {User => {table => 'users', properties => {password => 'password'}}},
        queries => {users => {sql => 'SELECT id FROM users', tables => ['users'], columns => {id => 'integer'}, key => ['id']}},
    }));
}

for my $db (has_database() ? databases() : ()) {
    note('on ' . $db->driver);
    my $name = 'nobodys';
    my $messages = vars('top_dir') . '/modules/vault_feed_messages.so';
    $db->make($name, 'CREATE TABLE news(id {serial},line {text});CREATE TABLE items(id {serial},line {text});'
        . 'CREATE TABLE users(id {serial},password {text});INSERT INTO users(password) VALUES(\'secret\');');
    my $config = $db->feed('shop', $name) . $db->feed('some', $name, 'tables=news,items model=' . model()) . (-f $messages ? $db->feed('messages', $name, 'anonymous=yes', $messages) : '');
    use_server(VaultTest::Server->start('nobodys-' . $db->driver,
        config => "$config<Location /vault/feed>\nSetHandler vault-feed\nVaultFeedExpose shop @METHODS\nVaultFeedExpose some @METHODS get_property_changes get_query_changes\n</Location>\n"));
    $db->watch($name, 'news', 'users');
    if (-f $messages) {
        is(calls_feed('messages', 'create_user', {user => 'anna'})->{status}, 0, 'the messages have their tables in the same database');
    }

    for my $table (@OWN) {
        my @wrong = grep { said($_, $table) !~ /^400 table "\Q$table\E" cannot be used: names that begin with vault_ are of mod_vault's own tables$/ } @METHODS;
        is("@wrong", '', "$table: refused by every method");
    }
    for my $table (@NONE) {
        my @wrong = grep { said($_, $table) !~ /^400 there is no table "\Q$table\E"$/ } @METHODS;
        is("@wrong", '', "$table: there is none of that name, for any method") or diag(said($wrong[0], $table));
    }
    is(join(' ', $db->does($name, "SELECT tbl FROM vault_watched WHERE tbl NOT LIKE 'vault%' AND tbl<>'' ORDER BY tbl")), 'news users', 'nothing has happened to them');

    for my $table ('users', 'News', 'NEWS', 'news,items', 'nothing', 'sqlite_master') {
        my @wrong = grep { said($_, $table, 'some') !~ /^400 table "$table" is not one of those of tables=news,items$/ } @METHODS;
        is("@wrong", '', "$table: not one that methods of this feed take");
    }
    like(said('all', 'vault_changes', 'some'), qr/^400 table "vault_changes" cannot be used/, 'still not');
    like(said('all', $_, 'some'), qr/^200 /, "$_: one that they take") for qw(news items);
    like(text_of('/vault/feed/some/get_property_changes?entity=User&id=1&property=password'), qr/"new": ?"secret"/, 'what the model shows it shows');
    like(text_of('/vault/feed/some/get_query_changes?query=users'), qr/"added": ?\[\{"id": ?1/, '  of queries as well');

    my $first = live_page(['/vault/feed/shop/get_new_instances?table=news']);
    $first->poll;
    my $poll = $first->start_poll;
    wait_waiting(1);
    $db->does($name, "INSERT INTO news(line) VALUES('by another program')");
    my ($update) = @{$first->finish_poll($poll)->{updates}};
    like($update->{body}, qr/by another program/, 'the feed itself goes on using them');
    use_server();
}
finish();
