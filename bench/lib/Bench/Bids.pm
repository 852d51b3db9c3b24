# SPDX-License-Identifier: Apache-2.0
# The case "bids": the bid history of RUBiS, kept up to date in several ways, each on a server and a database of its own.
package Bench::Bids;
use strict;
use warnings;
use Exporter 'import';
use Bench::Database;
use Bench::Figures;
use Bench::Server;

our @EXPORT = qw(bids_ways run_bids start_bids);

use constant {
    WAYS    => [qw(none reload poll hand feed)],
    MORE    => [qw(ssi kept)],              # only where they are named
    VIEWERS => 5,                           # users that look at an item, on average
    KNOWN   => 10,                          # bids that an item has before a run
    BOUND   => 10,                          # percent that the feed may cost more than by hand
    # Before the first round: with so many acts at once that most threads and connections of a child have done what they do once.
    WARM    => {users => 100, seconds => 3, think => 0.3, seed => 0},
};

my $next_item = 1;    # items are of one run only: histories do not grow from run to run

my @ways = @{WAYS()};    # those that are measured; of another build, with a star behind it
my $against;             # that build

# "hand,feed": these, in the order of all; () if one of them is none.
sub bids_ways
{
    my ($names) = @_;
    my %wanted = map { $_ => 1 } split /,/, $names;
    my @found = grep { delete $wanted{$_} } @{WAYS()}, @{MORE()};
    return %wanted ? () : @found;
}

# $only: {ways => [some], users => [sizes], rounds => how many}, each for what is measured if it is not said; against => another build,
# whose servers take turns with those of this one.
# Returns 1 if something was missed or could not be measured.
sub run_bids
{
    my ($size, $verbose, $think, $kind, $only) = @_;
    $against = $only->{against};
    @ways = map { ($_, $against ? "$_*" : ()) } @{$only->{ways} || WAYS()};
    die "bench/run: --database $kind: its server, or libdbi's module for it, is not installed\n"
        if !grep { $_ eq $kind } database_kinds();
    my %users = (full => [50, 200, 500], quick => [50, 200], smallest => [10]);
    my %rounds = (full => 4, quick => 2, smallest => 1);
    my @sizes = @{$only->{users} || $users{$size}};
    # What 50 users do in a few seconds is too little to be measured.
    my %seconds = map { $_ => $size eq 'full' ? $_ == 50 ? 20 : 6 : $size eq 'quick' ? 2.5 : 1 } @sizes;
    my $rounds = $only->{rounds} || $rounds{$size};
    my $warm = $size eq 'smallest' ? {%{WARM()}, users => 10, seconds => 0.2} : WARM;
    $think = WARM->{think} if $size eq 'smallest';
    my $items = items_of($warm->{users});
    $items += $rounds * items_of($_) for @sizes;
    my %server = map { $_ => start_way($_, $kind, $items) } @ways;
    print "\n*: by $against\n" if $against;
    my @rows;
    my $failed = !warm_up(\%server, $warm);
    print_head($kind, $rounds, $think, map { "$seconds{$_} s with $_ users" } @sizes);
    for my $users (@sizes) {
        my $runs = run_rounds(\%server, {users => $users, seconds => $seconds{$users}, think => $think}, $rounds, $verbose);
        $failed = 1 if !$runs;
        push @rows, summary($users, $runs) if $runs;
        print_rows($rows[-1]) if $runs;
    }
    for my $way (grep { /^kept/ } @ways) {
        my $status = server_status($server{$way});
        printf "%s: methods were run %d times, and %d times an output that was kept was used; %d views were kept ones\n", $way,
            @$status{qw(Runs Shared Cached)};
    }
    for my $way (@ways) {
        stop_server($server{$way});
        report_log($server{$way}, "bids $way");
    }
    print_bound($kind, @rows) if @rows && $size ne 'smallest';
    return $failed || grep { $_->{odd} } @rows;
}

# ---------------------------------------------------------------- the site

