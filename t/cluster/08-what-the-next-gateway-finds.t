# SPDX-License-Identifier: Apache-2.0
# A graceful restart with other engines while one of them is behind, and a server that dies while the child with the connections dies, too: the
# next child with the connections continues from what it finds in shared memory.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

# A server that one of two engines refuses at first, and another server that both know.
my %user = (wrong => 'vault:guess@', right => 'vault:secret@');
my @nats = (VaultTest::Nats->start('next-1'), VaultTest::Nats->start('next-2', config => "authorization { user: vault, password: secret }\n"));
my $module = sub {
    my (@urls) = @_;
    return sprintf qq(LoadModule vault_nats_module "%s/modules/mod_vault_nats.so"\nVaultCluster %s\n), vars('top_dir'), join ' ', @urls;
};
my $url = sub { my ($number, $user) = @_; return 'nats://' . ($user || '') . "127.0.0.1:$nats[$number]{port}" };
my $size = "StartServers 2\nMinSpareThreads 16\nMaxSpareThreads 16\nMaxRequestWorkers 16\n";
my $a = VaultTest::Server->start('cluster-next-a', config => $module->($url->(0), $url->(1, $user{wrong})));
my $b = VaultTest::Server->start('cluster-next-b', size => $size, config => $module->($url->(0), $url->(1, $user{right})));
tolerate(qr{VLT00494});    # server a says so, and it is not looked at in the end
wait_said($a, 'VLT00494', 1, 'an engine refuses a server');
wait_said($a, 'VLT00493', 1);
wait_said($b, 'VLT00493', 2);

# Notifies of sixteen interests: those of the second engine cannot be published yet.
my @names = map { "next$_" } 1 .. 16;
my (%page, %poll);
($page{$_}, $poll{$_}) = waiting_page($b, $_) for @names;
on($b, sub { text_of("/test/add?name=$_") }) for @names;
notify_on($a, $_) for @names;
my @late;
wait_until(sub { @late = grep { $poll{$_}->is_silent } @names; return @late < @names }, 'the first engine tells its pages');
on($a, sub { $a->reconfigure($module->($url->(1, $user{right}), $url->(0))) });
is_told($b, $page{$_}, $poll{$_}, "2\n", "$_: told, at the latest when both engines are there, in another order") for @names;

# The other server is silent, and has not ended yet, when the child with the connections is killed. The next one has never heard the other.
my @pids = processes_of($a);
kill 'STOP', @pids;
my $gateway = gateway_of($b);
kill 'KILL', $gateway;
wait_until(sub { grep { !/pid $gateway:/ } said($b, 'VLT00498') }, 'the next child notices that the other server has died');
pass('the next child notices that the other server has died');
kill 'KILL', @pids;
$a->ignore;
use_server($b);
finish();
