# SPDX-License-Identifier: Apache-2.0
# Two servers behind mod_proxy_balancer. With the configuration of docs/cluster.md the requests of a browser go to one server, so its page
# lives without a page store. Without it, a poll that reaches the other server gets 410; with a page store it is answered.
use strict;
use warnings;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Redis;

my $modules = VaultTest::Server::_modules_dir();
my @needed = qw(proxy_balancer lbmethod_byrequests slotmem_shm);
plan skip_all => 'mod_proxy_balancer is not installed' if grep { !-f "$modules/mod_$_.so" } @needed;

my $manual = vars('top_dir') . '/docs/cluster.md';
open my $file, '<', $manual or die "$manual: $!\n";
my ($configuration) = (join '', readline $file) =~ /^```apache\n(Header add Set-Cookie "route=.*?)^```\n/ms or die "no balancer in $manual\n";

# What the module keeps in Redis, if that is here.
my $redis_module = vars('top_dir') . '/modules/mod_vault_redis.so';
my $redis = -f $redis_module ? VaultTest::Redis->start('balanced') : undef;
my $store = $redis ? qq(LoadModule vault_redis_module "$redis_module"\nVaultPageStore redis:127.0.0.1:@{[$redis->port]} "a text that only these know"\n) : '';

# Two servers, and a balancer with these lines.
sub balanced
{
    my ($name, $config, $change) = @_;
    my @behind = map { VaultTest::Server->start("balanced-$name-$_", config => $config) } 1, 2;
    my $lines = $change->($configuration);
    $lines =~ s{http://10\.0\.0\.$_\b}{"http://127.0.0.1:" . $behind[$_ - 1]->port}e or die "the manual has no server $_\n" for 1, 2;
    my $load = join '', map { qq(LoadModule ${_}_module "$modules/mod_$_.so"\n) } @needed;
    my $front = VaultTest::Server->start("balancer-$name", without_vault => 1, config => $load . $lines);
    return ($front, @behind);
}

# A browser: it has the cookie that the balancer has set.
sub cookie_of { my ($page) = @_; my ($cookie) = ($page->{answer}{headers}{'set-cookie'} // '') =~ /^([^;]*)/; return $cookie ? (Cookie => $cookie) : () }
sub polls_at { my ($server) = @_; return on($server, sub { status()->{Polls} }) }

# Makes a page, and polls it: the statuses, and the rows that it shows. Every server has all rows.
sub visit
{
    my ($front, @behind) = @_;
    my $page = on($front, sub { live_page(['/test/rows?name=visit&interest=visit']) });
    my %cookie = cookie_of($page);
    my (@statuses, $shown);
    for (1 .. 4) {
        on($_, sub { text_of('/test/add?name=visit&notify=visit') }) for @behind;
        my $answer = on($front, sub { $page->poll(undef, %cookie) });
        push @statuses, $answer->{status};
        $shown .= VaultTest::Page::text($answer);
    }
    return ("@statuses", $shown =~ s/\n/ /gr);
}

# ---------------------------------------------------------------- sticky
my ($front, @behind) = balanced('sticky', '', sub { $_[0] });
my ($statuses, $shown) = visit($front, @behind);
is($statuses, '200 200 200 200', 'with a route in a cookie all polls reach the server that has the page');
is($shown, '1 2 3 4 ', '... each row comes once');
is(scalar(grep { polls_at($_) == 4 } @behind), 1, '... from one server');
for (1 .. 3) {
    ($statuses) = visit($front, @behind);
    is($statuses, '200 200 200 200', 'another browser');
}
cmp_ok($_, '>', 0, '... both servers have browsers') for map { polls_at($_) } @behind;
$front->stop;    # before those behind it

# ---------------------------------------------------------------- not sticky
my $scattered = sub { my ($lines) = @_; $lines =~ s/^Header .*\n//m; $lines =~ s/^ *ProxySet stickysession=route\n//m or die "the manual is not sticky\n"; return $lines };
($front, @behind) = balanced('scattered', '', $scattered);
like((visit($front, @behind))[0], qr/\b410\b/, 'without, a poll that reaches the other server is told to load the page again');
$front->stop;

SKIP: {
    skip 'Redis is not installed', 3 unless $redis;
    ($front, @behind) = balanced('stored', $store, $scattered);
    ($statuses, $shown) = visit($front, @behind);
    is($statuses, '200 200 200 200', 'with a page store any server answers');
    is($shown, '1 2 3 4 ', '... each row comes once');
    is(scalar(grep { polls_at($_) == 2 } @behind), 2, '... from both servers');
    $front->stop;
}
use_server();
finish();
