# SPDX-License-Identifier: Apache-2.0
# Views and methods show one row of a table: the key is in the document, in the query, or in a page property. What is kept is shared by those
# with the same key alone, and is renewed when this row changes, not when another one does.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Lua;
use VaultTest::Site;

my $lua = -f vars('top_dir') . '/lua/vault.so' && grep { /lua_module/ } split /\n/, read_file(vars('t_conf') . '/modules.conf');

sub tag { return qq(<!--#feed name="keyed" method="get_modified_instance" table="items" key="$_[0]" template="row.html" update="item" -->) }

sub args { return VaultTest::_escape(qq({"table":"items","key":"$_[0]"})) }

# The rows that this HTML or these updates show.
sub rows { return join ' ', $_[0] =~ /\[([^\]]*)\]/g }

# Opens a page. Returns it, and "kept", or how often something was rendered to be kept or was personal.
sub view
{
    my ($path) = @_;
    my $before = status();
    my $page = open_page($path);
    my $after = status();
    return ($page, $after->{Cached} - $before->{Cached} ? 'kept' : 'rendered');
}

sub shows
{
    my ($path, $rows, $how, $what) = @_;
    my ($page, $was) = view($path);
    return is(rows($page->html) . " $was", "$rows $how", $what);
}

# Runs the code while polls wait. Returns how often methods ran, and how often the output of another run was used.
sub costs
{
    my ($n, $code) = @_;
    my $before = status();
    $code->();
    wait_waiting($n);
    my $after = status();
    return join ' ', map { $after->{$_} - $before->{$_} } qw(Runs Shared);
}

my %LUA = (
    view => <<'END',
function handle(r)
    local key = r:parseargs().key
    vault.set(r, "key", key)
    local rows = vault.add_long_poll(r, "keyed-method.lua") and vault.feed("keyed"):get_modified_instance(r, {table = "items", key = key})
    r.content_type = "text/html"
    r:puts(vault.script(r), "[", rows[1].name, "]")
    vault.share(r)
    return apache2.OK
end
END
    method => <<'END',
function handle(r)
    local rows = vault.feed("keyed"):get_modified_instance(r, {table = "items", key = vault.get(r, "key")})
    r.content_type = "text/html"
    for _, row in ipairs(rows or {}) do r:puts("[", row.name, "]") end
    vault.share(r)
    return apache2.OK
end
END
);

my $folder = vars('top_dir') . '/examples/lua';
for my $db (has_database() ? databases() : ()) {
    my $driver = $db->driver;
    $db->make('keyed', 'CREATE TABLE items(id {serial},name {text});');
    $db->watch('keyed', 'items');
    $db->does('keyed', "INSERT INTO items(name) VALUES('a'),('b'),('c')");
    my $mark = '';
    my $change = sub {
        my ($key, $name) = @_;
        $db->does('keyed', "UPDATE items SET name='$name' WHERE id=$key");
        for (1 .. 3) {    # a kept view shows what is new when the tailer has told of it, or of the change before: so it has told of this one
            wait_until(sub { (view('/cache/keyed/item3.shtml'))[1] eq 'kept' }, 'the view of a third row is kept');
            $db->does('keyed', "UPDATE items SET name='@{[++$mark]}' WHERE id=3");
            wait_until(sub { rows(open_page('/cache/keyed/item3.shtml')->html) =~ /\b$mark$/ }, '... and shows that it has changed');
        }
    };
    my $config = $db->feed('keyed', 'keyed', 'poll=20') . live_folder('/cache/keyed') . <<"END";
<Location "/kept/">
    SetHandler vault-test
    VaultCache On
    VaultLongPoll On
</Location>
<Location "/once/">
    VaultCache On
    VaultLongPoll On
</Location>
END
    site_file('/cache/keyed/row.html', '{{#rows}}[{{name}}]{{/rows}}');
    live_tag("/cache/keyed/item$_", tag($_)) for 1 .. 3;
    site_file('/cache/keyed/any.shtml', qq(<!--#set var="key" value="\$QUERY_STRING" --><!--#vault poll="item1-new.shtml" -->) . tag('$key'));
    settle();
    example_file("keyed-$_.lua", qq(local vault = require "vault"\n$LUA{$_})) for $lua ? keys %LUA : ();
    use_server(VaultTest::Server->start("keyed-$driver", config => ($lua ? lua_config() : '') . $config));
    wait_tailer('keyed');
    my $c = sub { "/kept/page?poll=/test/echo%3Ftext=&feed=keyed&method=get_modified_instance&args=" . args($_[0]) . '&header=Vault-Shared:yes' };

    my %pages = (SSI => sub { "/cache/keyed/item$_[0].shtml" }, C => $c, $lua ? (Lua => sub { "/once/keyed-view.lua?key=$_[0]" }) : ());
    for my $name (sort keys %pages) {
        my ($one, $two) = map { $pages{$name}->($_) } 1, 2;
        $change->($_, "$name$_") for 1, 2;
        wait_until(sub { rows(open_page($one)->html) =~ /${name}1/ && rows(open_page($two)->html) =~ /${name}2/ }, 'both rows are as they are');
        wait_until(sub { (view($one))[1] eq 'kept' && (view($two))[1] eq 'kept' }, 'both views are kept');
        my ($page1, $page2) = map { open_page($_) } $one, $two;
        my $row = sub { $name eq 'C' ? qr/"name":"$_[0]"/ : qr/\[$_[0]\]/ };
        like($page1->html, $row->("${name}1"), "$driver, $name: each key shows its row");
        like($page2->html, $row->("${name}2"), '...');
        $change->(2, 'new');
        wait_until(sub { open_page($two)->html =~ $row->('new') }, 'the second row is shown as it is now');
        my ($page, $how) = view($one);
        like($page->html, $row->("${name}1"), '... a change of one row');
        is($how, 'kept', '... does not end the kept view of another');
        $change->(1, 'news');
        wait_until(sub { open_page($one)->html =~ $row->('news') }, 'the first row is shown as it is now');
        wait_until(sub { (view($one))[1] eq 'kept' && (view($two))[1] eq 'kept' }, 'the views that were renewed are kept, once the tailer has told of the rows');
    }

    # Methods: two pages of each key.
    for my $name ('SSI', $lua ? 'Lua' : ()) {
        $change->($_, "m$_") for 1, 2;
        wait_until(sub { open_page($pages{$name}->($_))->html =~ /\[m$_\]/ }, 'a row is shown as it is') for 1, 2;
        my @pages = map { open_page($pages{$name}->($_)) } 1, 1, 2, 2;
        my @polls = map { $_->start_poll } @pages;
        wait_waiting(4);
        is(costs(4, sub {
            $change->(1, "x$name");
            for (0, 1) {
                is(rows(VaultTest::Page::text($pages[$_]->finish_poll($polls[$_]))), "x$name", "$driver, $name: a page of the row is told");
                $polls[$_] = $pages[$_]->start_poll;
            }
        }), '1 1', '... two pages by one run, and those of another row by none');
        $change->(2, "y$name");
        is(rows(VaultTest::Page::text($pages[$_]->finish_poll($polls[$_]))), "y$name", '... which are told of theirs') for 2, 3;
        $_->close for @polls;
        wait_waiting(0);
    }

    # A key that SSI takes from the request.
    my $before = status();
    shows("/cache/keyed/any.shtml?$_", $_ == 1 ? 'x' . ($lua ? 'Lua' : 'SSI') : 'y' . ($lua ? 'Lua' : 'SSI'), 'rendered', "$driver: a key from the query, in SSI: $_") for 1, 2, 1;
    is(status()->{PersonalSsi} - $before->{PersonalSsi}, 3, '... is personal');
}
unlink map { "$folder/keyed-$_.lua" } keys %LUA;
use_server();
finish();
