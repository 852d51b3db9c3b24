# SPDX-License-Identifier: Apache-2.0
# A page answers on the virtual host, and to users of the authentication realm, that it was made in. What an application on one host made of
# it is told to no application on another; a poll, an acknowledgement, a stream or a change of its methods finds no page there. A graceful
# restart that puts the virtual hosts in another order changes nothing of that.
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 ();
use VaultTest;
use VaultTest::Events;

my $auth = have_module('auth_basic') && have_module('authn_file');

sub as   { my ($user, $host) = @_; return (Authorization => 'Basic ' . MIME::Base64::encode_base64("$user:secret", '')) }
sub host { my ($host) = @_; return (Host => "$host.test") }

# Of one name and one address, told apart by their aliases alone: "one" and "also".
my %hosts = map { $_->[0] => "<VirtualHost *:*>\nServerName $_->[1].test\nServerAlias $_->[2].test\n</VirtualHost>\n" }
    (['one', 'one', 'uno'], ['two', 'two', 'due'], ['also', 'one', 'also']);
my $realms = join '', map { <<"END" } $auth ? qw(a b) : ();
<Location "/$_/">
    SetHandler vault-test
    VaultLongPoll On
    AuthType Basic
    AuthName "realm $_"
    AuthUserFile "@{[vars('top_dir')]}/t/conf/site.users"
    Require valid-user
</Location>
<Location "/$_/poll">
    SetHandler vault-poll
</Location>
<Location "/$_/methods">
    SetHandler vault-page
</Location>
END
my $MOST = 8;
my $common = "VaultMaxPagesPerClient $MOST\n<Location /vault/page>\nSetHandler vault-page\n</Location>\n$realms";
use_server(VaultTest::Server->start('hosts', config => $common . join '', @hosts{qw(one two also)}));

