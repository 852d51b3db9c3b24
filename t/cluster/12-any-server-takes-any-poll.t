# SPDX-License-Identifier: Apache-2.0
# VaultPageStore: two servers and a Redis. A page that one server has rendered is polled at either of them, in turns and at once, and shows
# each row once; also when one of them is killed, and when Redis is frozen, restarted empty, or returns damaged data. A server that takes a
# page over while the owner of the page writes it continues with what was written.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use MIME::Base64 ();
use POSIX ();
use Time::HiRes ();
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Config;
use VaultTest::Redis;
use VaultTest::Site;

my $module = vars('top_dir') . '/modules/mod_vault_redis.so';
plan skip_all => 'the module for Redis was not built' unless -f $module;
my $load = qq(LoadModule vault_redis_module "$module"\n);
my $secret = 'a text that only these servers know';

refuses("VaultPageStore redis:127.0.0.1 '$secret'\n", qr/VaultPageStore redis:127\.0\.0\.1: no module is loaded for "redis"; for redis that is LoadModule/, 'without the module');
refuses("${load}VaultPageStore redis:127.0.0.1:123456 '$secret'\n", 'VaultPageStore redis:127.0.0.1:123456: redis:HOST, redis:HOST:PORT or redis://USER:PASSWORD@HOST:PORT is accepted', 'an impossible port');
refuses("${load}VaultPageStore redis:vault:word\@127.0.0.1 '$secret'\n", 'VaultPageStore redis:***@127.0.0.1: redis:HOST, redis:HOST:PORT or redis://USER:PASSWORD@HOST:PORT is accepted', 'a password, which is not shown');
refuses("${load}VaultPageStore redis: '$secret'\n", 'VaultPageStore redis:: redis:HOST, redis:HOST:PORT or redis://USER:PASSWORD@HOST:PORT is accepted', 'no host');
refuses("${load}VaultPageStore redis:127.0.0.1 short\n", 'VaultPageStore redis:127.0.0.1: the secret has 5 characters; 16 or more are accepted', 'a short secret');
refuses("${load}VaultPageStore redis:127.0.0.1\n", qr/VaultPageStore takes two arguments/, 'no secret');
refuses("$load<Location />\nVaultPageStore redis:127.0.0.1 '$secret'\n</Location>\n", qr/^VaultPageStore not allowed/, 'in a section');

my $redis = VaultTest::Redis->start('pages') or plan skip_all => 'redis-server is not installed';

my $feed = '';
if (has_database()) {
    fresh_table('stored');
    $feed = qq(VaultFeed stored "@{[vars('top_dir')]}/modules/vault_feed_database.so" database=@{[database_file('stored')]}\n);
}

sub config
{
    my ($shared, $port) = @_;
    return "${load}VaultPageStore redis:127.0.0.1:$port '$shared'\n" . live_folder('/feed') . $feed . <<"END";
<LocationMatch "^/(test/page|vault/poll)">
    <If "-n req('Authorization')">
        AuthType Basic
        AuthName tests
        AuthUserFile "@{[vars('top_dir')]}/t/conf/site.users"
        Require valid-user
    </If>
</LocationMatch>
END
}
my $one = VaultTest::Server->start('store-one', config => config($secret, $redis->port));
my $two = VaultTest::Server->start('store-two', config => config($secret, $redis->port));

# A row, which both servers know of, as of a common database. Only one of them is notified where `notify` is its interest.
sub add_row
{
    my ($name, @servers) = @_;
    on($_, sub { text_of("/test/add?name=$name&notify=$name") }) for @servers ? @servers : ($one, $two);
    return;
}

sub open_at { my ($at, $name, %with) = @_; return on($at, sub { live_page(["/test/rows?name=$name&interest=$name"], %with) }) }
sub poll_at { my ($at, $page, @on) = @_; return on($at, sub { $page->poll(@on) }) }
sub shows { my ($at, $page, $text, $why) = @_; return is(VaultTest::Page::text(poll_at($at, $page)), $text, $why) }
sub taken_over { my ($at) = @_; return on($at, sub { status()->{PagesTakenOver} }) }

# A poll that waits at this server, as the only one.
sub waits_at
{
    my ($at, $page) = @_;
    return on($at, sub { my $poll = $page->start_poll; wait_waiting(1); return $poll });
}
sub answer_of { my ($page, $poll) = @_; return $page->finish_poll($poll) }

# ---------------------------------------------------------------- in turns
my $page = open_at($one, 'turns');
my @before = map { taken_over($_) } $one, $two;
for my $row (1 .. 6) {
    add_row('turns');
    shows($row % 2 ? $two : $one, $page, "$row\n", "row $row, at the " . ($row % 2 ? 'other' : 'first') . ' server');
}
is(join(' ', map { taken_over($_) } $one, $two), join(' ', $before[0] + 3, $before[1] + 3), 'the page was taken over each time');
add_row('turns');
shows($one, $page, "7\n", 'at the same server again');
is(taken_over($one), $before[0] + 3, '... it was not');

