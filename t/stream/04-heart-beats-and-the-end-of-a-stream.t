# SPDX-License-Identifier: Apache-2.0
# A stream shows that it is alive, and ends by itself after a while; the client asks again with the last id.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

my $page = live_page(['/test/rows?name=ev04&interest=ev04']);
my $stream = VaultTest::Events->open([$page], path => '/beat/poll');
ok($stream->beat, "heart-beat $_") for 1 .. 2;
text_of('/test/add?name=ev04&notify=ev04');
is(VaultTest::Page::text($stream->event), "1\n", 'an event after heart-beats');
is($stream->event, undef, 'the stream ends by itself');
wait_waiting(0);
my $connection = $stream->{connection};
$connection->request(GET => '/test/echo?text=next');
is($connection->response->{body}, 'next', '  and its connection goes on');

text_of('/test/add?name=ev04&notify=ev04');
my $next = VaultTest::Events->open([$page], path => '/beat/poll', last => 1, connection => $connection);
is(VaultTest::Page::text($next->event), "2\n", 'the next one goes on where it was, on the same connection');

# A page is not idle while a stream waits for it: more heart-beats than VaultPageTimeout is long.
my $beats = <<'END';
<Location "/beat/poll">
    SetHandler vault-poll
    VaultLongPollTimeout 1
    VaultStreamTimeout 60
</Location>
END
my $server = use_server(VaultTest::Server->start('stream-idle', config => "VaultPageTimeout 4\n$beats"));
$page = live_page(['/test/rows?name=ev04&interest=ev04']);
$stream = VaultTest::Events->open([$page], path => '/beat/poll');
$stream->beat for 1 .. 6;
text_of('/test/add?name=ev04&notify=ev04');
is(VaultTest::Page::text($stream->event), "1\n", 'a page is not idle while its stream is open');

# Out of its client's sight the child stops. The page is not to expire before the client has asked again.
my $before = Time::HiRes::time();
$server->reconfigure($beats);
is($stream->event, undef, 'a restart ends the stream');
cmp_ok(Time::HiRes::time() - $before, '<', PATIENCE / 2, '  at once');
text_of('/test/add?name=ev04&notify=ev04');
$stream = VaultTest::Events->open([$page], path => '/beat/poll', last => 1);
is(VaultTest::Page::text($stream->event), "2\n", '  and the new generation goes on with it');

finish();
