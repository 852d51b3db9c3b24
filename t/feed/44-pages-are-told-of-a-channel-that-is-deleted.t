# SPDX-License-Identifier: Apache-2.0
# A channel is deleted while pages of its subscribers wait: what they show of it goes, on pages of all channels and of this one, in lists,
# and where a plain file has subscribed. One of the same name that is made afterwards is another one.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Messages;
use VaultTest::Site;

sub page_of
{
    my ($name, $what) = @_;
    live_tag("/feed/deleted-$name", qq(<!--#feed name="chat" $what -->));
    return open_page("/feed/deleted-$name.shtml");
}

sub shown { return join '', VaultTest::Page::text($_[0]) =~ /\[.*?\]/g }
sub history { return $_[0]->html =~ m{<p>(.*?)</p>}s ? $1 : 'no history' }
sub is_anew { my ($answer, $rows, $why) = @_; is(VaultTest::Page::text($answer), qq(<turbo-stream action="update" target="list"><template>$rows</template></turbo-stream>), $why) }

my $exposed = <<'END';
<Location "/vault/page">
    SetHandler vault-page
</Location>
<Location "/vault/feed">
    SetHandler vault-feed
    VaultFeedExpose chat get_new_messages
</Location>
END

for_each_database(
    sub {
        my ($db) = @_;
        messages_server('deleted', $db, {chat => 'anonymous=yes rate=10000'}, config => $exposed);
        site_file('/feed/deleted.html', '{{#rows}}[{{serial}}:{{channel}}:{{text}}]{{/rows}}');
        site_file('/feed/deleted-channels.html', '{{#rows}}[{{channel}} {{subscribers}}]{{/rows}}');
        site_file('/feed/deleted-users.html', '{{#rows}}[{{user}}]{{/rows}}');
        join_channel('chat', 'lobby', 'ann', 'bob');
        join_channel('chat', 'kitchen', 'bob');
        post_as('bob', 'chat', $_->[0], $_->[1]) for ['lobby', 'one'], ['kitchen', 'two'], ['lobby', 'three'];

        my $new = 'method="get_new_messages" user="bob" template="deleted.html" append="list"';
        my @pages = (
            page_of('all', $new), page_of('lobby', qq($new channel="lobby")), page_of('kitchen', qq($new channel="kitchen")),
            page_of('channels', 'method="get_channels" user="bob" template="deleted-channels.html" update="list"'),
            page_of('users', 'method="get_subscribers" user="bob" channel="lobby" template="deleted-users.html" update="list"'),
        );
        is_deeply([map { history($_) } @pages], ['[1:lobby:one][2:kitchen:two][3:lobby:three]', '[1:lobby:one][3:lobby:three]', '[2:kitchen:two]', '[kitchen 1][lobby 2]', '[ann][bob]'], 'pages');
        my $url = '/vault/feed/chat/get_new_messages?user=bob&channel=lobby';
        my $asked = post('/vault/page', JSON::PP->new->encode({add => [$url]}), headers => {'Content-Type' => 'application/json'});
        my $plain = JSON::PP->new->decode($asked->{body});
        my $subscribed = connect_to();
        $subscribed->request(GET => "/vault/poll?page=$plain->{page}&seq=0");
        my @polls = map { $_->start_poll } @pages;
        wait_waiting(6);

        must('ann', 'chat', 'delete_channel', {channel => 'lobby'});
        is_anew($pages[0]->finish_poll($polls[0]), '[2:kitchen:two]', 'a page of all channels is shown anew without it');
        is_anew($pages[1]->finish_poll($polls[1]), '', 'a page of this channel is shown anew, empty');
        is_anew($pages[3]->finish_poll($polls[3]), '[kitchen 1]', 'the list of channels');
        is_anew($pages[4]->finish_poll($polls[4]), '', 'the list of its subscribers');
        my $told = $subscribed->response->{body};
        like($told, qr/"format":"first"/, 'a subscription of a plain file is told that it begins again') or diag($told);
        like($told, qr/"body":"\[\]"/, '... with nothing');

        @polls[0, 1] = map { $_->start_poll } @pages[0, 1];
        wait_waiting(3);
        ok($polls[$_]->is_silent, "page $_: that was all") for 0 .. 2;
        post_as('bob', 'chat', 'kitchen', 'four');
        is(shown($pages[2]->finish_poll($polls[2])), '[5:kitchen:four]', 'a page of another channel goes on');
        like(VaultTest::Page::text($pages[0]->finish_poll($polls[0])), qr/action="append".*\[5:kitchen:four\]/, '... and that of all');
        ok($polls[1]->is_silent, '... and that of the channel that is gone has nothing to show');
        $polls[1]->close;

        # Made again before the page has asked.
        join_channel('chat', 'lobby', 'bob');
        post_as('bob', 'chat', 'lobby', 'second life');
        is(shown($pages[1]->poll), '[6:lobby:second life]', 'a channel of the same name appears there');
        must('bob', 'chat', 'delete_channel', {channel => 'lobby'});
        join_channel('chat', 'lobby', 'bob');
        post_as('bob', 'chat', 'lobby', 'third life');
        is_anew($pages[1]->poll, '[8:lobby:third life]', 'and replaces what was shown of the one before');
        is_anew($pages[0]->poll, '[2:kitchen:two][5:kitchen:four][8:lobby:third life]', '... also on the page of all');

        # Nothing was posted into it: no page shows anything of it.
        must('ann', 'chat', 'create_channel', {channel => 'quiet'});
        must('bob', 'chat', 'subscribe', {channel => 'quiet'});
        my $poll = $pages[0]->start_poll;
        wait_waiting(1);
        must('ann', 'chat', 'delete_channel', {channel => 'quiet'});
        post_as('bob', 'chat', 'kitchen', 'five');
        like(VaultTest::Page::text($pages[0]->finish_poll($poll)), qr/action="append".*\[9:kitchen:five\]/, 'a channel without messages goes without a word to pages of messages');
    }
);
finish();
