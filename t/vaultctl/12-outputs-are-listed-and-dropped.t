# SPDX-License-Identifier: Apache-2.0
# vaultctl cache: what the output store keeps, how often it was used and renewed, by which interest, why the rest is personal; and dropping outputs. The
# same in the status.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Vaultctl;

needs_vaultctl();
my $users = vars('top_dir') . '/t/conf/site.users';
my $root = vars('t_logs') . '/vaultctl-outputs';
mkdir $root;
chmod 0777, $root;
my $server = VaultTest::Server->start('outputs', config => <<"END");
VaultCacheMemoryMax 1024
VaultCacheRoot $root
<Location "/kept/">
    SetHandler vault-test
    VaultCache On
</Location>
<Location "/kept/keyed/">
    VaultCacheKey "%{HTTP:Cookie}"
</Location>
<Location "/kept/users/">
    AuthType Basic
    AuthName tests
    AuthUserFile "$users"
    Require valid-user
</Location>
<Location "/plain/">
    SetHandler vault-test
</Location>
<Location "/open/status">
    SetHandler vault-status
    Require all granted
</Location>
<Location "/limited/status">
    SetHandler vault-status
    <Limit GET>
        Require all granted
    </Limit>
    <LimitExcept GET>
        Require all denied
    </LimitExcept>
</Location>
<Location "/denied/status">
    SetHandler vault-status
    Require all denied
</Location>
END
use_server($server);

my $LONG = 'header=Vault-Shared:yes&header=Cache-Control:max-age=1000';

sub listed
{
    my (@words) = @_;
    my $said = vaultctl('cache', '--json', @words);
    is($said->{code}, 0, "cache @words") or diag($said->{err});
    return @{JSON::PP::decode_json($said->{out})};
}

# The rows of these outputs, by the values of their parameter `text`.
sub by_text { return map { $_->{Url} =~ /text=(\w+)/ ? ($1 => $_) : () } listed(@_) }

is_deeply([listed()], [], 'at first nothing is kept');
get("/kept/echo?text=a&$LONG") for 1 .. 3;
get("/kept/echo?text=bb&$LONG") for 1 .. 2;
get('/kept/echo?text=' . 'z' x 2000 . "&$LONG");
get("/kept/echo?text=d&$LONG&header=Set-Cookie:x=y");
get("/kept/keyed/echo?text=e&$LONG", headers => {Cookie => 'a=verysecret'});

