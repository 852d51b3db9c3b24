# SPDX-License-Identifier: Apache-2.0
# Every command has a help of its own, and what is not understood exits with 2 and a sentence.
use strict;
use warnings;
use VaultTest;
use VaultTest::Vaultctl;

needs_vaultctl();
my $said = vaultctl('--help');
is($said->{code}, 0, '--help');
my @commands = $said->{out} =~ /^  ([a-z]+) /mg;
cmp_ok(scalar @commands, '>=', 6, '... lists the commands');
for my $command (@commands) {
    my $help = vaultctl($command, '--help');
    is($help->{code}, 0, "$command --help");
    like($help->{out}, qr/^usage: vaultctl \Q$command\E /, '... is that of the command');
    like($help->{out}, qr/^  -h, --help/m, '... with its options');
}
like(vaultctl('--version')->{out}, qr/^vaultctl of mod_vault \d+\.\d+\.\d+$/, '--version');

# Words => what is said.
my @wrong = (
    [[], qr/^usage: /],
    [['nonsense'], qr/^vaultctl: nonsense: there is no such command/],
    [['--json', 'status'], qr/^vaultctl: --json: the command comes first, then its options/],
    [['status', '--nonsense'], qr/nonsense/],
    [['status', 'word'], qr/^vaultctl: word: status takes no word/],
    [['top', '--delay', '0'], qr/^vaultctl: --delay 0: a whole number from 1 on is accepted/],
    [['monitor', '-n', 'x', 'i'], qr/^vaultctl: --count x: a whole number/],
    [['monitor'], qr/^vaultctl: which interest\?/],
    [['tail'], qr/^vaultctl: which interest\?/], # the former name of monitor
    [['notify'], qr/^vaultctl: which interest\?/],
    [['pages', 'a', 'b'], qr/^vaultctl: b: pages takes one id/],
    [['pages', '--waiting', '--idle'], qr/exclude each other/],
    [['check', 'word'], qr/^vaultctl: word: check takes no word/],
    [['notify', '--yes', 'x'], qr/yes/],
);
for my $row (@wrong) {
    my ($words, $sentence) = @$row;
    $said = vaultctl(@$words);
    is($said->{code}, 2, "vaultctl @$words");
    like($said->{err}, $sentence, '... says what is wrong');
    is($said->{out}, '', '... and nothing else');
}

finish();