sub write_template
{
    for my $folder (qw(bids items)) {
        mkdir "$place{dir}/htdocs/$folder";
        write_file("$place{dir}/htdocs/$folder/bid.html", <<'END');
{{#added}}
<tr><td>{{bidder}}</td><td>#{{id}} EUR {{amount}}</td></tr>
{{/added}}
END
    }
    write_file("$place{dir}/bids.json", <<'END');
{
  "entities": {
    "Item": {
      "table": "items",
      "properties": { "name": "name" },
      "collections": { "bids": { "entity": "Bid", "column": "item_id" } }
    },
    "Bid": { "table": "bids", "properties": { "bidder": "bidder", "amount": "amount" } }
  }
}
END
}

sub tables
{
    my ($items) = @_;
    my $sql = <<'END';
BEGIN;
CREATE TABLE items (id {serial}, name {text});
CREATE TABLE bids (id {serial}, item_id {integer} NOT NULL, bidder {text} NOT NULL, amount {integer} NOT NULL);
CREATE INDEX bids_item ON bids (item_id, id);
END
    $sql .= "INSERT INTO items (name) VALUES ('Item $_');\n" for 1 .. $items;
    for my $item (1 .. $items) {
        my @rows = map { "($item, 'somebody\@example.org', $_)" } 1 .. KNOWN;
        $sql .= 'INSERT INTO bids (item_id, bidder, amount) VALUES ' . join(', ', @rows) . ";\n";
    }
    return $sql . "COMMIT;\n";
}

# The history of each item as a page of SSI, with the method that it polls.
sub write_items
{
    my ($items) = @_;
    for my $item (1 .. $items) {
        my $tag = qq{<!--#feed name="bids" method="get_collection_changes" entity="Item" id="$item" collection="bids" template="bid.html" }
            . 'append="bids" -->';
        write_file("$place{dir}/htdocs/items/$item-news.shtml", $tag);
        write_file("$place{dir}/htdocs/items/$item.shtml", <<"END");
<!DOCTYPE html>
<html lang="en"><head><title>Bid history</title></head><body><h1>Bid history</h1><table><tbody id="bids">
$tag</tbody></table><!--#vault poll="/items/$item-news.shtml" --></body></html>
END
    }
}

sub items_configuration
{
    my ($cache) = @_;
    my $load = join '', map { "LoadModule ${_}_module $place{modules}/mod_$_.so\n" } qw(filter include);
    return <<"END";
$load<Directory "$place{dir}/htdocs">
    Options +Includes
    Require all granted
</Directory>
<Location /items>
    ForceType text/html
    SetOutputFilter INCLUDES
    VaultLongPoll On
    VaultCache $cache
</Location>
END
}

sub start_way
{
    my ($way, $kind, $items) = @_;
    return start_bids($way, $kind, $items) if $way !~ s/\*$//;
    local $place{build} = $against;
    return start_bids($way, $kind, $items, '_other');
}

# `named`: what its database and its server are called by, beside the way.
sub start_bids
{
    my ($way, $kind, $items, $named) = @_;
    $named = "bids_$way" . ($named // '');
    write_template();
    my $is_ssi = grep { $way eq $_ } @{MORE()};
    my $is_feed = $is_ssi || $way eq 'feed';
    write_items($items) if $is_ssi;
    my ($database, $pid) = make_database_apart($kind, $named, tables($items), $is_feed ? 'bids' : ());
    my ($module, $feed) = (find_built('mod_vault_bids.so'), find_built('vault_feed_database.so'));
    # The other ways save through the feed, too, but without a watched table.
    my $more = $is_feed ? "model=$place{dir}/bids.json" : 'look=0';
    my $own = $is_feed ? 'feed' : $way;
    my $items_conf = $is_ssi ? items_configuration($way eq 'kept' ? 'On' : 'Off') : '';
    my $server = start_server("$kind-$named", 2, base_configuration(2, <<"END"));
LoadModule vault_bids_module "$module"
VaultFeed bids "$feed" $database $more
BidsDatabase $database
BidsWay $own
${items_conf}<Location /bids>
    VaultLongPoll On
    SetHandler vault-bids
</Location>
END
    $server->{database} = $pid;
    return $server;
}

# ---------------------------------------------------------------- rounds

sub items_of
{
    my ($users) = @_;
    return int($users / VIEWERS);
}

# Not measured. Returns 1 if nothing was missed.
sub warm_up
{
    my ($server, $load) = @_;
    my $good = 1;
    for my $way (@ways) {
        my $figure = run_way($server->{$way}, $way, $load);
        $good = 0 if !$figure || grep { $figure->{$_} } qw(Missed Doubled Failed);
    }
    $next_item += items_of($load->{users});
    return $good;
}

# In turn, so that a machine that is slower for a while is so for all. {WAY => [figures of a round, …]}, or undef.
sub run_rounds
{
    my ($server, $load, $rounds, $verbose) = @_;
    my %runs;
    for my $round (1 .. $rounds) {
        my @order = $round % 2 ? @ways : reverse @ways;
        for my $way (@order) {
            my $figure = run_way($server->{$way}, $way, {%$load, seed => $round}) or return undef;
            $figure->{BothCpuMs} = $figure->{CpuMs} + $figure->{DatabaseCpuMs};
            push @{$runs{$way}}, $figure;
            print "$way, round $round: ", join(', ', map { "$_ $figure->{$_}" } sort keys %$figure), "\n" if $verbose;
        }
        $next_item += items_of($load->{users});
    }
    return \%runs;
}

sub run_way
{
    my ($server, $way, $load) = @_;
    my $users = $load->{users};
    $way =~ s/\*$//;
    my $output = run_program("bids $way $users", 1, 'bids', '--port', $server->{port}, '--parent', $server->{pid}, '--way', $way,
        '--items', items_of($users), '--first-item', $next_item, (map { ("--$_", $load->{$_}) } qw(users seconds think seed)),
        $server->{database} ? ('--database', $server->{database}) : ());
    return defined $output ? figures_of($output) : undef;
}

# ---------------------------------------------------------------- the report

# Ratios are taken round by round: the ways of a round did the same, one right after the other.
sub summary
{
    my ($users, $runs) = @_;
    my %row = (users => $users, odd => 0, way => {});
    for my $way (@ways) {
        my @runs = @{$runs->{$way}};
        my %figure = map { my $name = $_; $name => median(map { $_->{$name} } @runs) } qw(CpuMs DatabaseCpuMs BothCpuMs);
        for my $name (qw(Views Bids Asked Told Displays Missed Doubled Failed)) {
            $figure{$name} = sum(map { $_->{$name} } @runs);
        }
        my $seen = $figure{Displays} || 1;
        $figure{mean} = sum(map { $_->{DelayMeanMs} * $_->{Displays} } @runs) / $seen;
        $figure{p99} = median(map { $_->{DelayP99Ms} } @runs);
        my $star = $way =~ /(\*?)$/ ? $1 : '';
        for my $name (qw(CpuMs BothCpuMs)) {
            $figure{"Of$name"} = part_of($name, $runs->{$way}, $runs->{"hand$star"});
            $figure{"OfOther$name"} = part_of($name, $runs->{$way}, $runs->{"$way*"});
        }
        $row{odd} += $figure{$_} for qw(Missed Doubled Failed);
        $row{way}{$way} = \%figure;
    }
    return \%row;
}

# The median of what one way took of what the other did in the same round.
sub part_of
{
    my ($name, $runs, $others) = @_;
    return $others ? median(map { $runs->[$_]{$name} / $others->[$_]{$name} } 0 .. $#$runs) : undef;
}

sub print_head
{
    my ($kind, $rounds, $every, @lengths) = @_;
    printf <<'END', $kind, $rounds, join(', ', @lengths), $every;

RUBiS bid history on %s, 80 %% views and 20 %% bids, %d rounds of each way, in turn (%s); an act every %g s. CPU: ms of all
processes a second: of httpd, of the database's server, of both. Upkeep: of both, less what it is without any updates (none). Delay: from
bid to display, ms.

users  way     views   bids  asked   told   httpd  of hand  database    both  of hand  upkeep  delay mean       p99  missed  doubled
END
}

sub print_rows
{
    my ($row) = @_;
    for my $way (@ways) {
        my $f = $row->{way}{$way};
        my @delay = $way eq 'none' ? ('-', '-') : map { sprintf '%.2f', $f->{$_} } qw(mean p99);
        printf "%5d  %-6s %6d %6d %6d %6d %7.1f %8s %9.1f %7.1f %8s %7s  %10s %9s %7d %8d\n", $row->{users}, $way,
            @$f{qw(Views Bids Asked Told CpuMs)}, percent($f->{OfCpuMs}), @$f{qw(DatabaseCpuMs BothCpuMs)}, percent($f->{OfBothCpuMs}),
            $row->{way}{none} ? sprintf('%.1f', upkeep($row, $way)) : '-', @delay, @$f{qw(Missed Doubled)};
    }
    for my $way (grep { defined $row->{way}{$_}{OfOtherCpuMs} } @ways) {
        printf "       %-6s of %-6s: %s by httpd, %s by both\n", $way, "$way*", map { percent($row->{way}{$way}{"OfOther$_"}) } qw(CpuMs BothCpuMs);
    }
    print "\n";
}

sub percent { return defined $_[0] ? sprintf('%.0f%%', 100 * $_[0]) : '-' }

sub upkeep
{
    my ($row, $way) = @_;
    return $row->{way}{$way}{BothCpuMs} - $row->{way}{none}{BothCpuMs};
}

sub print_bound
{
    my ($kind, @rows) = @_;
    my %has = map { $_ => 1 } @ways;
    return if !$has{feed} || !$has{hand};
    my @counted = (['CpuMs', 'the CPU of httpd'], $kind eq 'sqlite3' ? () : ['BothCpuMs', 'and of the database']);
    for my $counted (@counted) {
        my ($worst) = sort { $b <=> $a } map { 100 * $_->{way}{feed}{"Of$counted->[0]"} - 100 } @rows;
        printf "  %-57s at most %4d   %8.1f   %s\n", "% that the feed costs more than by hand, $counted->[1]", BOUND, $worst,
            $worst <= BOUND ? 'met' : 'NOT MET';
    }
    for my $other (['reload', 'asking for the whole page'], ['poll', 'asking for what is new']) {
        next if !$has{none} || !$has{$other->[0]};
        printf "  %-57s              %8.0f   (far less than 100 is wanted)\n", "% of the upkeep of $other->[1], at the most",
            (sort { $b <=> $a } map { 100 * upkeep($_, 'feed') / (upkeep($_, $other->[0]) || 1) } @rows)[0];
    }
}

1;
