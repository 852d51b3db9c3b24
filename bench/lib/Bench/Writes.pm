# SPDX-License-Identifier: Apache-2.0
# The case "writes": what a save takes, what of it is the commit, and what telling the pages adds.
package Bench::Writes;
use strict;
use warnings;
use Exporter 'import';
use IO::Socket::INET;
use Bench::Database;
use Bench::Figures;
use Bench::Server;

our @EXPORT = qw(run_writes);

use constant {
    INTEREST => 'DB-bids',
    SAVE     => '/bids/bid?item=1&amount=7',
};

# Returns 1 if something was missed or could not be measured.
sub run_writes
{
    my ($size, $verbose) = @_;
    my %pages = (
        full     => [[0, 500], [1, 500], [1000, 40]],
        quick    => [[0, 100], [1, 100], [1000, 8]],
        smallest => [[0, 2], [1, 2], [8, 2]],
    );
    my $failed = 0;
    $ENV{VAULT_BENCH_TIMES} = "$place{dir}/times";
    print_head();
    for my $kind (database_kinds()) {
        for my $watched (0, 1) {
            my $server = start_site($kind, $watched);
            save($server, 50) if $size ne 'smallest';    # connections are made
            for my $row (@{$pages{$size}}) {
                $failed |= measure($server, $kind, $watched, @$row);
            }
            report_log($server, "writes $server->{named}");
            stop_server($server);
        }
    }
    return $failed;
}

sub start_site
{
    my ($kind, $watched) = @_;
    my $named = $watched ? 'writes_watched' : 'writes';
    my $database = make_database($kind, $named, <<'END', $watched ? 'bids' : ());
CREATE TABLE bids (id {serial}, item_id {integer} NOT NULL, bidder {text} NOT NULL, amount {integer} NOT NULL);
END
    my ($bids, $feed) = map { find_built($_) } qw(mod_vault_bids.so vault_feed_timed.so);
    return start_server("$kind-$named", 1, base_configuration(1, bench_pages() . <<"END"));
LoadModule vault_bids_module "$bids"
VaultFeed bids "$feed" $database look=0
BidsWay none
<Location /bids>
    SetHandler vault-bids
</Location>
END
}

# By one visitor, one after the other.
sub save
{
    my ($server, $times) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->{port}, Timeout => 10)
        or die "bench/run: no connection to port $server->{port}: $!\n";
    for (1 .. $times) {
        print $socket 'GET ', SAVE, " HTTP/1.1\r\nHost: localhost\r\n\r\n";
        my $status = <$socket> // '';
        die "bench/run: a save was answered: $status" if $status !~ m{^HTTP/1\.1 200 };
        while (<$socket> ne "\r\n") { }
        read $socket, my $body, length "taken\n";
    }
    close $socket;
}

# `hold` has the pages wait, saves once, and has them wait again: so each save finds all of them.
sub measure
{
    my ($server, $kind, $watched, $pages, $times) = @_;
    write_file($ENV{VAULT_BENCH_TIMES}, '');
    give_away($ENV{VAULT_BENCH_TIMES});
    my $failed = 0;
    if ($pages == 0) {
        save($server, $times);
    }
    else {
        $failed = !defined run_program("writes $pages", 0, 'hold', '--port', $server->{port}, '--parent', $server->{pid},
            '--connections', $pages, '--rounds', $times, '--plain', 0, '--page', '/bench/page?interest=' . INTEREST, '--trigger', SAVE);
    }
    my @lines = map { [split ' '] } split /\n/, read_file($ENV{VAULT_BENCH_TIMES});
    print_row($kind, $watched, $pages, @lines);
    return $failed || @lines != $times;
}

sub print_head
{
    print <<'END';

One save by the feed's `save`, and telling the pages of it: medians of the time in the writer's thread, us.

database  watched  pages wait  saves    save  commit  notifies     p99  CPU only  names  of save
END
}

sub print_row
{
    my ($kind, $watched, $pages, @lines) = @_;
    my ($save, $commit, $notifies, $cpu) = map { my $i = $_; median(map { $_->[$i] } @lines) } 0 .. 3;
    my @sorted = sort { $a <=> $b } map { $_->[2] } @lines;
    printf "%-9s %7s %11d %6d %7.0f %7.0f %9.1f %7.0f %9.1f %6d %7.1f%%\n", $kind, $watched ? 'yes' : 'no', $pages,
        scalar @lines, $save, $commit, $notifies, $sorted[0.99 * $#sorted], $cpu, $lines[0][4], 100 * $notifies / $save;
}

1;
