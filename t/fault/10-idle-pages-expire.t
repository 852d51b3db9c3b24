# SPDX-License-Identifier: Apache-2.0
# A page that no client polls for VaultPageTimeout expires: later polls are answered with 410. One whose poll waits is not
# idle.
use strict;
use warnings;
use VaultTest;
use VaultTest::Application;

my $key_file = vars('t_logs') . '/idle-key';
open my $file, '>', $key_file or die "$key_file: $!\n";
print $file 'k' x 32;
close $file;
chmod 0640, $key_file;

my $asking = VaultTest::Application->asking('k' x 32);
use_server(VaultTest::Server->start('idle', config => qq(VaultPageTimeout 4\nVaultFeedKeyFile "$key_file"\n) . VaultTest::Application->config($asking)));
my @methods = ('/test/rows?name=f10&interest=f10');
my $held = live_page(\@methods);
my $idle = live_page(\@methods);
text_of('/test/add?name=f10');
$_->poll for $held, $idle;

my $before = status();
is($before->{Pages}, 2, 'two pages');
my $poll = $held->start_poll;
wait_waiting(1);
wait_counter('PagesExpired', $before, 1);
is(status()->{Pages}, 1, 'the one that no client polls has expired');
is($idle->poll->{status}, 410, 'and is told so');
wait_until(sub { status()->{Interests} <= $before->{Interests} - 1 }, 'what it alone held is let go');
ok($poll->is_silent, 'the one that waits is not idle');
text_of('/test/add?name=f10&notify=f10');
is(VaultTest::Page::text($held->finish_poll($poll)), "2\n", 'and is answered');
wait_counter('PagesExpired', $before, 2);
is(status()->{Interests}, 0, 'when the last page has gone, so have all interests');

# Where there is a key a page is there before its application runs, which may take longer than such a page is kept. Its first poll has come and
# gone, so that it need not be waited for 60 s.
$before = status();
my $view = connect_to();
$view->request(GET => $asking->path('get:/test/wait?after=f10', 'head:Vault-Poll: /test/rows?name=f10&interest=f10', 'say:<p>page</p>'));
wait_arrived('f10', 1);
my ($early) = map { VaultTest::Page->of({page => /^page ([0-9a-f]{40});run=/, seq => 0})->start_poll } $asking->told;
wait_waiting(1);
$early->close;
wait_counter('PagesExpired', $before, 1);
open_barrier('f10');
is(VaultTest::Page::text(VaultTest::Page->new($view->response)->poll), "1\n2\n", 'a page that expires while its application renders is made again');

finish();
