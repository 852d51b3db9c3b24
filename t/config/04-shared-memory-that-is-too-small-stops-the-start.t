# SPDX-License-Identifier: Apache-2.0
# The tables that the limits ask for must fit, and the start says how much they need; what it says is enough.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;

my $limits = "VaultMaxPages 10000\nVaultMaxInterests 65536\n";
starts_not("VaultSharedMemory 1M\n$limits",
    qr/\[vault:emerg\] .*VLT00001: VaultSharedMemory 1024K is too small: VaultMaxInterests 65536 and VaultMaxPages 10000 with \d+ children need at least (\d+)K/,
    'too small, and it says for what');
open my $log, '<', vars('t_logs') . '/config/error_log' or die $!;
my ($need) = join('', readline $log) =~ /at least (\d+)K/ or die 'no size in the log';

my $config = sub { "VaultSharedMemory $_[0]\n$limits" };
my $lacking = $need - 16;
starts_not("VaultSharedMemory ${lacking}K\n$limits", qr/VLT00001/, 'a little less than it asks for is too small as well');

my $server = use_server(VaultTest::Server->start('just-enough', size => "ServerLimit 16\n", config => $config->("${need}K")));
is(status()->{PagesMax}, 10000, 'what it asks for is enough');
ok(live_page(['/test/value'])->id, 'and pages can be made');
use_server();

# A limit that is larger than what the process can hold is said aloud.
announce(qr/VLT00005: VaultMaxWaiting 900000 is more than a child can hold: \d+ by ThreadsPerChild and AsyncRequestWorkerFactor, \d+ by its open files/);
use_server(VaultTest::Server->start('too-many', config => "VaultMaxWaiting 900000\n"));
is(get('/test/pid')->{status}, 200, 'and the server runs');
use_server();

finish();
