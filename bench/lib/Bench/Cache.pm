# SPDX-License-Identifier: Apache-2.0
# The case "cache": what the output store saves, beside plain files, mod_cache and Varnish.
package Bench::Cache;
use strict;
use warnings;
use Exporter 'import';
use Bench::Database;
use Bench::Figures;
use Bench::Server;

our @EXPORT = qw(run_cache);

use constant {
    ROWS  => 50,                              # of the page
    PACE  => 2500,                            # views of the live page a second, so that rows are written meanwhile
    WRITE => '/bids/bid?item=1&amount=7',
    LIST  => '<!--#feed name="bids" method="get_new_instances" table="bids" limit="50" template="row.html" append="bids" -->',
    POLL  => '<!--#vault poll="/live/latest.shtml" -->',
};

# How much of it: rounds; requests of a round, and how many of them where each is rendered; short runs in pairs; writes
# that are followed by a view; pages of a broadcast, and its rounds.
my %sizes = (
    full     => {rounds => 7, requests => 5000, rendered => 500, pairs => 60, writes => 500, pages => 5000, broadcasts => 5, turns => 3},
    quick    => {rounds => 3, requests => 2000, rendered => 200, pairs => 10, writes => 100, pages => 1000, broadcasts => 3, turns => 2},
    smallest => {rounds => 1, requests => 20,   rendered => 5,   pairs => 1,  writes => 3,   pages => 8,    broadcasts => 2, turns => 1},
);

my $size;

# Returns 1 if something was missed or could not be measured.
sub run_cache
{
    my ($named, $verbose, $kind) = @_;
    die "bench/run: --database $kind: its server, or libdbi's module for it, is not installed\n"
        if !grep { $_ eq $kind } database_kinds();
    $size = $sizes{$named};
    my $site = start_site($kind);
    my $figures = measure($site, $verbose);
    stop_site($site);
    return 1 if !$figures;
    print_figures($kind, $figures);
    print_targets($figures) if $named ne 'smallest';
    return $figures->{wrong} > 0;
}

# ---------------------------------------------------------------- the site

# The same page in folders that differ by their configuration only.
sub write_pages
{
    my $docs = "$place{dir}/htdocs";
    my ($head, $foot) = ("<!DOCTYPE html>\n<html lang=\"en\"><head><title>Bids</title></head><body><table><tbody id=\"bids\">\n",
        "</tbody></table></body></html>\n");
    mkdir "$docs/$_" for qw(on off live dead file);
    for my $folder (qw(on off live dead)) {
        write_file("$docs/$folder/page.shtml", $head . LIST . "\n" . $foot) if $folder =~ /^o/;
        write_file("$docs/$folder/page.shtml", $head . LIST . "\n" . POLL =~ s/live/$folder/r . $foot) if $folder !~ /^o/;
        write_file("$docs/$folder/latest.shtml", LIST . "\n");
        write_file("$docs/$folder/row.html", "{{#rows}}\n<tr><td>{{bidder}}</td><td>#{{id}} EUR {{amount}}</td>"
            . "<td>a row of the list with about as many bytes as an entry of the plain broadcast</td></tr>\n{{/rows}}\n");
    }
}

# Where everything is the same but `on` and `live`, which are kept, unless there is no store at all. There is room for the page of each
# view, and those that are never polled go after 10 s.
sub configuration
{
    my ($feed, $cache, $more) = @_;
    my $load = join '', map { "LoadModule ${_}_module $place{modules}/mod_$_.so\n" } qw(filter include);
    my $module = find_built('mod_vault_bids.so');
    return base_configuration(1, bench_pages() . <<"END") . <<'LIMITS';
${load}LoadModule vault_bids_module "$module"
$feed
BidsWay none
<Location /bids>
    SetHandler vault-bids
</Location>
<Directory />
    AllowOverride None
</Directory>
<Directory "$place{dir}/htdocs">
    Options +Includes
    Require all granted
</Directory>
<LocationMatch "^/(?:on|off|live|dead|file)/">
    ForceType text/html
</LocationMatch>
<LocationMatch "^/(?:on|off|live|dead)/">
    SetOutputFilter INCLUDES
    VaultCache Off
</LocationMatch>
<LocationMatch "^/(?:live|dead)/">
    VaultLongPoll On
</LocationMatch>
<LocationMatch "^/(?:on|live)/">
    VaultCache $cache
</LocationMatch>
$more
END
VaultMaxPages 200000
VaultMaxPagesPerClient 200000
VaultPageTimeout 10
LIMITS
}

