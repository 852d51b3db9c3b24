# SPDX-License-Identifier: Apache-2.0
# Outputs above VaultCacheMemoryMax are files: also views of live pages, each with its own id. Where no file can be written, and in a store that
# is full, all requests are answered and nothing wrong is sent.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

settle_files();

my $root = vars('t_logs') . '/large-outputs-files';
mkdir $root or -d $root or die "$root: $!\n";
chmod 0700, $root;
my $feed = has_database() ? 'VaultFeed database "' . vars('top_dir') . '/modules/vault_feed_database.so" database=' . database_file('large-outputs') . "\n" : '';
fresh_table('large-outputs');
my $server = VaultTest::Server->start('large-outputs', config => $feed . live_folder('/cache') . <<"END");
<Directory "@{[site_path('/cache')]}">
    VaultCache On
</Directory>
<Location "/closed/">
    SetHandler vault-test
</Location>
VaultCacheMemory 1M
VaultCacheMemoryMax 1K
VaultCacheRoot "$root"
VaultCacheRootSize 1M
<Location "/kept/">
    SetHandler vault-test
    VaultCache On
</Location>
END
use_server($server);

sub files { return scalar glob_files() }
sub glob_files { my @files = glob "$root/vault-output-*"; return @files }
my $shared = 'early-header=Vault-Shared:yes&early-header=Cache-Control:max-age=1000';

# A request, and whether the store answered.
sub ask
{
    my ($path) = @_;
    my $before = status()->{Cached};
    my $answer = get($path);
    return ($answer, status()->{Cached} - $before);
}

# ---------------------------------------------------------------- live pages
SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $tag = '<!--#feed name="database" method="get_new_instances" table="logs" template="large-row.html" append="list" -->';
    site_file('/cache/large-row.html', '{{#rows}}[{{line}}]{{/rows}}');
    live_tag('/cache/large', $tag, '<p>%s</p>' . '<!-- filler -->' x 100);
    insert_row('logs', 'first', writer => 0);
    my @pages = map { my $before = status()->{Cached}; my $page = open_page('/cache/large.shtml'); {page => $page, cached => status()->{Cached} - $before} } 1 .. 4;
    is(join(' ', map { $_->{cached} } @pages), '0 1 1 1', 'a large view is rendered once');
    cmp_ok(files(), '>', 0, '  and kept in a file');
    my %ids = map { $_->{page}->id => 1 } @pages;
    is(scalar keys %ids, 4, '  with a page of its own for each viewer');
    my @html = map { my $id = $_->{page}->id; $_->{page}->html =~ s/\Q$id\E/ID/gr } @pages;
    is(scalar(grep { $_ eq $html[0] } @html), 4, '  and the same HTML otherwise');
    insert_row('logs', 'second', writer => 0);
    is(join(' ', $_->{page}->news =~ /\[(\w+)\]/g), 'second', 'each is live') for @pages;
}

# ---------------------------------------------------------------- a full folder
my $size = 300_000;
for my $round (1, 2) {
    my @answers = map { get("/kept/big?bytes=$size&n=$_&$shared") } 1 .. 8;
    is(scalar(grep { $_->{status} == 200 && length $_->{body} == $size } @answers), 8, "more than VaultCacheRootSize: all are answered, round $round");
}
my $bytes = 0;
$bytes += -s for glob_files();
cmp_ok($bytes, '<=', 1024 * 1024, '  and the files keep to the limit');
is((ask("/kept/big?bytes=$size&n=8&$shared"))[1], 1, '  which keeps the last ones');

# ---------------------------------------------------------------- full memory
my %wrong;
for my $n (map { ($_ % 400) + 1 } 1 .. 800) {
    my $text = "$n " . 'm' x 900;
    my $answer = get("/kept/echo?text=" . ($text =~ s/ /+/r) . "&$shared");
    $wrong{"$answer->{status} $answer->{body}"} = $n if $answer->{status} != 200 || $answer->{body} ne $text;
}
is_deeply(\%wrong, {}, 'more than VaultCacheMemory: all are answered, each with its own text');

# ---------------------------------------------------------------- no file can be written
chmod 0500, $root;
SKIP: {
    skip 'this user may write everywhere', 3 if -w $root;
    my @answers = map { ask("/kept/big?bytes=$size&unwritable=$_&$shared") } 1, 1, 2, 2;
    is(scalar(grep { ref && $_->{status} == 200 && length $_->{body} == $size } @answers), 4, 'without a place for files: all are answered');
    is(scalar(grep { !ref && $_ } @answers), 0, '  and none is kept');
    announce(qr{VLT00395: \d+ outputs were not kept: they cannot be written to VaultCacheRoot \Q$root\E});
    wait_until(sub { grep { /VLT00395/ } error_log_lines() }, 'the log says so');
    get("/kept/big?bytes=$size&unwritable=$_&$shared") for 1, 2;
    is(scalar(grep { /VLT00395/ } error_log_lines()), 1, '  once');
}
chmod 0700, $root;
ask("/kept/big?bytes=$size&n=writable&$shared");
is((ask("/kept/big?bytes=$size&n=writable&$shared"))[1], 1, 'when there is room again, they are kept');
use_server();
finish();
