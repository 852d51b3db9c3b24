# SPDX-License-Identifier: Apache-2.0
# A graceful restart with other limits counts at once for what comes after it; the size of the shared memory, with the pages in it, stays.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;

needs_parking();
my $server = use_server(VaultTest::Server->start('limits', config => "VaultMaxWaiting 2\nVaultMaxPagesPerClient 3\n"));
announce(qr/VLT00008/);
tolerate(qr/VLT00008/);
my @pages = map { live_page(['/test/rows?name=f13&interest=f13']) } 1 .. 3;
my @polls = map { $_->start_poll } @pages[0, 1];
wait_waiting(2);
is($pages[2]->poll->{status}, 503, 'VaultMaxWaiting 2: a third poll may not wait');

# All polls end with the restart, and ask again: more of them may wait.
announce(qr/VLT00051/);
unlike(get(view_of('/test/rows?name=f13'))->{body}, qr/data-vault-page/, 'VaultMaxPagesPerClient 3: no fourth page');
$server->reconfigure("VaultMaxWaiting 3\nVaultMaxPagesPerClient 4\n");
is($pages[$_]->read_poll($polls[$_])->{status}, 204, 'a poll that waited') for 0, 1;
@polls = map { $_->start_poll } @pages;
wait_waiting(3);
ok(1, 'VaultMaxWaiting 3: three wait');
push @pages, live_page(['/test/rows?name=f13&interest=f13']);
is($pages[3]->poll->{status}, 503, '... and no fourth');

# Smaller: what there is stays.
$server->reconfigure("VaultMaxWaiting 400\nVaultMaxPagesPerClient 1\nVaultMaxPageInterests 1\nVaultMaxMethods 1\n");
is($pages[$_]->read_poll($polls[$_])->{status}, 204, 'a poll that waited') for 0 .. 2;
unlike(get(view_of('/test/rows?name=f13'))->{body}, qr/data-vault-page/, 'VaultMaxPagesPerClient 1: no page more');
@polls = map { $_->start_poll } @pages;
wait_waiting(4);
text_of('/test/add?name=f13&notify=f13');
is(VaultTest::Page::text($pages[$_]->finish_poll($polls[$_])), "1\n", 'pages past a limit go on') for 0 .. 3;

# The size is that of the start.
my $before = status();
my @old = map { $_->start_poll } @pages;
wait_waiting(4);
announce(qr/VLT00003: VaultSharedMemory, VaultMaxInterests, VaultMaxPages and a larger ServerLimit count from the next stop and start on/);
$server->reconfigure("VaultSharedMemory 32M\nVaultMaxPages 500\n");
is($pages[$_]->read_poll($old[$_])->{status}, 204, 'a restart with another size') for 0 .. 3;
my $after = status();
is($after->{$_}, $before->{$_}, "$_ is as before") for qw(PagesMax InterestsMax HeapSize Pages);
text_of('/test/add?name=f13&notify=f13');
is(VaultTest::Page::text($_->poll), "2\n", 'the pages live on') for @pages;
my $check = JSON::PP::decode_json(text_of('/vault/status?check'));
is(scalar(grep { /VLT00003/ } @{$check->{Warnings}}), 1, 'the check says that it does not count yet');
is_deeply($check->{Wrong}, [], '... and that all is sound');
$server->stop;
$server = use_server(VaultTest::Server->start('resized', config => "VaultSharedMemory 32M\nVaultMaxPages 500\n"));
is(status()->{PagesMax}, 500, 'a stop and a start make it count');
is($pages[0]->duplicate->poll->{status}, 410, '... and forget the pages');

finish();