# Servers: `vault` with the store, `without` it, with mod_cache, and Varnish before `without`.
sub start_site
{
    my ($kind) = @_;
    my $rows = join ', ', map { "(1, 'somebody\@example.org', $_)" } 1 .. ROWS;
    my ($database, $pid) = make_database_apart($kind, 'cache', <<"END", 'bids');
CREATE TABLE bids (id {serial}, item_id {integer} NOT NULL, bidder {text} NOT NULL, amount {integer} NOT NULL);
INSERT INTO bids (item_id, bidder, amount) VALUES $rows;
END
    my $feed = 'VaultFeed bids "' . find_built('vault_feed_database.so') . "\" $database";
    write_pages();
    my %server = (
        vault   => start_server("cache-$kind", 1, configuration($feed, 'On', '')),
        without => start_server("cache-without-$kind", 1, configuration($feed, 'Off', 'VaultCacheMemory 0')),
        disk    => start_mod_cache($kind, $feed),
    );
    my $site = {kind => $kind, database => $pid, server => \%server};
    $server{varnish} = start_varnish($kind, $server{without});
    write_file("$place{dir}/htdocs/file/page.html", server_answer($server{without}, '/off/page.shtml'));
    write_file("$place{dir}/htdocs/file/live.html", server_answer($server{without}, '/dead/page.shtml'));
    return $site;
}

# mod_cache keeps by time only: `off`, which is not kept otherwise. In files: mod_cache_socache of httpd 2.4.71 keeps no response whose length
# is not known before, and sends others without their body from the second hit on. undef: not installed.
sub start_mod_cache
{
    my ($kind, $feed) = @_;
    my @modules = qw(cache cache_disk);
    return undef if grep { !-e "$place{modules}/mod_$_.so" } @modules;
    my $load = join '', map { "LoadModule ${_}_module $place{modules}/mod_$_.so\n" } @modules;
    mkdir "$place{dir}/disk-$kind";
    give_away("$place{dir}/disk-$kind");
    return start_server("cache-disk-$kind", 1, configuration($feed, 'Off', <<"END"));
VaultCacheMemory 0
${load}CacheRoot "$place{dir}/disk-$kind"
CacheEnable disk /off
CacheIgnoreNoLastMod On
CacheDefaultExpire 3600
END
}

# undef: not installed. As root without a jail, since its folder belongs to root.
sub start_varnish
{
    my ($kind, $behind) = @_;
    my ($program) = grep { -x } map { "$_/varnishd" } split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/local/sbin';
    return undef if !$program;
    my $port = free_port();
    my $folder = "$place{dir}/varnish-$kind";
    my @jail = $> == 0 ? qw(-j none) : ();
    return start_program('varnishd', $port, "$folder.log", $program, '-F', @jail, '-n', $folder, '-a', "127.0.0.1:$port", '-b',
        "127.0.0.1:$behind->{port}", '-T', 'none', '-s', 'default,64m', '-t', 3600);
}

sub stop_site
{
    my ($site) = @_;
    for my $server (grep { defined } @{$site->{server}}{qw(varnish vault without disk)}) {
        stop_server($server);
        report_log($server, "cache $site->{kind}") if $server->{log} =~ /error_log$/;
    }
}

# ---------------------------------------------------------------- measuring

# The ways in which the page, or a file of its size, is sent: name, server, path, what of it is in %sizes, and more arguments.
sub ways
{
    return (
        ['file',     'vault',   '/file/page.html',  'requests'],
        ['kept',     'vault',   '/on/page.shtml',   'requests'],
        ['disk',     'disk',    '/off/page.shtml',  'requests'],
        ['varnish',  'varnish', '/off/page.shtml',  'requests'],
        ['off',      'vault',   '/off/page.shtml',  'rendered'],
        ['none',     'without', '/off/page.shtml',  'rendered'],
        ['livefile', 'vault',   '/file/live.html',  'requests', '--rate', PACE],
        ['live',     'vault',   '/live/page.shtml', 'requests', '--rate', PACE, '--write', WRITE, '--every', 1000],
        ['liveoff',  'vault',   '/dead/page.shtml', 'rendered'],
    );
}

