# SPDX-License-Identifier: Apache-2.0
# Servers with mod_lua and the module for Lua: the example below /once/, /request/, /conn/, /thread/ and /server/, each with the LuaScope
# of its name, and pieces of Lua that a test sends to eval.lua and run.lua beside the example.
package VaultTest::Lua;
use strict;
use warnings;
use Exporter 'import';
use VaultTest;

our @EXPORT = qw(code_url example_file lua_config lua_in needs_lua start_lua start_without_vault SCOPES);

use constant SCOPES => qw(once request conn thread server);

sub needs_lua
{
    plan(skip_all => 'the module for Lua was not built') unless -f vars('top_dir') . '/lua/vault.so';
    open my $modules, '<', vars('t_conf') . '/modules.conf' or die "modules.conf: $!\n";
    plan(skip_all => 'this httpd has no mod_lua') unless grep { /lua_module/ } readline $modules;
    return;
}

# The directives for the folder of the example.
sub lua_config
{
    my $top = vars('top_dir');
    my $scopes = join '', map {
        my $scope = $_ eq 'server' ? 'server 1 2' : $_;
        qq(Alias "/$_/" "$top/examples/lua/"\n<Location "/$_/">\n    LuaScope $scope\n</Location>\n)
    } SCOPES;
    return $scopes . <<"END";
<Directory "$top/examples/lua">
    AddHandler lua-script .lua
    LuaPackageCPath "$top/lua/?.so"
    DirectoryIndex index.lua
    Require all granted
</Directory>
END
}

# Start a server with mod_lua and the scripts, but without mod_vault.
sub start_without_vault
{
    my ($name) = @_;
    _write_scripts();
    return use_server(VaultTest::Server->start($name, config => lua_config(), without_vault => 1));
}

# Start a server with the example, its table, and the feed of the tests; talk to it from here on.
sub start_lua
{
    my ($name, %with) = @_;
    my $top = vars('top_dir');
    my $feeds = <<"END";
VaultFeed tests "$top/modules/vault_feed_test.so" word=hello
<IfFile "$top/modules/vault_feed_database.so">
    VaultFeed database "$top/modules/vault_feed_database.so" database=$name.db init=$top/t/conf/lua.sql
</IfFile>
<Directory "$top/examples/lua">
    VaultLongPoll On
</Directory>
END
    _write_scripts();
    return use_server(VaultTest::Server->start($name, %with, config => lua_config() . $feeds . ($with{config} || '')));
}

# Write a file beside the example; undef removes it.
sub example_file
{
    my ($name, $text) = @_;
    my $file = vars('top_dir') . "/examples/lua/$name";
    if (!defined $text) {
        unlink $file or die "$file: $!\n";
        return;
    }
    open my $out, '>:raw', "$file.new" or die "$file.new: $!\n";
    print $out $text;
    close $out or die "$file.new: $!\n";
    rename "$file.new", $file or die "$file: $!\n";
    return;
}

# The URL of a script that runs this piece of Lua, with r and vault: as a page, or as a method. It returns what the handler does.
sub code_url
{
    my ($scope, $code) = @_;
    return "/$scope/run.lua?" . VaultTest::_escape($code);
}

# lua_in(SCOPE, CODE): what a piece of Lua returns, or the error that it raises, as text.
sub lua_in
{
    my ($scope, $code, %with) = @_;
    return text_of("/$scope/eval.lua?" . VaultTest::_escape($code), %with);
}

my $COMMON = <<'END';
local vault = require "vault"

-- The piece of Lua in the query string; what it sets are globals.
local function chunk(r)
    local code = r.args:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end)
    return assert(load(code, "=test", "t", setmetatable({r = r, vault = vault}, {__index = _G, __newindex = _G})))
end
END

my $EVAL = <<'END';

-- A text that tells values apart: 1 and 1.0, "1" and 1, a list and an object.
local function show(value)
    if type(value) == "string" then return (string.format("%q", value):gsub("\\\n", "\\n")) end
    if type(value) ~= "table" then return tostring(value) end
    local parts, names = {}, {}
    for i = 1, #value do parts[i] = show(value[i]) end
    for name in pairs(value) do if type(name) == "string" then names[#names + 1] = name end end
    table.sort(names)
    for _, name in ipairs(names) do parts[#parts + 1] = name .. "=" .. show(value[name]) end
    return "{" .. table.concat(parts, ",") .. "}"
end

function handle(r)
    r.content_type = "text/plain"
    local results = table.pack(pcall(chunk(r)))
    for i = 2, results.n do
        r:puts(i > 2 and " " or "", results[1] and show(results[i]) or (tostring(results[i]):gsub("^test:1: ", "")))
    end
    return apache2.OK
end
END

my $RUN = <<'END';

function handle(r)
    r.content_type = "text/html"
    return chunk(r)() or apache2.OK
end
END

sub _write_scripts
{
    example_file('eval.lua', $COMMON . $EVAL);
    example_file('run.lua', $COMMON . $RUN);
    return;
}

1;
