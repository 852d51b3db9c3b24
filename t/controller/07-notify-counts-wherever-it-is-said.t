# SPDX-License-Identifier: Apache-2.0
# An application often writes where it has no live page: its header Vault-Notify counts there as well, unless VaultNotify is Off.
use strict;
use warnings;
use VaultTest;
use VaultTest::Page qw(texts vault_headers);

my $OFF = "VaultLongPoll Off\n";
my $server = VaultTest::Server->start(
    'notify',
    config => join '',
    map { qq(<Location "$_->[0]">\nSetHandler vault-test\n$_->[1]</Location>\n) }
        ['/admin/', $OFF], ['/admin/quiet/', "VaultNotify Off\n"], ['/admin/quiet/loud/', "VaultNotify On\n"], ['/broken/', "${OFF}ErrorDocument 500 /admin/echo?text=sorry\n"]
);
use_server($server);

my $page = live_page(['/test/rows?name=c07&interest=c07']);
$page->news;
for my $path ('/admin', '/admin/quiet/loud', '/broken') {
    my $poll = $page->start_poll;
    wait_waiting(1);
    text_of('/test/add?name=c07');
    my $answer = get("$path/echo?text=x&header=Vault-Notify:c07");
    is($answer->{status}, 200, "$path: the answer");
    is(vault_headers($answer), '', "$path: the browser does not see the header");
    like(texts($page->finish_poll($poll)), qr/\d\n$/, "$path: the page looks");
}

my $poll = $page->start_poll;
wait_waiting(1);
my $before = status();
my $answer = get('/admin/quiet/echo?text=x&header=Vault-Notify:c07&header=Vault-Poll:/x');
is(vault_headers($answer), '', 'the browser does not see the header where it is off either');
is(status()->{Notifies}, $before->{Notifies}, 'where it is off it does not count');
announce(qr{\[vault:warn\].*VLT00064: Vault-Poll of /admin/quiet/echo has no effect: VaultLongPoll is off there});
my @said = grep { /VLT00064: Vault-Notify/ } $server->lines;
is(scalar @said, 1, 'the log says so');
like($said[0], qr{\[vault:info\].*/admin/quiet/echo has no effect: VaultNotify is off there}, 'as information');
text_of('/test/add?name=c07&notify=c07');
texts($page->finish_poll($poll));

finish();