# {WAY => [figures of a round, …], renewed => …, broadcast => …}, or undef. A round measures each way once, the next one in the opposite
# order: a machine that is slower for a while is so for all.
sub measure
{
    my ($site, $verbose) = @_;
    my %figures = (wrong => 0);
    my @ways = grep { $site->{server}{$_->[1]} } ways();
    request($site, $_, 20) or return undef for @ways;    # connections to the database, first entries
    for my $round (1 .. $size->{rounds}) {
        for my $way ($round % 2 ? @ways : reverse @ways) {
            my $figure = request($site, $way, $size->{$way->[3]}) or return undef;
            push @{$figures{$way->[0]}}, $figure;
            print "$way->[0], round $round: ", join(', ', map { "$_ $figure->{$_}" } sort keys %$figure), "\n" if $verbose;
        }
    }
    pairs($site, \%figures) or return undef;
    $figures{renewed} = renew($site, \%figures) or return undef;
    broadcast($site, \%figures, $verbose) or return undef;
    return \%figures;
}

# A location where the store is off, on a server with and on one without it. In short runs, so that some of each have the machine for
# themselves: the least CPU of each is compared.
sub pairs
{
    my ($site, $figures) = @_;
    for my $pair (1 .. $size->{pairs}) {
        for my $server ($pair % 2 ? qw(vault without) : qw(without vault)) {
            my $file = request($site, ['', $server, '/file/page.html'], $size->{requests} / 5) or return 0;
            my $page = request($site, ['', $server, '/off/page.shtml'], $size->{requests} / 20) or return 0;
            push @{$figures->{"$server file"}}, $file;
            push @{$figures->{"$server page"}}, $page;
        }
    }
    return 1;
}

# One way, once. Also how many of the views were rendered.
sub request
{
    my ($site, $way, $requests) = @_;
    my ($name, $server, $path, undef, @more) = @$way;
    $server = $site->{server}{$server};
    my $before = status_of($server);
    my $output = run_program("cache $site->{kind} $name", 0, 'views', '--port', $server->{port}, '--parent', $server->{pid}, '--path', $path,
        '--requests', $requests, @more, $site->{database} ? ('--database', $site->{database}) : ());
    return undef if !defined $output;
    my $figure = figures_of($output);
    $figure->{BothCpuUs} = $figure->{CpuUs} + $figure->{DatabaseCpuUs};
    $figure->{Rendered} = $figure->{Requests} - status_of($server)->{Cached} + $before->{Cached};
    return $figure;
}

sub status_of
{
    my ($server) = @_;
    return $server->{named} eq 'varnishd' ? {Cached => 0} : server_status($server);
}

sub renew
{
    my ($site, $figures) = @_;
    my $server = $site->{server}{vault};
    my $output = run_program("cache $site->{kind} renewed", 1, 'views', '--port', $server->{port}, '--parent', $server->{pid}, '--path',
        '/on/page.shtml', '--write', WRITE, '--renew', $size->{writes});
    my $figure = defined $output ? figures_of($output) : return undef;
    $figures->{wrong} += $figure->{Outdated};
    return $figure;
}

# A notify that 5,000 pages wait for, and a row that they show: in turn, on one server.
sub broadcast
{
    my ($site, $figures, $verbose) = @_;
    my $server = $site->{server}{vault};
    my @args = ('--port', $server->{port}, '--parent', $server->{pid}, '--connections', $size->{pages}, '--rounds', $size->{broadcasts},
        '--plain', 500);
    my %more = (plain => [], row => ['--page', '/live/page.shtml', '--trigger', WRITE]);
    for my $turn (1 .. $size->{turns}) {
        for my $name ($turn % 2 ? qw(plain row) : qw(row plain)) {
            my $output = run_program("cache $site->{kind} broadcast $name", 1, 'hold', @args, @{$more{$name}});
            await_quiet($server->{port});
            my $figure = defined $output ? figures_of($output) : return 0;
            $figures->{wrong} += $figure->{Missed};
            $figure->{RunsARound} = $figure->{ServerRuns} / $figure->{Rounds};
            push @{$figures->{"broadcast $name"}}, $figure;
            print "$name: ", join(', ', map { "$_ $figure->{$_}" } sort keys %$figure), "\n" if $verbose;
        }
    }
    return 1;
}

# ---------------------------------------------------------------- the report

# The medians of what one way took of what another took in the same round, and the smallest and largest.
sub ratio
{
    my ($figures, $name, $way, $other) = @_;
    my ($runs, $others) = @$figures{$way, $other};
    my @ratios = sort { $a <=> $b } map { $others->[$_]{$name} > 0 ? $runs->[$_]{$name} / $others->[$_]{$name} : 0 } 0 .. $#$runs;
    return (median(@ratios), @ratios[0, -1]);
}

sub figure
{
    my ($figures, $name, $way) = @_;
    return median(map { $_->{$name} } @{$figures->{$way}});
}

