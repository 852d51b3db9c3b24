# SPDX-License-Identifier: Apache-2.0
# Small arithmetic for tables.
package Bench::Figures;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(median sum);

sub median
{
    my @sorted = sort { $a <=> $b } @_;
    return @sorted % 2 ? $sorted[$#sorted / 2] : ($sorted[@sorted / 2 - 1] + $sorted[@sorted / 2]) / 2;
}

sub sum
{
    my $sum = 0;
    $sum += $_ for @_;
    return $sum;
}

1;
