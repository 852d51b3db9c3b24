# SPDX-License-Identifier: Apache-2.0
# With conf/vault.conf alone no client can notify, and only clients on this machine see the status, in any of its forms.
use strict;
use warnings;
use VaultTest;

plan(skip_all => 'httpd has no mod_remoteip') unless have_module('remoteip');
my $config = <<"END";
LoadModule vault_module "@{[vars('top_dir')]}/modules/mod_vault.so"
Include "@{[vars('top_dir')]}/vault.conf"
RemoteIPHeader X-Client
RemoteIPInternalProxy 127.0.0.1
END
use_server(VaultTest::Server->start('as-installed', without_vault => 1, config => $config));

my %elsewhere = ('X-Client' => '192.0.2.1');
is(get('/vault/status?auto')->{status}, 200, 'this machine sees the status');
announce(qr/AH01630: client denied by server configuration/);
for my $form ('', '?auto', '?json', '?metrics', '?page=' . '0' x 40, '?pages', '?check', '?poll&page=' . '0' x 40 . '&seq=0') {
    is(get("/vault/status$form", headers => \%elsewhere)->{status}, 403, "another does not: /vault/status$form");
}
is(post('/vault/status?monitor=x', '', headers => \%elsewhere)->{status}, 403, '... nor waits for an interest there');
is(get('/vault/status?auto', headers => {'X-Forwarded-For' => '127.0.0.1'})->{status}, 403, 'nor does a visitor whom a proxy on this machine passes on');
for my $headers ({}, \%elsewhere) {
    is(post('/vault/notify', 'interest=x', headers => $headers)->{status}, 404, 'no client notifies');
}
is(get('/vault/poll?page=' . '0' x 40 . '&seq=0', headers => \%elsewhere)->{status}, 410, 'everybody polls');
is(get('/vault/feed/database/all?table=users', headers => \%elsewhere)->{status}, 404, 'no feed is exposed');
is(get('/vault/poll?page=x&seq=0', headers => {%elsewhere, Origin => 'https://a.test'})->{status}, 403, 'but pages of no other origin');

finish();
