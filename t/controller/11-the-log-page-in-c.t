# SPDX-License-Identifier: Apache-2.0
# examples/c, the log page as a module of httpd, built as a stranger builds it: against the installed header, with no symbol of mod_vault.so.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

plan(skip_all => 'there is no database feed') unless has_database();
plan(skip_all => 'pkg-config is not there') if system('pkg-config --version >/dev/null 2>&1');

my ($top, $dir) = (vars('top_dir'), vars('top_dir') . '/examples/c');
my ($pc) = split /\n/, qx(find '$top/installed' -name mod_vault.pc);
my $text = read_file($pc);
$text =~ s{^prefix=}{prefix=$top/installed}m or die "no prefix in mod_vault.pc\n";
open my $out, '>', "$dir/mod_vault.pc" or die "$dir/mod_vault.pc: $!\n";
print $out $text;
close $out or die "$dir/mod_vault.pc: $!\n";
delete local @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};    # of the make that runs the tests
my $said = qx(PKG_CONFIG_PATH='$dir' APXS='$ENV{APXS}' CFLAGS='-Wall -Wextra -Wno-unused-parameter -Werror' make -C '$dir' 2>&1);
ok(-f "$dir/mod_logs.so", 'it is built, without a warning') or diag($said);

site_file('/logs/log-entries.html', "{{#rows}}<p>{{id}} {{request}}</p>{{/rows}}");
use_server(VaultTest::Server->start('c-example', config => <<"END"));
LoadModule logs_module "$dir/mod_logs.so"
VaultFeed database "$top/modules/vault_feed_database.so" database=c.db init=$top/t/conf/lua.sql
<Location "/logs/">
    SetHandler logs-page
    VaultLongPoll On
</Location>
<Location "/logs/latest">
    SetHandler logs-latest
</Location>
END

sub add
{
    my ($request) = @_;
    my $answer = calls_feed('database', 'save', {table => 'logs', values => {request => $request}});
    die "$request: $answer->{error}\n" unless $answer->{rows};
    return;
}

add('one');
my $page = open_page('/logs/');
like($page->html, qr{<script src="/vault/vault\.js" data-vault-page="[0-9a-f]{40}" defer></script>}, 'the page starts the client');
like($page->html, qr{<tbody id="logs-div">\n<p>1 one</p></tbody>}, 'the rows that are there are in it, bare');
my $poll = $page->start_poll;
wait_waiting(1);
ok($poll->is_silent, 'nothing is shown twice: a poll waits');
add('<two>');
is(VaultTest::Page::text($page->finish_poll($poll)),
    '<turbo-stream action="append" target="logs-div"><template><p>2 &lt;two&gt;</p></template></turbo-stream>', 'the new row comes, once');

# The template goes: the page says 500, the method fails, and nothing is lost when it is there again.
site_file('/logs/log-entries.html', undef);
announce(qr/logs: \S+log-entries\.html: cannot be read/, qr{VLT00030: method /logs/latest failed: });
is(get('/logs/')->{status}, 500, 'a page whose template is missing is an error');
my $before = status();
add('three');
$poll = $page->start_poll;
wait_counter('Failures', $before, 1);
ok($poll->is_silent, 'a method whose template is missing answers nothing');
site_file('/logs/log-entries.html', "{{#rows}}<b>{{id}} {{request}}</b>{{/rows}}");
like(VaultTest::Page::text($page->finish_poll($poll)), qr{<b>3 three</b>}, '... and the row comes when it is back');
$poll->close;
wait_waiting(0);

finish();
