# SPDX-License-Identifier: Apache-2.0
# The figures of a location are the same in each form of the status page; as metrics they have the location as a label.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

my %figures = (
    Limit => 'limit', PerClient => 'per_client', Running => 'running', Queued => 'queued', Admitted => 'admitted_total', Refused => 'refused_total',
    TimedOut => 'timed_out_total', Gone => 'gone_total', Displaced => 'displaced_total',
);
my $config = qq(<Location "/a&b">\nSetHandler vault-test\nVaultQosLimit 2\nVaultQosTimeout 120\nVaultQosQueue 1\n</Location>\n);
use_server(VaultTest::Server->start('qos-status', config => $config));
my @held = map { my $c = held('/a&b/', 'q13'); wait_gate('/a&b', Running => $_ < 3 ? $_ : 2, Queued => $_ < 3 ? 0 : 1); $c } 1 .. 3;
is(get('/a&b/pid')->{status}, 503, 'two run, one queues, one is refused');
my $gate = gate('/a&b');
is_deeply({map { $_ => $gate->{$_} } keys %figures},
    {Limit => 2, PerClient => 2, Running => 2, Queued => 1, Admitted => 2, Refused => 1, TimedOut => 0, Gone => 0, Displaced => 0}, 'JSON');

my %auto = get('/vault/status?auto')->{body} =~ /^(\w+): (.*)$/mg;
is($auto{Qos1Location}, $gate->{Location}, '?auto names the location');
is($auto{"Qos1$_"}, $gate->{$_}, "  and has its $_") for sort keys %figures;
ok(!exists $auto{Qos2Location}, '  and no other');

my $html = get('/vault/status')->{body};
my ($table) = $html =~ m{<h2>VaultQosLimit</h2>\n<table>\n(.*?)</table>}s;
my $location = $gate->{Location} =~ s/&/&amp;/r;
my $cells = join '', map { "<td>$gate->{$_}</td>" } qw(Limit PerClient Running Queued Admitted Refused TimedOut Gone Displaced);
like($table, qr{<tr><td>\Q$location\E</td>\Q$cells\E</tr>}, 'HTML: a row, escaped');

my $metrics = get('/vault/status?metrics')->{body};
for my $name (sort keys %figures) {
    my $family = $figures{$name} =~ s/_total$//r;
    my $kind = $family eq $figures{$name} ? 'gauge' : 'counter';
    like($metrics, qr/^# TYPE vault_qos_$family $kind\n# HELP vault_qos_$family \S.*\nvault_qos_$figures{$name}\{location="\Q$gate->{Location}\E"\} $gate->{$name}$/m,
        "a metric: $name");
}
like($metrics, qr/\n# EOF\n\z/, '  before the end');
open_barrier('q13');
is($_->response->{status}, 200, 'all that were let in or waited are answered') for @held;
wait_gate('/a&b', Running => 0, Queued => 0, Admitted => 3);

use_server();
use_server(VaultTest::Server->start('qos-none'));
unlike(get('/vault/status')->{body}, qr{<h2>VaultQosLimit}, 'without a location there is nothing to see');
unlike(get('/vault/status?metrics')->{body}, qr/vault_qos_limit|location=/, '  nor to measure');

# Two that differ behind what fits on the page: each has a count of its own.
my $long = '/' . 'l' x 200;
use_server(VaultTest::Server->start('qos-long',
    config => join '', map { qq(<Location "$long/$_/">\nSetHandler vault-test\nVaultQosLimit $_\n</Location>\n) } 1, 2));
my $qos = status_of_children()->{Qos};
is_deeply([map { $_->{Limit} } @$qos], [1, 2], 'long locations are told apart');
isnt($qos->[0]{Location}, $qos->[1]{Location}, '  by their names');
is(text_of("$long/$_/echo?text=in"), 'in', '  and let in') for 1, 2;
is_deeply([map { $_->{Admitted} } @{status_of_children()->{Qos}}], [1, 1], '  each counts its own');
use_server();

announce(qr/VLT00255:/);
finish();
