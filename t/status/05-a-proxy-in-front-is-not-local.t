# SPDX-License-Identifier: Apache-2.0
# Require vault-local: this machine, but not what a proxy on it has passed on, unless mod_remoteip has found out for whom that was.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;

my $remoteip = have_module('remoteip');
my $proxy = have_module('proxy_http');
my $inner = VaultTest::Server->start('local', config => <<'END' . ($remoteip ? <<'ALSO' : ''));
<Location /local/status>
    SetHandler vault-status
    Require vault-local
</Location>
<Location /local/notify>
    SetHandler vault-notify
    Require vault-local
</Location>
END
<VirtualHost *:*>
    ServerName plain.test
</VirtualHost>
<VirtualHost *:*>
    ServerName behind.test
    RemoteIPHeader X-Forwarded-For
    RemoteIPInternalProxy 127.0.0.1
</VirtualHost>
ALSO
use_server($inner);

sub asked { my (%headers) = @_; return get('/local/status?auto', headers => \%headers)->{status} }

announce(qr/AH01630: client denied by server configuration/);
announce(qr/VLT00306: Require vault-local: the request comes from 127\.0\.0\.1, but its header X-Forwarded-For says that a proxy/);
is(asked(), 200, 'this machine');
is(post('/local/notify', 'interest=x')->{status}, 200, '... notifies, too');
for my $header ('X-Forwarded-For', 'x-forwarded-for', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Server', 'X-Real-IP', 'Forwarded', 'Via') {
    is(asked($header => $_), 403, "through a proxy that sends $header: $_") for '192.0.2.1', '127.0.0.1';
}
is(asked('X-Forwarded-For' => ''), 403, '... or an empty one');
is(post('/local/notify', 'interest=x', headers => {Via => '1.1 proxy'})->{status}, 403, '... which may not notify');
is(asked('X-Else' => 'Via', 'X-Forward' => '1'), 200, 'other headers say nothing');
is(get('/vault/status?auto', headers => {'X-Forwarded-For' => '192.0.2.1'})->{status}, 200, 'Require local believes the address alone');

SKIP: {
    skip 'httpd has no mod_remoteip', 1 unless $remoteip;
    my @host = (Host => 'behind.test');
    is(asked(@host, 'X-Forwarded-For' => '192.0.2.1'), 403, 'mod_remoteip knows a visitor behind the proxy');
    is(asked(@host, 'X-Forwarded-For' => '192.0.2.1', Via => '1.1 proxy'), 403, '... with Via as well');
    is(asked(@host, 'X-Forwarded-For' => '127.0.0.1'), 200, '... and this machine behind it');
    is(asked(@host, 'X-Forwarded-For' => '127.0.0.1', Via => '1.1 proxy', 'X-Forwarded-Host' => 'behind.test'), 200, '... whatever else the proxy says');
    is(asked(@host, 'X-Forwarded-For' => '127.0.0.1, 192.0.2.1'), 403, 'a visitor who claims to be this machine is none');
    is(asked(@host), 200, 'this machine, past the proxy');
    is(asked(@host, Forwarded => 'for=127.0.0.1'), 403, 'another header than mod_remoteip looks at');
    is(asked(@host, 'X-Forwarded-For' => 'nonsense'), 403, 'one that it cannot read');
}

# A real one, as httpd is without any directive about headers.
SKIP: {
    skip 'httpd has no mod_proxy_http', 1 unless $proxy;
    use_server(VaultTest::Server->start('proxy', without_vault => 1, config => join "", map { "ProxyPass /$_/ http://127.0.0.1:@{[$inner->port]}/$_/\n" } qw(local vault)));
    is(get('/local/status?auto')->{status}, 403, 'mod_proxy in front');
    is(get('/vault/status?auto')->{status}, 200, '... which Require local lets in');
    use_server($inner);
}

refuses("<Location /x>\nRequire vault-local 127.0.0.1\n</Location>\n", qr/Require vault-local "127\.0\.0\.1": nothing is accepted behind it/, 'no arguments');
finish();
