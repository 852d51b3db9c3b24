# SPDX-License-Identifier: Apache-2.0
# What the directives accept, and the sentences that stop the start.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;

for my $row (['VaultQosLimit', 1, 65536, '; or Off'], ['VaultQosTimeout', 1, 600, ''], ['VaultQosQueue', 0, 65536, ''],
    ['VaultQosQueuePerClient', 1, 65536, '; or Off']) {
    my ($name, $min, $max, $other) = @$row;
    for my $value ($min, $max) {
        accepts("$name $value\n", "$name $value for the server");
        accepts("<Location /a>\n$name $value\n</Location>\n", '  and for a location');
    }
    for my $value ($min - 1, $max + 1, 'many', '5s', '1.5', '0x10', '99999999999999999999') {
        refuses("$name $value\n", qr/^\Q$name $value: a whole number from $min to $max is accepted$other\E$/, "$name $value");
    }
    my $arguments = $name eq 'VaultQosLimit' ? 'takes 1-2 arguments' : 'takes one argument';
    refuses("$name\n", qr/^\Q$name $arguments\E/, "$name without a value");
}
accepts("VaultQosLimit Off\nVaultQosPriority Off\nVaultQosQueuePerClient Off\n", 'Off');
accepts("VaultQosLimit 20 $_\n", "VaultQosLimit 20 $_") for 1, 20;
for my $value (0, 21, 'many', '5s', 'Off', '99999999999999999999') {
    refuses("VaultQosLimit 20 $value\n", qr/^VaultQosLimit 20 \Q$value\E: of one client, a whole number from 1 to 20 is accepted$/, "VaultQosLimit 20 $value");
}
refuses("VaultQosLimit Off 5\n", qr/^VaultQosLimit Off 5: nothing is accepted after Off$/, 'VaultQosLimit Off 5');
accepts("VaultQosPriority 0\nVaultQosPriority 9 \"%{REMOTE_USER} == 'anna'\"\nVaultQosPriority %{HTTP:X-Rank}\n", 'ranks');
my $rank = 'a whole number from 0 to 9 is accepted, or an expression that gives one, and then the condition under which it holds, if there is one; or Off';
for my $value ('10', '-1', 'high', '1.5') {
    refuses("VaultQosPriority \"$value\"\n", qr/^VaultQosPriority \Q$value\E: \Q$rank\E$/, "VaultQosPriority \"$value\"");
}
refuses("VaultQosPriority 5 \"no such ==\"\n", qr/^VaultQosPriority: "no such ==" is not an expression: /, 'a condition that is none');
refuses("VaultQosPriority \"%{HTTP\"\n", qr/^VaultQosPriority: "%\{HTTP" is not an expression: /, 'a rank that is none');
refuses("VaultQosPriority 1 2 3\n", qr/^VaultQosPriority takes 1-2 arguments/, 'three');

my $places = sub { join '', map { "<Location /place-$_>\nVaultQosLimit 1\n</Location>\n" } 1 .. $_[0] };
starts_not($places->(257), qr/VLT00261: VaultQosLimit is set in 257 places: at most 256 are accepted/, 'too many places');
use_server(VaultTest::Server->start('qos-places', config => $places->(256) . "<Location /place-1>\nVaultQosLimit Off\n</Location>\n"));
is(scalar @{status_of_children()->{Qos}}, 256, 'as many as there may be');
use_server();

# How many of one client.
my @limits = ([1, 1], [3, 3], [4, 3], [7, 6], [8, 7], [20, 18], [100, 88], ['20 20', 20], ['20 5', 5]);
use_server(VaultTest::Server->start('qos-each', config => join '', map { "<Location \"/each/$_->[0]\">\nVaultQosLimit $_->[0]\n</Location>\n" } @limits));
is_deeply([map { $_->{PerClient} } @{status_of_children()->{Qos}}], [map { $_->[1] } @limits], 'one client has an eighth less, of 4 and more');
use_server();

# The same path twice is two places.
my $twice = join '', map { "<Location /twice>\nVaultQosLimit $_\n</Location>\n" } 3, 4;
use_server(VaultTest::Server->start('qos-twice', config => $twice));
is_deeply([map { "$_->{Location} $_->{Limit}" =~ s/^\S+ //r } @{status_of_children()->{Qos}}], ['/twice 3', '/twice #2 4'], 'the same path twice');
use_server();

finish();
