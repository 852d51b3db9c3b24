# SPDX-License-Identifier: Apache-2.0
# Who may post and read is whom httpd has authenticated, in calls, pages and polls; an argument can only repeat it.
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 ();
use VaultTest;
use VaultTest::Messages;
use VaultTest::Site;

sub login { return (headers => {Authorization => 'Basic ' . MIME::Base64::encode("$_[0]:secret", '')}) }

# call(USER, METHOD, ARGUMENT => VALUE): the answer by URL, as a browser has it
sub call
{
    my ($user, $method, %args) = @_;
    my $form = join '&', map { "$_=$args{$_}" } sort keys %args;
    my $answer = post("/vault/feed/chat/$method", $form, $user ? login($user) : ());
    $answer->{json} = eval { JSON::PP->new->decode($answer->{body}) };
    return $answer;
}

# Those of the other tests, an administrator, and two whose names httpd takes.
sub users_file
{
    my $file = vars('t_logs') . '/messages.users';
    open my $in, '<', vars('top_dir') . '/t/conf/site.users' or die "site.users: $!\n";
    my @lines = readline $in;
    my ($hash) = map { /^anna:(.*)/ ? $1 : () } @lines;
    open my $out, '>:raw', $file or die "$file: $!\n";
    print $out @lines, "carl:$hash\n", "andr\xe9:$hash\n", "a\x{1b}b:$hash\n";
    close $out or die "$file: $!\n";
    return $file;
}

my $methods = <<'END';
<Location "/vault/feed">
    SetHandler vault-feed
    VaultFeedExpose chat create_channel delete_channel subscribe post_message get_new_messages
</Location>
END

SKIP: {
    skip 'the messages feed was not built', 1 unless has_messages();
    skip 'mod_auth_basic is missing', 1 unless have_module('auth_basic');
    for_each_database(
        sub {
            my ($db) = @_;
            my $config = for_users('^/(feed|vault/poll|vault/feed)', users_file()) . $methods;
            messages_server('users', $db, {chat => 'anonymous=no admin=carl', open => 'anonymous=yes admin=carl'}, config => $config);

            is(call('anna', 'create_channel', channel => 'lobby')->{status}, 200, 'anna makes a channel');
            is(call(undef, 'create_channel', channel => 'mine')->{status}, 401, 'a visitor without a login cannot');
            is(call($_, 'subscribe', channel => 'lobby')->{status}, 200, "$_ subscribes") for qw(anna bert);
            is(call('anna', 'post_message', channel => 'lobby', text => 'hello')->{status}, 200, 'anna posts');
            my $answer = call('anna', 'post_message', channel => 'lobby', text => 'x', user => 'bert');
            is($answer->{status}, 400, '... not as bert');
            is($answer->{json}{error}, 'argument "user" is not the user who has logged in', '... and is told why');
            is(call('anna', 'post_message', channel => 'lobby', text => 'again', user => 'anna')->{status}, 200, '... but with her own name');
            is_deeply([map { "$_->{sender}:$_->{text}" } @{call('bert', 'get_new_messages')->{json}}], ['anna:hello', 'anna:again'], 'bert reads what is his');
            is(call('bert', 'get_new_messages', user => 'anna')->{status}, 400, '... and cannot read what is hers');

            # Whose a channel is.
            is(call('bert', 'create_channel', channel => 'berts')->{status}, 200, 'bert makes a channel');
            is(call('anna', 'delete_channel', channel => 'berts')->{json}{error}, 'channel "berts" belongs to another user', '... that anna cannot delete');
            is(call('anna', 'delete_channel', channel => 'berts', user => 'bert')->{status}, 400, '... nor in his name');
            is(call(undef, 'delete_channel', channel => 'berts')->{status}, 401, '... nor a client without a user');
            is(call('bert', 'delete_channel', channel => 'berts')->{json}[0]{changed}, JSON::PP::true(), '... and he can');
            call('bert', 'create_channel', channel => 'berts');
            is(call('carl', 'delete_channel', channel => 'berts')->{json}[0]{changed}, JSON::PP::true(), '... and the administrator');
            is(call('carl', 'create_channel', channel => 'official')->{status}, 200, 'a channel of the administrator');
            like(call('anna', 'delete_channel', channel => 'official')->{json}{error}, qr/^channel "official" has no owner/, '... is no user\'s');
            must('zoe', 'open', 'create_channel', {channel => 'zoes'});
            refused('carl', 'open', 'delete_channel', {channel => 'zoes'}, qr/^channel "zoes" belongs to another user$/, 'who only says that he is the administrator is not');
            is(call('carl', 'delete_channel', channel => 'official')->{json}[0]{changed}, JSON::PP::true(), 'the administrator deletes what has no owner');

            is(call("andr\xe9", 'subscribe', channel => 'lobby')->{json}{error}, 'the name of the user who has logged in is not UTF-8', 'a name that is no text');
            like(call("a\x{1b}b", 'subscribe', channel => 'lobby')->{json}{error}, qr/^the name of the user who has logged in has an invisible character$/, 'a name with a control character');

            my $tag = '<!--#feed name="chat" method="get_new_messages" template="user.html" append="list" -->';
            site_file('/feed/user.html', '{{#rows}}[{{sender}}:{{text}}]{{/rows}}');
            live_tag('/feed/user', $tag);
            my $page = open_page('/feed/user.shtml', login('bert'));
            like($page->html, qr{<p>\[anna:hello\]\[anna:again\]</p>}, 'on a page the user is the one who looks at it');
            announce(qr/VLT00032/) if $db->driver eq 'sqlite3';
            is(get($page->path, login('anna'))->{status}, 403, 'which answers to no other user');
            is(get($page->path)->{status}, 401, '... and not without a login');
            my $connection = connect_to();
            my %bert = login('bert');
            $connection->request('GET', $page->path, $bert{headers});
            wait_waiting(1);
            call('anna', 'post_message', channel => 'lobby', text => 'live');
            like(VaultTest::Page::text($page->finish_poll($connection)), qr/\[anna:live\]/, 'his poll gets what comes');

            # Without a login, a feed for anonymous use takes the user from the argument; with a login it does not.
            must('bert', 'open', 'create_channel', {channel => 'lobby'});
            is(calls_feed('open', 'subscribe', {channel => 'lobby', user => 'zoe'})->{status}, 0, 'an anonymous user has a name of their own choice');
            is(calls_feed('chat', 'get_new_messages', {user => 'anna'})->{error}, 'this is for users who have logged in (parameter anonymous)', '... which other feeds do not believe');
        }
    );
}
finish();