sub rows { my ($path, %headers) = @_; return open_page("$path?poll=/test/rows%3Fname=h05%26interest=h05", headers => \%headers) }
sub poll_path { my ($page, $at) = @_; return ($at // '/vault') . '/poll?page=' . $page->id . '&seq=' . $page->seq }

# Is the page told to an application, asked by its own request?
sub told
{
    my ($page, $path, %headers) = @_;
    my $said = text_of($path, headers => {%headers, 'X-Vault-Page' => $page->id});
    return $said =~ /^Vault-Page: \Q@{[$page->id]}\E$/m ? 1 : 0;
}

sub change
{
    my ($page, $path, %headers) = @_;
    my $body = JSON::PP::encode_json({page => $page->id, add => [], remove => []});
    return post($path, $body, headers => {%headers, 'Content-Type' => 'application/json'})->{status};
}

# ---------------------------------------------------------------- virtual hosts

my $page = rows('/test/page', host('one'));
my $other = rows('/test/page', host('two'));
text_of('/test/property?key=role&value=admin', headers => {host('one'), 'X-Vault-Page' => $page->id});
like(text_of('/test/said', headers => {host('one'), 'X-Vault-Page' => $page->id}), qr/^Vault-Property-role: admin$/m, 'the page has a property');

# @where: names that are its host's
sub belongs
{
    my ($when, $where, $elsewhere) = @_;
    for (@$where) {
        is(get(poll_path($page) . '&ack=1', headers => {host($_)})->{status}, 204, "$when, $_: an acknowledgement");
        ok(told($page, '/test/said', host($_)), '  an application is told of the page');
        is(change($page, '/vault/page', host($_)), 200, '  its methods can be changed');
        my $poll = $page->start_poll(undef, host($_));
        wait_waiting(1);
        ok($poll->is_silent, '  a poll waits');
        $poll->close;
        wait_waiting(0);
    }
    for (@$elsewhere) {
        is(get(poll_path($page), headers => {host($_)})->{status}, 410, "$when, $_: a poll finds no page");
        is(get(poll_path($page) . '&ack=1', headers => {host($_)})->{status}, 410, '  nor does an acknowledgement');
        my $stream = VaultTest::Events->ask([$page], headers => {host($_)});
        $stream->head;
        is($stream->{status}, 410, '  nor a stream');
        $stream->{connection}->close;
        is(change($page, '/vault/page', host($_)), 410, '  nor who changes its methods');
        ok(!told($page, '/test/said', host($_)), '  no application is told of it');
        is(text_of('/test/property?key=role', headers => {host($_), 'X-Vault-Page' => $page->id}), '', '  nor of its properties');
    }
    return;
}
belongs('at first', ['one', 'uno'], ['two', 'due', 'also']);

# In a poll of several.
my $pages = '/vault/poll?pages=' . join ',', map { $_->id . '.0' } $page, $other;
my @said = @{JSON::PP::decode_json(text_of($pages, headers => {host('two')}))->{pages}};
is_deeply([map { [@$_{qw(page status)}] } @said], [[$page->id, 410]], 'in a poll of several the page of the other host is told 410');
@said = @{JSON::PP::decode_json(text_of("$pages&ack=1", headers => {host('two')}))->{pages}};
is_deeply([map { [@$_{qw(page status)}] } @said], [[$page->id, 410]], '... and in an acknowledgement of several');
text_of('/test/add?name=h05&notify=h05');
announce(qr/VLT00305: the page was made on another virtual host than two\.test:/);

# The page's poll on its own host is not disturbed by one on another.
my $stream = VaultTest::Events->open([$page], headers => {host('one')});
is($stream->event->{updates}[0]{body}, "1\n", 'a stream of the page');
is(get(poll_path($page), headers => {host('two')})->{status}, 410, 'a poll of it on another host');
text_of('/test/add?name=h05&notify=h05');
is($stream->event->{updates}[0]{body}, "2\n", 'does not end the stream');
$stream->{connection}->close;
$page->{seq} = 2;
wait_waiting(0);

# The name that two share is the first one's, now the other.
my ($server) = VaultTest::Server::all();
$server->reconfigure($common . join '', @hosts{qw(also two one)});
belongs('after a restart that turns the order about', ['uno'], ['one', 'also', 'two', 'due']);
$server->reconfigure($common . join '', map { s/ServerAlias/ServerAlias new.test/r } @hosts{qw(two one)});
is(get(poll_path($other) . '&ack=1', headers => {host($_)})->{status}, 204, "after one that adds an alias, $_: its page lives on") for 'two', 'new';
is(get(poll_path($_->[0]), headers => {host($_->[1])})->{status}, 410, "... and is not $_->[1]'s") for [$page, 'two'], [$other, 'one'];

# ---------------------------------------------------------------- realms

SKIP: {
    skip 'httpd has no basic authentication', 1 unless $auth;
    my $annas = rows('/a/page', as('anna'), host('two'));
    my %see = (as('anna'), host('two'));
    is(get(poll_path($annas, '/a') . '&ack=1', headers => \%see)->{status}, 204, 'anna, in the realm where she got the page');
    ok(told($annas, '/a/said', %see), '... whose applications are told of it');
    is(change($annas, '/a/methods', %see), 200, '... and may change it');
    is(get(poll_path($annas, '/b'), headers => \%see)->{status}, 403, 'anna of another realm');
    is(get(poll_path($annas, '/b') . '&ack=1', headers => \%see)->{status}, 403, '... may not acknowledge');
    is(change($annas, '/b/methods', %see), 403, '... nor change it');
    ok(!told($annas, '/b/said', %see), '... whose applications are told nothing');
    is(get(poll_path($annas, '/a'), headers => {as('anna'), host('one')})->{status}, 410, 'the same realm on another host');
    announce(qr/VLT00032: the page belongs to another user than anna, or to one of another AuthType or AuthName/);

    # A client that can choose the name "anna" on another host, or in another realm, takes nothing from the share of this one.
    my $is_live = sub { my ($path, @who) = @_; return get("$path?poll=/test/rows%3Fname=h05", headers => {@who})->{body} =~ /data-vault-page/ ? 1 : 0 };
    is(join('', map { $is_live->('/b/page', %see) } 1 .. $MOST + 1), '1' x $MOST . '0', 'anna of another realm has as many pages as she may');
    is(join('', map { $is_live->('/b/page', as('anna'), host('one')) } 1 .. $MOST + 1), '1' x $MOST . '0', '... and on another host');
    ok($is_live->('/a/page', %see), '... which are not those of this anna');
    announce(qr/VLT00051: no page can be made: user anna has VaultMaxPagesPerClient $MOST/);

    my $open = rows('/test/page', host('two'));
    is(get(poll_path($open, '/b') . '&ack=1', headers => \%see)->{status}, 204, 'a page that was made without a user: any user of the host');
}
finish();
