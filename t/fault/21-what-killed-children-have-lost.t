# SPDX-License-Identifier: Apache-2.0
# A child is killed while it writes to a page: it has a copy of the page's state in hand, which is lost. The page has its old state and goes
# on. The status counts the bytes, and the error log warns when they exceed an eighth of the memory.
use strict;
use warnings;
use VaultTest;
use VaultTest::Page qw(texts);

my $preload = vars('top_dir') . '/modules/preload_kill.so';
plan(skip_all => 'nothing can be loaded in front of httpd here') if !-f $preload || ($ENV{VAULT_SANITIZER} // 'no') ne 'no';
my $waking = vars('t_logs') . '/dies-waking';
my $limits = "Timeout 300\nVaultLongPollTimeout 280\nVaultSharedMemory 1700K\nVaultMaxPages 100\nVaultMaxInterests 500\nVaultMaxMemoryPerClient 1700K\n";
my $size = "StartServers 3\nServerLimit 16\nThreadLimit 8\nThreadsPerChild 8\nMinSpareThreads 24\nMaxSpareThreads 100\nMaxRequestWorkers 128\n";
use_server(VaultTest::Server->start('lost', size => $size, config => $limits, env => {LD_PRELOAD => $preload, VAULT_KILL_WAKING => $waking}));

sub from { my ($page, $path) = @_; return get($path, headers => {'X-Vault-Page' => $page->id}) }
sub warnings_of_lost { return scalar grep { /VLT00376: \d+K of the \d+K/ } error_log_lines() }

my $page = live_page(['/test/property?key=p1']);
from($page, "/test/property?key=p$_&value=" . $_ x 2000) for 10 .. 19;
from($page, '/test/property?key=p1&value=old');
is(texts($page->poll), 'old', 'a page with a state of 40 KB');
is(status()->{HeapLost}, 0, 'nothing is lost');

my ($kills, $lost) = (0, 0);
my ($safe) = children(3);
my $poll = $page->start_poll(connect_in($safe));
until (warnings_of_lost() || $kills == 20) {
    my ($victim) = grep { $_ != $safe } children(2);
    my $writer = connect_in($victim);
    wait_waiting(1);
    open my $file, '>', $waking or die "$waking: $!\n";
    close $file;
    $writer->request(GET => '/test/property?key=p1&value=new', {'X-Vault-Page' => $page->id});
    ok($writer->is_closed, 'a child is killed while it writes');
    ok(!-e $waking, '  when it wakes the poll of the page');
    $kills++;
    wait_replaced($victim);
    wait_until(sub { status()->{HeapLost} > $lost }, '  the status counts what was lost');
    cmp_ok(status()->{HeapLost} - $lost, '>=', 40_000, '  a copy of the state');
    $lost = status()->{HeapLost};
    if ($lost <= status()->{HeapSize} / 8) {
        is(warnings_of_lost(), 0, '  which is little');
    }
    else {
        wait_until(\&warnings_of_lost, '  which is more than an eighth: the error log warns');
    }
}
cmp_ok($lost, '>', status()->{HeapSize} / 8, "$kills killed children have lost $lost bytes");
is(warnings_of_lost(), 1, 'the error log has one warning');

is(from($page, '/test/property?key=p1&value=new')->{status}, 200, 'the page can be written to');
is(texts($page->finish_poll($poll)), 'new', '  and its poll, which has waited all the time, shows it');

announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/, qr/VLT00376: /);
finish();