# ---------------------------------------------------------------- answers that are lost
add_row('turns');
is(VaultTest::Page::text(on($two, sub { $page->read_poll($page->start_poll) })), "8\n", 'an answer is lost');
shows($one, $page, "8\n", 'the other server makes it again');
add_row('turns');
my $lost = on($two, sub { $page->read_poll($page->start_poll) });
my $twin = $page->duplicate;
$twin->{seq} = $lost->{seq};
add_row('turns');
shows($one, $twin, "10\n", 'an answer that has arrived is acknowledged at another server');
my $unknown = $twin->duplicate;
$unknown->{seq} += 1000;
is(poll_at($two, $unknown)->{status}, 410, 'a number that no server has given');
add_row('turns');
shows($one, $twin, "11\n", '... takes nothing over');

# ---------------------------------------------------------------- at once
$page = open_at($one, 'once');
add_row('once');
shows($one, $page, "1\n", 'a page');
for my $round (2 .. 4) {
    my ($first, $second) = $round % 2 ? ($two, $one) : ($one, $two);
    my $older = waits_at($first, $page);
    my $newer = waits_at($second, $page);
    add_row('once', $first, $second);
    is(VaultTest::Page::text(answer_of($page, $newer)), "$round\n", "round $round: two polls wait; the newer one is answered");
    my $answer = $page->read_poll($older);
    is("$answer->{status} " . ($answer->{headers}{'vault-superseded'} // ''), '204 1', '  the older one is superseded');
}
my @polls = map { my $at = $_; map { on($at, sub { $page->start_poll }) } 1 .. 3 } $one, $two;
add_row('once');
my @answers = map { $page->read_poll($_) } @polls;
cmp_ok(scalar(grep { $_->{status} == 200 && VaultTest::Page::text($_) eq "5\n" } @answers), '>', 0, 'six polls at once: at least one has the row');
is(scalar(grep { $_->{status} !~ /^(?:200|204)$/ } @answers), 0, '  and none is told to load the page again');
my %numbers;
$numbers{$_->{seq}} .= VaultTest::Page::text($_) for grep { $_->{status} == 200 } @answers;
is(scalar(grep { $_ ne "5\n" } values %numbers), 0, '  no number stands for two answers');

# ---------------------------------------------------------------- whose it is
sub as { my ($user) = @_; return (Authorization => 'Basic ' . MIME::Base64::encode_base64("$user:secret", '')) }
$page = on($one, sub { open_page(VaultTest::view_of('/test/rows?name=own&interest=own'), headers => {as('anna')}) });
add_row('own');
@before = map { taken_over($_) } $one, $two;
for my $at ($one, $two) {
    is(poll_at($at, $page, undef, as('bert'))->{status}, 403, 'a page of another user');
    is(poll_at($at, $page)->{status}, 403, '... without a login');
}
is(join(' ', map { taken_over($_) } $one, $two), "@before", '... is not taken over');
is(VaultTest::Page::text(poll_at($two, $page, undef, as('anna'))), "1\n", '... its user has it at the other server');
is(poll_at($one, $page, undef, as('bert'))->{status}, 403, '... alone');

# ---------------------------------------------------------------- rows of a database
SKIP: {
    skip 'the database feed was not built', 1 unless $feed;
    site_file('/feed/stored.html', '{{#rows}}[{{line}}]{{/rows}}');
    live_tag('/feed/stored', '<!--#feed name="stored" method="get_new_instances" table="logs" template="stored.html" -->');
    $page = on($one, sub { open_page('/feed/stored.shtml') });
    for my $row (1 .. 4) {
        my ($writer, $reader) = $row % 2 ? ($one, $two) : ($two, $one);
        on($writer, sub { insert_row('logs', "$row$_", feed => 'stored') for qw(a b) });
        shows($reader, $page, "[${row}a][${row}b]", "rows $row of a feed, from the page's position in its data");
    }
}

# ---------------------------------------------------------------- properties
$page = on($one, sub { live_page(['/test/property?key=colour']) });
sub from { my ($at, $path) = @_; return on($at, sub { get($path, headers => {'X-Vault-Page' => $page->id}) }) }
is(from($two, '/test/property?key=colour&value=red')->{status}, 200, 'a property is set at the other server');
is(from($one, '/test/property?key=colour')->{body}, 'red', '... and read at the first one');
is(VaultTest::Page::text(poll_at($two, $page)), 'red', '... and by a method');

# ---------------------------------------------------------------- a write between the read and the claim of a takeover
# Passes on what servers and Redis send to each other, and writes these fields of the entry before the first claim reaches Redis.
sub relay
{
    my ($listener, $at, @fields) = @_;
    my $select = IO::Select->new($listener);
    my %to;
    while (my @ready = $select->can_read) {
        for my $from (@ready) {
            if ($from == $listener) {
                my $server = $listener->accept or next;
                my $store = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $redis->port) or die "Redis: $!\n";
                @to{$server, $store} = ($store, $server);
                $select->add($server, $store);
            }
            elsif (sysread $from, my $bytes, 65536) {
                $redis->ask(HSET => $at, splice @fields) if @fields && $bytes =~ /'f', ARGV\[3\], 'v', 0\)/;
                syswrite $to{$from}, $bytes;
            }
            else {
                $select->remove($from);
                shutdown $to{$from}, 1;
            }
        }
    }
    return;
}