sub least_ratio
{
    my ($figures, @ways) = @_;
    my ($one, $other) = map { (sort { $a <=> $b } map { $_->{BothCpuUs} } @{$figures->{$_}})[0] } @ways;
    return $one / $other;
}

sub print_figures
{
    my ($kind, $figures) = @_;
    my %titles = (
        file => 'a file of its size', kept => 'kept by VaultCache', disk => 'mod_cache_disk, by time',
        varnish => 'Varnish, by time', off => 'rendered, VaultCache Off', none => 'rendered, VaultCacheMemory 0',
        livefile => 'a file of the size of the live page', live => 'a live page, kept, a row a second', liveoff => 'a live page, rendered',
    );
    printf <<'END', ROWS, $kind, $size->{rounds}, $size->{requests}, $size->{rendered};

A page of %d rows by feed, SSI and template on %s: %d rounds of %d requests (%d where each is rendered) on 8 connections, in turn. CPU of
all processes for an answer, us; ratios of the same round: the median, and in brackets the least and the largest.

                                       bytes     CPU   of the file             answers/s   rendered a s
END
    for my $way (map { $_->[0] } ways()) {
        if (!$figures->{$way}) {
            printf "%-36s not installed\n", $titles{$way};
            next;
        }
        my $file = $way =~ /^live/ ? 'livefile' : 'file';
        my @ratio = ratio($figures, 'BothCpuUs', $way, $file);
        printf "%-36s %7d %7.1f   %5.2f (%.2f to %.2f) %12.0f %12s\n", $titles{$way}, $figures->{$way}[-1]{Bytes},
            figure($figures, 'BothCpuUs', $way), @ratio, figure($figures, 'PerSecond', $way), rendered($figures, $way);
    }
    print_times($figures);
}

sub rendered
{
    my ($figures, $way) = @_;
    my @runs = @{$figures->{$way}};
    return $way eq 'live' ? sprintf('%.2f', sum(map { $_->{Rendered} } @runs) / sum(map { $_->{Seconds} } @runs)) : '-';
}

sub print_times
{
    my ($figures) = @_;
    my $f = $figures->{renewed};
    printf "\nAfter a write, ms, p50 and p99 of %d: the write %.2f %.2f; the view that renews %.2f %.2f; the same again %.2f %.2f; a plain file %.2f %.2f\n",
        @$f{qw(Renewals WriteP50Ms WriteP99Ms RenewedP50Ms RenewedP99Ms KeptP50Ms KeptP99Ms PlainP50Ms PlainP99Ms)};
    printf "One row for %d pages, CPU an answer, us: %.1f, with %.1f runs of the method; the plain broadcast: %.1f, with %.1f\n",
        $size->{pages}, map { (figure($figures, 'AnswerCpuUs', $_), figure($figures, 'RunsARound', $_)) } 'broadcast row', 'broadcast plain';
}

# Requests a second: by CPU, as other programs use the machine.
sub print_targets
{
    my ($figures) = @_;
    my @targets = (
        ['a row for many pages, of the plain broadcast', 1.5, 0, ratio($figures, 'AnswerCpuUs', 'broadcast row', 'broadcast plain')],
        ['a view of a live page, of a file', 1.3, 0, ratio($figures, 'BothCpuUs', 'live', 'livefile')],
        ['renderings of it a write', 1, 0, sum(map { $_->{Rendered} } @{$figures->{live}}) / (sum(map { $_->{Writes} } @{$figures->{live}}) || 1)],
        ['a file, of a kept page', 0.8, 1, ratio($figures, 'BothCpuUs', 'file', 'kept')],
        ['rendered, of a kept page', 10, 1, ratio($figures, 'BothCpuUs', 'off', 'kept')],
        ['renewed after the write, p99, ms', 5, 0, $figures->{renewed}{RenewedP99Ms}],
        ['a file where it is off, of a server without a store', 1.02, 0, least_ratio($figures, 'vault file', 'without file')],
        ['a page where it is off, of a server without a store', 1.02, 0, least_ratio($figures, 'vault page', 'without page')],
    );
    print "\n";
    for my $target (@targets) {
        my ($what, $bound, $least, $value, @spread) = @$target;
        my $met = $least ? $value >= $bound : $value <= $bound;
        printf "  %-55s at %-5s %5.2f   %6.2f%s   %s\n", $what, $least ? 'least' : 'most', $bound, $value,
            @spread ? sprintf(' (%.2f to %.2f)', @spread) : '', $met ? 'met' : 'NOT MET';
    }
}

1;
