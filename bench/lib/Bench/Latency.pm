# SPDX-License-Identifier: Apache-2.0
# The case "latency": how long it takes until a waiting page has the row that the feed, or another program, has just written.
package Bench::Latency;
use strict;
use warnings;
use Exporter 'import';
use IO::Select;
use IO::Socket::INET;
use Time::HiRes qw(CLOCK_MONOTONIC clock_gettime);
use Bench::Bids;
use Bench::Database;
use Bench::Figures;
use Bench::Server;

our @EXPORT = qw(run_latency);

use constant {
    PATIENCE => 10,                                        # s that a page waits for its answer
    BLOCK    => 20,                                        # writes by one writer before it is another's turn
    SAVE     => '/bids/bid?item=1&amount=7',
    INSERT   => "INSERT INTO bids(item_id,bidder,amount) VALUES(1,'another program',7)",
};

# $only: {against => another build, whose server takes turns with that of this one}. Returns 1 if an answer was missed.
sub run_latency
{
    my ($size, $verbose, $only) = @_;
    my $blocks = {full => 25, quick => 5, smallest => 1}->{$size};
    my $writes = $size eq 'smallest' ? 2 : BLOCK;
    my $failed = 0;
    print_head($only->{against});
    for my $kind (database_kinds()) {
        my @sites = (open_site($kind, ''), $only->{against} ? open_site($kind, '*', $only->{against}) : ());
        for my $block (1 .. $blocks) {
            for my $site ($block % 2 ? @sites : reverse @sites) {
                $failed |= !measure($site, $_, $writes) for qw(feed other);
            }
        }
        close_site($_) for @sites;
    }
    return $failed;
}

# A server with one page that waits, and both writers.
sub open_site
{
    my ($kind, $star, $build) = @_;
    local $place{build} = $build // $place{build};
    my $named = $star ? '_latency_other' : '_latency';
    my $site = {kind => $kind, star => $star, server => start_bids('feed', $kind, 1, $named), took => {}};
    $site->{session} = database_session($kind, "bids_feed$named");
    binmode $site->{session}{out};
    $site->{page} = connect_to($site->{server});
    $site->{saver} = connect_to($site->{server});
    my (undef, $body) = ask($site->{page}, '/bids/page?item=1');
    ($site->{id}) = $body =~ /data-vault-page="(\w+)"/ or die "bench/run: latency: the page has no id\n";
    $site->{seq} = 0;
    return $site;
}

sub close_site
{
    my ($site) = @_;
    print_row($site, $_) for qw(feed other);
    close $site->{$_} for qw(page saver);
    close $site->{session}{$_} for qw(in out);
    waitpid $site->{session}{pid}, 0;
    await_quiet($site->{server}{port});
    stop_server($site->{server});
    report_log($site->{server}, "latency $site->{kind}$site->{star}");
    return;
}

# ---------------------------------------------------------------- one write

# Some writes of one writer. Returns whether the page has shown all of them.
sub measure
{
    my ($site, $writer, $writes) = @_;
    for (1 .. $writes) {
        send_request($site->{page}, "/vault/poll?page=$site->{id}&seq=$site->{seq}");
        await_waiting($site->{server}) or return 0;
        my $begin = clock_gettime(CLOCK_MONOTONIC);
        my $out = $writer eq 'feed' ? write_by_feed($site) : write_by_another($site);
        my ($wrote, $shown) = await_both($site, $out) or return 0;
        push @{$site->{took}{$writer}{write}}, 1000 * ($wrote - $begin);
        push @{$site->{took}{$writer}{page}}, 1000 * ($shown - $begin);
        push @{$site->{took}{$writer}{after}}, 1000 * ($shown - $wrote);
    }
    return 1;
}

sub write_by_feed
{
    my ($site) = @_;
    send_request($site->{saver}, SAVE);
    return $site->{saver};
}

sub write_by_another
{
    my ($site) = @_;
    $site->{session}->sends(INSERT);
    $site->{session}{in}->flush;
    return $site->{session}{out};
}

# When the writer has its answer, and when the page has its own; () if one of them has none in time, or it is no 200.
sub await_both
{
    my ($site, $out) = @_;
    my (%when, %got);
    my $select = IO::Select->new($out, $site->{page});
    while ($select->count) {
        my @ready = $select->can_read(PATIENCE) or return;
        for my $handle (@ready) {
            my $who = $handle == $site->{page} ? 'page' : 'writer';
            sysread $handle, $got{$who}, 65_536, length($got{$who} // '') or return;
            next if $handle == $site->{session}{out} ? $got{$who} !~ /^mark-\d+$/m : !is_whole($got{$who});
            $when{$who} = clock_gettime(CLOCK_MONOTONIC);
            $select->remove($handle);
        }
    }
    return if $got{page} !~ m{^HTTP/1\.1 200 };
    ($site->{seq}) = $got{page} =~ /"seq":(\d+)/;
    return @when{qw(writer page)};
}

# ---------------------------------------------------------------- HTTP

sub connect_to
{
    my ($server) = @_;
    return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->{port}, Timeout => 10)
        // die "bench/run: no connection to port $server->{port}: $!\n";
}

sub send_request
{
    my ($socket, $path) = @_;
    syswrite $socket, "GET $path HTTP/1.1\r\nHost: localhost\r\n\r\n";
    return;
}

sub is_whole
{
    my ($answer) = @_;
    return 0 if $answer !~ /\r\n\r\n/;
    my ($head, $body) = ($`, $');
    return $head =~ /^Content-Length: (\d+)/mi ? length $body >= $1 : $head =~ /^Transfer-Encoding: chunked/mi && $body =~ /(?:^|\r\n)0\r\n\r\n\z/;
}

sub ask
{
    my ($socket, $path) = @_;
    my $answer = '';
    send_request($socket, $path);
    until (is_whole($answer)) {
        sysread $socket, $answer, 65_536, length $answer or die "bench/run: GET $path was not answered\n";
    }
    return split /\r\n\r\n/, $answer, 2;
}

# The page's poll has come to wait.
sub await_waiting
{
    my ($server) = @_;
    my $end = clock_gettime(CLOCK_MONOTONIC) + PATIENCE;
    $server->{status} //= connect_to($server);
    while (clock_gettime(CLOCK_MONOTONIC) < $end) {
        my (undef, $body) = ask($server->{status}, '/vault/status?auto');
        return 1 if $body =~ /^Waiting: 1$/m;
    }
    return 0;
}

# ---------------------------------------------------------------- the report

sub print_head
{
    my ($against) = @_;
    print "\n*: by $against\n" if $against;
    print <<'END';

One page waits for the rows of a watched table; a row is written by the feed's save over HTTP, or by another program. ms from sending it
until the writer has its answer, until the page has its own, and from the one to the other.

                              write             page shows it          after the write
database   writer  writes    p50      p99        p50      p99          p50      p99
END
    return;
}

sub print_row
{
    my ($site, $writer) = @_;
    my $took = $site->{took}{$writer};
    printf "%-9s  %-6s  %6d %6.2f %8.2f   %8.2f %8.2f     %8.2f %8.2f\n", "$site->{kind}$site->{star}", $writer,
        scalar @{$took->{page} // []}, map { (rank(0.5, $_), rank(0.99, $_)) } @$took{qw(write page after)};
    return;
}

sub rank
{
    my ($part, $values) = @_;
    my @sorted = sort { $a <=> $b } @{$values // []} or return 0;
    return $sorted[$part * $#sorted];
}

1;