my $key;
my %before_it = map { $_ => 1 } $redis->keys;
$page = on($one, sub { live_page(['/test/property?key=colour']) });
($key) = grep { !$before_it{$_} } $redis->keys;
my %older = @{$redis->ask(HGETALL => $key)};
is(from($one, '/test/property?key=colour&value=red')->{status}, 200, 'a property is set');
my %newer = @{$redis->ask(HGETALL => $key)};
is($newer{f}, $older{f}, '... by the same owner');
cmp_ok($newer{v}, '>', $older{v}, '... in another version');
$redis->ask(HSET => $key, %older);
my $listener = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1') or die "listen: $!\n";
my $relay = fork // die "fork: $!\n";
if (!$relay) {
    eval { relay($listener, $key, %newer) };
    POSIX::_exit(1);
}
my $three = VaultTest::Server->start('store-three', config => config($secret, $listener->sockport));
my $read = wait_until(sub { my $got = from($three, '/test/property?key=colour'); $got->{status} == 503 ? undef : $got }, 'Redis answers in time');
is($read->{body}, 'red', 'a server that has read the older version takes over the newer one');
$three->stop;
kill KILL => $relay;
waitpid $relay, 0;

# ---------------------------------------------------------------- what Redis has
# A page of the first server, and the key of its record.
sub stored_page
{
    my ($name) = @_;
    my %known = map { $_ => 1 } $redis->keys;
    my $made = open_at($one, $name);
    add_row($name);
    my ($key) = grep { !$known{$_} } $redis->keys;
    return ($made, $key);
}
(my $other, $key) = stored_page('other');
unlike($key, qr/@{[$other->id]}/, 'the id of a page is not in its key');
my $record = $redis->ask(HGET => $key, 'd');
my %lies = (
    'a part of a record' => sub { return substr $_[0], 0, length($_[0]) - 8 },
    'a record with another character' => sub { return $_[0] =~ s{/test/rows}{/test/page}r },
    'the record of another page' => sub { return $record },
    'another text' => sub { return 'x' x 1000 },
);
for my $lie (sort keys %lies) {
    my ($made, $at) = stored_page('lies');
    my $wrong = $lies{$lie}->($redis->ask(HGET => $at, 'd'));
    $redis->ask(HSET => $at, 'd', $wrong);
    is(poll_at($two, $made)->{status}, 410, "$lie is refused");
    is(poll_at($one, $made)->{status}, 200, '... the server that has the page goes on');
}
announce(qr/VLT00456: a page of VaultPageStore redis:127\.0\.0\.1:\d+ is not used: it /);

# ---------------------------------------------------------------- Redis has lost everything
$redis->stop;
$redis->again;
is(poll_at($two, $other)->{status}, 410, 'Redis has lost its memory: another server does not know the page');
shows($one, $other, "1\n", '... the one that has it does');
add_row('other');
shows($two, $other, "2\n", '... and has written it again');

# ---------------------------------------------------------------- Redis does not answer
($page, $key) = stored_page('frozen');
my $version = $redis->ask(HGET => $key, 'v');
$redis->freeze;
my $begin = Time::HiRes::time();
shows($one, $page, "1\n", 'Redis is frozen: the server that has the page goes on');
my $answer = poll_at($two, $page);
is($answer->{status}, 503, '... another one cannot tell');
like($answer->{body}, qr/the store of pages does not answer/, '... and says so');
cmp_ok(Time::HiRes::time() - $begin, '<', 20, '... soon');
announce(qr/VLT00455: VaultPageStore redis:127\.0\.0\.1:\d+ does not answer: for 3 s this server answers only polls of the pages that it has itself/);
$redis->thaw;
my $rows = 1;
wait_until(
    sub {
        add_row('frozen');
        my $text = VaultTest::Page::text(poll_at($one, $page));
        die "row $rows is followed by $text\n" if $text ne ++$rows . "\n";
        $redis->ask(HGET => $key, 'v') ne $version;
    },
    'the server that has the page writes it again'
);
add_row('frozen');
my $shown = wait_until(sub { my $got = poll_at($two, $page); $got->{status} == 503 ? undef : $got }, 'the other server asks Redis again');
is(VaultTest::Page::text($shown), ++$rows . "\n", '... and goes on');

# ---------------------------------------------------------------- a server is killed
$page = open_at($one, 'killed');
add_row('killed');
shows($one, $page, "1\n", 'a page');
waits_at($one, $page);
on($one, sub { children(1) });
kill 'KILL', processes_of($one);
$one->ignore;
on($two, sub { text_of('/test/add?name=killed') });
shows($two, $page, "2\n", 'its server is killed while it waits: it goes on at the other one');
finish();
