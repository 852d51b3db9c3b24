# SPDX-License-Identifier: Apache-2.0
# Applications share a session: what Lua, a CGI script and PHP set, each of them reads.
use strict;
use warnings;
use VaultTest;
use VaultTest::Application;
use VaultTest::Browser;
use VaultTest::Lua;

my @says = VaultTest::Application->scripts;
my @told = VaultTest::Application->environments;
plan(skip_all => 'neither mod_cgid nor PHP-FPM') unless @says && @told;
my $sessions = <<"END";
<Location "/shop/">
    SetHandler vault-test
    VaultSession On
</Location>
<Directory "@{[VaultTest::Application::folder()]}">
    VaultSession On
</Directory>
<Directory "@{[vars('top_dir')]}/examples/lua">
    VaultSession On
</Directory>
END
my $config = VaultTest::Application->config(@says, @told) . $sessions;
my $lua = -f vars('top_dir') . '/lua/vault.so' && grep { /lua_module/ } split /\n/, VaultTest::read_file(vars('t_conf') . '/modules.conf');
if ($lua) {
    start_lua('session-applications', config => $config);
}
else {
    use_server(VaultTest::Server->start('session-applications', config => $config));
}

my $ann = VaultTest::Browser->new;
for my $script (@says) {
    my $answer = $ann->get($script->path_for("Status: 303 See Other\nLocation: /shop/\nVault-Session: basket=of%20$script->{name}%2C 1\n\n"));
    is($answer->{status}, 303, "$script->{name} answers a form by a redirect");
    is($answer->{headers}{'vault-session'}, undef, '... which no browser can read more of');
    ok($ann->id, '... and the browser has a session');
    is($ann->text('/shop/session?key=basket'), "of $script->{name}, 1", '... with what it has put in');
    for my $other (@told) {
        like($ann->text($other->{script}), qr/HTTP_VAULT_SESSION_BASKET\W+of%20\Q$script->{name}\E%2C%201/, "... as $other->{name} is told");
        unlike($ann->get($other->{script}, headers => {'Vault-Session-Forged' => 'x'})->{body}, qr/FORGED/, '... and nothing that a browser says');
    }
}

SKIP: {
    skip 'no Lua', 14 unless $lua;
    my $in = sub { return $ann->text('/once/eval.lua?' . VaultTest::_escape($_[0])) };
    is($in->('return vault.session_get(r, "basket")'), qq("of $says[-1]{name}, 1"), 'Lua reads it');
    is($in->('return vault.session_set(r, "basket", "of Lua")'), 'true', '... and sets it');
    is($ann->text('/shop/session?key=basket'), 'of Lua', '... for all');
    is($in->('return vault.session_remove(r, "basket")'), 'true', '... and removes it');
    is($in->('return vault.session_get(r, "basket")'), 'nil', '... it is gone');
    is($in->('return vault.session_set(r, "basket", "of Lua")'), 'true', 'Lua sets it again');
    my $old = $ann->id;
    is($in->('return vault.session_renew(r)'), 'true', '... and renews the session');
    isnt($ann->id, $old, '... which gets another id');
    is(VaultTest::Browser->new(id => $old)->text('/shop/session?key=basket'), '', '... the old one is void');
    is($in->('return vault.session_get(r, "basket")'), '"of Lua"', '... and all that is in it stays');
    is($in->('return vault.session_set(r, "basket", 5), vault.session_set(r, "basket", nil), vault.session_get(r, "basket")'), 'true true nil', 'nil removes as well');
    like($in->('return vault.session_set(r, "basket", ("v"):rep(4097))'), qr/^nil "a session property has a key of 1 to 64 bytes and a value of at most 4096" 400$/, 'what is too long is said');
    like($in->('return vault.session_get(r, "\\255")'), qr/^nil "argument 2: text that is not UTF-8" 400$/, '... as is what is no text');
    like(VaultTest::Browser->new->text('/once/eval.lua?' . VaultTest::_escape('return vault.session_remove(r, "x")')), qr/^true$/, 'nothing can be removed where there is nothing');
}

finish();