my %is = by_text();
is(join(' ', map { substr $_, 0, 2 } sort keys %is), 'a bb d e zz', 'what is known of five URLs');
my $long = $is{'z' x 2000};
is($is{a}{Kind}, 'page', 'a response is a page');
like($is{a}{Url}, qr{^http://[\w.]+/kept/echo\?text=a&\Q$LONG\E$}, '... with its URL and query');
is($is{a}{State}, 'kept', '... which is kept');
is($is{a}{Hits}, 2, '... and was used twice');
is_deeply($is{a}{Forms}, [{Form => 'plain', Bytes => 1, Where => 'memory'}], '... has one form, in memory');
is_deeply($long->{Forms}, [{Form => 'plain', Bytes => 2000, Where => 'file'}], 'a large one is in a file');
cmp_ok($is{a}{SecondsLeft}, '>', 900, 'how long it may be used');
is($is{d}{State}, 'personal', 'a cookie');
is($is{d}{Why}, 'its answer sets a cookie', '... is why');
unlike(vaultctl('cache', '--json')->{out}, qr/verysecret/, 'what VaultCacheKey has of a request is not shown');

# Order, limit, filter.
is(join(' ', map { $_->{Url} =~ /text=(\w)/ } listed('--sort', 'hits')), 'a b e d z', '--sort hits: the most used one first');
is((listed('--sort', 'bytes', '--limit', 1))[0]{Url}, $long->{Url}, '--sort bytes --limit 1');
is(join(' ', map { $_->{Url} =~ /text=(\w)/ } listed('--sort', 'age')), 'a b z d e', '--sort age');
is((listed())[0]{Url}, $is{e}{Url}, 'by default the one used last comes first');
is_deeply([map { $_->{Url} } listed('--match', 'keyed')], [$is{e}{Url}], '--match');
like(vaultctl('cache', '--limit', 2)->{out}, qr/^and 3 more: --limit, --match$/m, 'the list says what it leaves out');
my $said = vaultctl('cache')->{out};
like($said, qr{^kept +1 +- +- +2 +0 +0 +\d+\.\d  page http://\S+text=a&}m, 'in words');
like($said, qr{^kept +2000\* +- +- }m, '... a file has an asterisk');
like($said, qr{^personal .*  \(its answer sets a cookie\)$}m, '... and a reason');
is(get("/vault/status?cache&$_")->{status}, 400, "$_ is refused") for 'sort=x', 'limit=0', 'limit=100001';

# Renewals.
my $value = '/kept/value?name=v&header=Vault-Shared:yes&header=Vault-Interest:vc12%2520value';
text_of('/plain/set?name=v&value=one');
get($value) for 1 .. 3;
for my $round (1 .. 2) {
    text_of('/plain/notify?interest=vc12%20value');
    is((listed('--match', '/value'))[0]{State}, 'outdated', 'after a notify it is outdated');
    get($value) for 1 .. 2;
}
my ($row) = grep { $_->{Kind} eq 'page' } listed('--match', '/value', '--sort', 'renewals');
is($row->{Renewals}, 2, 'two renewals');
is($row->{RenewedBy}, 'vc12 value', '... by this interest');
is($row->{Hits}, 3, '... the uses of all its renderings together');
like(vaultctl('cache', '--match', '/value')->{out}, qr/^kept .*  page \S+  \[vc12 value\]$/m, '... in words');
ok((grep { $_->{Kind} eq 'interests' } listed('--match', '/value')), 'the interests of a response are an output of their own');

# Requests that wait.
SKIP: {
    skip 'no request can wait without a thread', 2 unless have_parking();
    my $slow = '/kept/wait?before=vc12&header=Vault-Shared:yes&header=Vault-Interest:slow';
    open_barrier('vc12');
    get($slow) for 1 .. 2;
    text_of('/plain/close?name=vc12');
    text_of('/plain/notify?interest=slow');
    my @all = map { my $c = connect_to(); $c->request(GET => $slow); $c } 1 .. 4;
    wait_arrived('vc12', 1);
    wait_waiting(3);
    my ($making) = grep { $_->{State} eq 'rendering' } listed('--match', 'before=vc12');
    is($making->{Waits}, 3, 'an output that is rendered, and how many wait for it');
    open_barrier('vc12');
    is_deeply([map { $_->response->{status} } @all], [(200) x 4], '... all are answered');
}

# Totals, and reasons.
get("/kept/users/echo?text=k&$LONG", headers => {Authorization => 'Basic YW5uYTpzZWNyZXQ='}) for 1 .. 2;
get("/kept/echo?text=m&$LONG", headers => {Authorization => 'Basic YTpi'});
get("/kept/echo?text=d&$LONG&header=Set-Cookie:x=y");
get('/kept/echo?text=n');
my $all = status();
is($all->{$_}, $all->{$_ . 'Max'} && $all->{$_}, "$_ is within its limit") for qw(Outputs OutputMemory OutputFiles);
is($all->{OutputFiles}, 2000, 'bytes in files');
is($all->{OutputFilesMax}, 1024 ** 3, '... and the limit') or diag($all->{OutputFilesMax});
is($all->{OutputMemoryMax}, JSON::PP::decode_json(text_of('/vault/status?json'))->{OutputMemoryMax}, 'of the memory');
cmp_ok($all->{OutputHits}, '>=', 6, 'hits');
cmp_ok($all->{OutputRenewals}, '>=', 2, 'renewals');
cmp_ok($all->{OutputMisses}, '>=', 8, 'misses');
is($all->{OutputWaits}, have_parking() ? 3 : 0, 'waits');
is($all->{OutputEvictions}, 0, 'evictions');
my $personal = JSON::PP::decode_json(text_of('/vault/status?json'))->{Personal};
is_deeply({map { $personal->{$_} ? ($_ => $personal->{$_}) : () } keys %$personal}, {user => 2, request => 1, response => 2, handler => 1, interest => 2}, 'why outputs were personal');
is($all->{PersonalUser}, 2, '... in ?auto');
like(vaultctl('status')->{out}, qr/^Personal outputs, by reason\n(?:.+\n)*user +2$/m, '... in words');
my $metrics = text_of('/vault/status?metrics');
like($metrics, qr/^vault_personal_total\{reason="user"\} 2$/m, '... in OpenMetrics');
like($metrics, qr/^vault_output_renewals_total \d+$/m, '... with the totals');
my $html = text_of('/vault/status');
like($html, qr{<tr><th>user</th><td>2</td><td>the visitor has logged in</td></tr>}, '... and for people');
like($html, qr{<tr><td>page</td><td>http://[^<]*text=a&amp;header}, '... with a table of the outputs');

# Who may drop.
is(get("/$_->[0]/status?cache")->{status}, $_->[1], "the list at /$_->[0]") for ['open', 200], ['limited', 200], ['denied', 403];
announce(qr{AH01630: client denied by server configuration});
is(post("/$_/status?cache", 'all=1')->{status}, 403, "... nothing can be dropped at /$_") for qw(denied limited);
is(post('/vault/status?cache', 'all=1', headers => {Origin => 'http://elsewhere.example'})->{status}, 403, '... nor by a page of another site');
is(get('/vault/status?cache&all=1')->{status}, 200, 'a GET lists');
is(post('/vault/status?cache', $_)->{status}, 400, "refused: $_") for '', 'url=', 'match=', 'url=/a&match=b', 'all=1&match=b';
is(scalar(grep { $_->{State} eq 'kept' } listed('--match', 'text=a')), 1, '... all is as it was');

# Drop.
$said = vaultctl('cache', 'drop', $is{a}{Url}, '/kept/none');
is($said->{out}, "$is{a}{Url}: 1 dropped\n/kept/none: 0 dropped\n", 'drop by URL');
is($said->{code}, 0, '... also one that is not there');
my $cached = status()->{Cached};
is(text_of("/kept/echo?text=a&$LONG"), 'a', 'it is rendered again');
is(status()->{Cached}, $cached, '... not taken from the store');
is(vaultctl('cache', 'drop', "/kept/echo?text=bb&$LONG")->{out}, "/kept/echo?text=bb&$LONG: 1 dropped\n", 'drop by path and query');
is(vaultctl('cache', 'drop', '--match', 'verysecret')->{out}, "verysecret: 0 dropped\n", 'what is not shown is not matched');
is(vaultctl('cache', 'drop', '--match', 'keyed')->{out}, "keyed: 1 dropped\n", 'drop --match');
my $left = listed();
is(vaultctl('cache', 'drop', '--all', '--json')->{out}, "{\"Dropped\":$left}\n", 'drop --all');
is_deeply([listed()], [], '... leaves none');
is(scalar(() = glob "$root/*"), 0, '... and no file');
for my $row ([['x'], qr/x: cache takes no word but drop/], [['drop'], qr/which outputs\?/], [['drop', '--all', '/a'], qr/which outputs\?/], [['--all'], qr/--all is for cache drop/]) {
    $said = vaultctl('cache', @{$row->[0]});
    is($said->{code}, 2, "cache @{$row->[0]}");
    like($said->{err}, $row->[1], '... is refused with a sentence');
}

use_server(VaultTest::Server->start('no-outputs', config => "VaultCacheMemory 0\n"));
$said = vaultctl('cache');
is($said->{code}, 2, 'without a store');
like($said->{err}, qr/there is no output store: VaultCacheMemory is 0/, '... it says so');

finish();
