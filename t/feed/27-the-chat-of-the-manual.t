# SPDX-License-Identifier: Apache-2.0
# The chat in docs/messages.md is one to copy: its configuration lets users who have logged in do what its script does, in that order. Past
# the rate a post is answered 429.
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 ();
use VaultTest;
use VaultTest::Messages;
use VaultTest::Site;

sub manual
{
    my ($chapter) = read_file(vars('top_dir') . '/docs/messages.md') =~ /^## A whole chat\n(.*?)^## /ms or die "the manual has no whole chat\n";
    return map { $_ => $chapter =~ /^```$_\n(.*?)^```/ms ? $1 : die "the chat of the manual has no $_\n" } qw(apache html js);
}

sub login { return (headers => {Authorization => 'Basic ' . MIME::Base64::encode("$_[0]:secret", '')}) }

sub call
{
    my ($user, $method, %args) = @_;
    my $answer = post("/vault/feed/messages/$method", join('&', map { "$_=$args{$_}" } sort keys %args), $user ? login($user) : ());
    $answer->{json} = eval { JSON::PP->new->decode($answer->{body}) };
    return $answer;
}

SKIP: {
    skip 'the messages feed was not built', 1 unless has_messages();
    skip 'mod_auth_basic is missing', 1 unless have_module('auth_basic');
    my %manual = manual();
    my $database = vars('t_logs') . "/manual-chat-$$.db";
    my %here = (
        '/usr/local/lib/mod_vault/feeds/vault_feed_messages.so' => '"' . vars('top_dir') . '/modules/vault_feed_messages.so"',
        '/var/lib/site/messages.db' => "$database rate=3",
        '/etc/apache2/users' => '"' . vars('top_dir') . '/t/conf/site.users"',
    );
    my $config = $manual{apache};
    for my $path (sort keys %here) {
        $config =~ s/\Q$path\E/$here{$path}/ or die "the manual does not name $path\n";
    }
    use_server(VaultTest::Server->start('manual-chat', config => $config));

    my ($exposed) = $config =~ /VaultFeedExpose messages (.*)/;
    my @calls = $manual{js} =~ m{'messages/(\w+)'}g;
    is(join(' ', sort split / /, $exposed), join(' ', sort @calls), 'what the script calls is exposed, and nothing else');
    is(join(' ', grep { !/get_/ } @calls), 'create_channel subscribe post_message', '... in that order');
    like($manual{html}, qr{<script src="/vault/vault\.js" defer></script>\n<script src="chat\.js" defer>}, 'the page loads the client first');

    is(call(undef, 'create_channel', channel => 'lobby')->{status}, 401, 'no visitor who has not logged in');
    for my $user (qw(anna bert)) {
        is(call($user, 'post_message', channel => 'lobby', text => 'early')->{status}, 400, "$user cannot post before");
        is(call($user, 'create_channel', channel => 'lobby')->{status}, 200, "$user: the channel");
        is(call($user, 'subscribe', channel => 'lobby', history => 50)->{status}, 200, "$user: subscribed");
    }
    my $url = '/vault/feed/messages/get_new_messages?channel=lobby&limit=50';
    my $asked = post('/vault/page', JSON::PP->new->encode({add => [$url]}), headers => {%{{login('bert')}->{headers}}, 'Content-Type' => 'application/json'});
    my $page = JSON::PP->new->decode($asked->{body});
    is($page->{updates}[0]{body}, '[]', 'a page of a plain file has a first view') or diag($asked->{body});

    my %posted = (channel => 'lobby', text => 'hello', once => '1-0.5');
    is(call('anna', 'post_message', %posted)->{status}, 200, 'a post');
    is(call('anna', 'post_message', %posted)->{json}[0]{changed}, JSON::PP::false(), '... that is sent again is one message');
    my $poll = get("/vault/poll?page=$page->{page}&seq=0", login('bert'));
    like($poll->{body}, qr/hello/, '... and comes to the other') or diag($poll->{status});

    # A minute of the clock may end in between.
    my @answers = map { call('anna', 'post_message', channel => 'lobby', text => "t$_") } 1 .. 8;
    my ($refused) = grep { $_->{status} != 200 } @answers;
    is($refused->{status}, 429, 'past the rate: 429');
    is($refused->{json}{error}, '"anna" has posted messages, or made or left channels, 3 times in this minute: no more are accepted', '... with the sentence');
    cmp_ok($refused->{headers}{'retry-after'}, '>=', 1, '... and when to come again');
    cmp_ok($refused->{headers}{'retry-after'}, '<=', 60, '... in the next minute');
    use_server();
    unlink glob "$database*";
}
finish();
