# SPDX-License-Identifier: Apache-2.0
# The kernel watches no more sockets (fs.epoll.max_user_watches): polls wait all the same and are answered; a client that hangs up is forgotten when
# its time is up, and a line says so.
use strict;
use warnings;
use VaultTest;

my $preload = vars('top_dir') . '/modules/preload_unwatched.so';
needs_parking();
plan(skip_all => 'nothing can be loaded in front of httpd here') if !-f $preload || ($ENV{VAULT_SANITIZER} // 'no') ne 'no';
use_server(VaultTest::Server->start('unwatched', env => {LD_PRELOAD => $preload},
    config => qq(<Location "/vault/poll">\nVaultLongPollTimeout 20\n</Location>\n<Location "/soon/poll">\nSetHandler vault-poll\nVaultLongPollTimeout 2\n</Location>\n)));
announce(qr/vault:warn\].*VLT00035: the socket of a client cannot be watched/);

my $page = live_page(['/test/rows?name=f16&interest=f16']);
my $poll = $page->start_poll;
wait_waiting(1);
text_of('/test/add?name=f16&notify=f16');
is(VaultTest::Page::text($page->finish_poll($poll)), "1\n", 'a poll waits and is answered');
$poll->request(GET => $page->path);
wait_waiting(1);
text_of('/test/add?name=f16&notify=f16');
is(VaultTest::Page::text($page->finish_poll($poll)), "2\n", 'and the next one, on its connection');

my $soon = live_page(['/test/rows?name=f16&interest=f16'], poll_path => '/soon/poll');
is(VaultTest::Page::text($soon->poll), "1\n2\n", 'another page has what there was');
my ($gone) = waiting_poll($soon, 1);
$gone->close;
wait_waiting(0);
pass('a client that has hung up is forgotten when its time is up');

finish();
