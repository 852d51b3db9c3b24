# SPDX-License-Identifier: Apache-2.0
# Numbers for tests that draw what they do: the same each time, on each machine.
#
#     begin_random(20261122);
#     my $writer = $writers[random(scalar @writers)];
package VaultTest::Random;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(begin_random random shuffled);

my $state = 0;

sub begin_random
{
    ($state) = @_;
    return;
}

# From 0, below that.
sub random
{
    my ($below) = @_;
    $state = ($state * 1103515245 + 12345) & 0x7fffffff;
    return ($state >> 8) % $below;
}

sub shuffled
{
    my (@all) = @_;
    for my $i (reverse 1 .. $#all) {
        my $k = random($i + 1);
        @all[$i, $k] = @all[$k, $i];
    }
    return @all;
}

1;
