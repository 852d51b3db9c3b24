# SPDX-License-Identifier: Apache-2.0
# The case "writes": how long a save takes, and what notifying the pages adds.
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

# $only: {against => another build, whose server takes turns with that of this one}.
# Returns 1 if something was missed or could not be measured.
sub run_writes
{
    my ($size, $verbose, $only) = @_;
    my %pages = (
        full     => [map { ([0, 100], [1, 100], [1000, 8]) } 1 .. 5],
        quick    => [[0, 100], [1, 100], [1000, 8]],
        smallest => [[0, 2], [1, 2], [8, 2]],
    );
    my $failed = 0;
    $ENV{VAULT_BENCH_TIMES} = "$place{dir}/times";
    print_head($only->{against});
    for my $kind (database_kinds()) {
        for my $watched (0, 1) {
            my @sites = (start_site($kind, $watched, ''), $only->{against} ? start_site($kind, $watched, '*', $only->{against}) : ());
            for my $site ($size ne 'smallest' ? @sites : ()) {
                save($site->{server}, 50);    # connections are made
            }
            for my $row (@{$pages{$size}}) {
                $failed |= measure($_, @$row) for @sites = reverse @sites;
            }
            for my $site (sort { $a->{star} cmp $b->{star} } @sites) {
                print_rows($site);
                report_log($site->{server}, "writes $site->{server}{named}");
                stop_server($site->{server});
            }
        }
    }
    return $failed;
}

# Without `watched` there is no tailer either.
sub start_site
{
    my ($kind, $watched, $star, $build) = @_;
    my $own_build = $place{build};
    local $place{build} = $build // $own_build;
    my $named = 'writes' . ($watched ? '_watched' : '') . ($star ? '_other' : '');
    my $database = make_database($kind, $named, <<'END', $watched ? 'bids' : ());
CREATE TABLE bids (id {serial}, item_id {integer} NOT NULL, bidder {text} NOT NULL, amount {integer} NOT NULL);
END
    my ($bids, $feed) = map { find_built($_) } qw(mod_vault_bids.so vault_feed_database.so);
    my $timed = do {
        local $place{build} = $own_build;
        find_built('vault_feed_timed.so');
    };
    my $poll = $watched ? '' : 'poll=0';
    my $server = start_server("$kind-$named", 1, base_configuration(1, bench_pages() . <<"END"));
LoadModule vault_bids_module "$bids"
VaultFeed bids "$timed" "feed=$feed" $database $poll
BidsWay none
<Location /bids>
    SetHandler vault-bids
</Location>
END
    return {kind => $kind, watched => $watched, star => $star, server => $server, lines => {}, cpu => {}};
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
    my ($site, $pages, $times) = @_;
    my $server = $site->{server};
    write_file($ENV{VAULT_BENCH_TIMES}, '');
    give_away($ENV{VAULT_BENCH_TIMES});
    my $failed = 0;
    if ($pages == 0) {
        # httpd closes idle connections while hang-ups keep all of its threads busy.
        await_quiet($server->{port});
        my @before = cpu_of($site);
        save($server, $times);
        my @after = cpu_of($site);
        push @{$site->{cpu}{$_}}, 1e6 * ($after[$_] - $before[$_]) / $times for 0, 1;
    }
    else {
        $failed = !defined run_program("writes $pages", 0, 'hold', '--port', $server->{port}, '--parent', $server->{pid},
            '--connections', $pages, '--rounds', $times, '--plain', 0, '--page', '/bench/page?interest=' . INTEREST, '--trigger', SAVE);
    }
    my @lines = map { [split ' '] } split /\n/, read_file($ENV{VAULT_BENCH_TIMES});
    push @{$site->{lines}{$pages}}, @lines;
    return $failed || @lines != $times;
}

# Seconds that the server has used, and that of the database, which other sites use as well, but not meanwhile.
sub cpu_of
{
    my ($site) = @_;
    return map { defined $_ ? cpu_seconds($_) : 0 } $site->{server}{pid}, database_pid($site->{kind});
}

sub print_head
{
    my ($against) = @_;
    print "\n*: by $against\n" if $against;
    print <<'END';

One save by the feed's `save`, us. Notify: from the first notify, by the writer or, if the table is watched, by the tailer, to the end of
the save. CPU: of the writer's own notifies; of all processes, a save that no page waits for.

                                         save      notify          notifies      CPU a save
database   watched  pages wait  saves    p50    p50    p99  of save  CPU  names   httpd  database
END
}

sub print_rows
{
    my ($site) = @_;
    for my $pages (sort { $a <=> $b } keys %{$site->{lines}}) {
        my @lines = @{$site->{lines}{$pages}} or next;
        my ($save, $notify, $cpu) = map { my $i = $_; median(map { $_->[$i] } @lines) } 0 .. 2;
        my @sorted = sort { $a <=> $b } map { $_->[1] } @lines;
        printf "%-10s %7s %11d %6d %6.0f %6.0f %6.0f %7.0f%% %4.0f %6d %7s %9s\n", "$site->{kind}$site->{star}",
            $site->{watched} ? 'yes' : 'no', $pages, scalar @lines, $save, $notify, $sorted[0.99 * $#sorted], 100 * $notify / $save, $cpu,
            $lines[0][3], $pages == 0 ? map { sprintf '%.0f', median(@{$site->{cpu}{$_}}) } 0, 1 : ('-', '-');
    }
}

1;
