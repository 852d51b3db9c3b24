# SPDX-License-Identifier: Apache-2.0
# Pages and methods of applications, and of Lua, say that their output is shared. Where VaultCache is not On, they are rendered for each visitor,
# the status gives the reason, and the log says that this had no effect.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Lua;

my $lua = -f vars('top_dir') . '/lua/vault.so' && grep { /lua_module/ } split /\n/, read_file(vars('t_conf') . '/modules.conf');
my $config = <<'END';
<LocationMatch "^/(?:live|kept)/">
    SetHandler vault-test
    VaultLongPoll On
</LocationMatch>
<Location "/kept/">
    VaultCache On
</Location>
<Location "/thread/">
    VaultCache On
</Location>
END
my $shared = 'header=Vault-Shared:yes&header=Cache-Control:max-age=1000';
my $WHY = 'a handler of another module has not said that its output is shared, or VaultCache is not On';
$lua ? start_lua('says', config => $config) : use_server(VaultTest::Server->start('says', config => $config));

sub lines_of { my ($path) = @_; return scalar grep { /VLT00422: \Q$path\E says that its output is shared, which has no effect: VaultCache is not On there/ } error_log_lines() }

# How many of three requests the store answers.
sub cached
{
    my ($url) = @_;
    my $before = status()->{Cached};
    get($url) for 1 .. 3;
    return status()->{Cached} - $before;
}

# The reason of the only method of this page, once it has run.
sub reason
{
    my ($url) = @_;
    my $page = open_page($url);
    $page->poll;
    is(get($page->path . '&ack=1')->{status}, 204, 'what the method has said is acknowledged');
    return JSON::PP::decode_json(text_of('/vault/status?page=' . $page->id))->{Methods}[0]{personal};
}

my $method = sub { VaultTest::_escape("/$_[0]/echo?text=x&header=Vault-Shared:yes&header=Vault-Interest:c22") };

# The log has one line a second at level info, and the others at debug. So this repeats the request until there is a line of this path.
sub says
{
    my ($path, $code) = @_;
    wait_until(sub { $code->(); lines_of($path) }, "the log has a line of $path");
    return pass('... and the log says so');
}

is(cached("/live/page?poll=/live/echo%3Ftext=&$shared"), 0, 'a live page that says Vault-Shared, where VaultCache is not On');
says('/live/page', sub { get("/live/page?poll=/live/echo%3Ftext=&$shared") });
cmp_ok(cached("/kept/page?poll=/kept/echo%3Ftext=&$shared"), '>', 0, '... and where it is');
is(lines_of('/kept/page'), 0, '... without such a line');

is(reason('/live/page?poll=' . $method->('live')), $WHY, 'a method that says so, where VaultCache is not On');
says('/live/echo', sub { reason('/live/page?poll=' . $method->('live')) });
isnt(reason('/kept/page?poll=' . $method->('kept')) // '', $WHY, '... and where it is') for 1 .. 2;
is(lines_of('/kept/echo'), 0, '... without such a line');

SKIP: {
    skip 'no Lua', 4 unless $lua;
    my $code = q{r.content_type = "text/html" vault.add_long_poll(r, "run.lua") vault.create_interest(r, "c22") r:puts(vault.script(r)) vault.share(r)};
    is(cached(code_url('once', $code)), 0, 'Lua says vault.share(r), where VaultCache is not On');
    says('/once/run.lua', sub { get(code_url('once', $code)) });
    cmp_ok(cached(code_url('thread', $code)), '>', 0, '... and where it is');
    is(lines_of('/thread/run.lua'), 0, '... without such a line');
}
use_server();
finish();
