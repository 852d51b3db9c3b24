# SPDX-License-Identifier: Apache-2.0
# Without the output store, or with a bundle that is too large for it, files are joined for each request, and no command runs for each.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

my $dir = vars('t_logs') . '/unkept';
mkdir $dir or -d $dir or die "$dir: $!\n";
unlink "$dir/runs";
open my $tool, '>', "$dir/tool" or die "$dir/tool: $!\n";
print $tool "#!/bin/sh\necho run >>'$dir/runs'\nexec tr -d '\\n'\n";
close $tool;
chmod 0755, "$dir/tool";
sub runs { open my $file, '<', "$dir/runs" or return 0; my @lines = readline $file; return scalar @lines }

site_file('/unkept/small.css', "a {\n}\n");
site_file('/unkept/large.css', join '', map { "rule-$_ {\n}\n" } 1 .. 1000);
site_file('/unkept/page.shtml', '<!--#vault bundle="/unkept.css" -->');
sub config
{
    my ($file) = @_;
    return <<"END";
VaultBundle /unkept.css unkept/$file.css
VaultBundleFilter css "$dir/tool"
<Directory "@{[vars('documentroot')]}">
    Require all granted
    Options +Includes
    AddOutputFilter INCLUDES .shtml
</Directory>
END
}

# ---------------------------------------------------------------- no store
use_server(VaultTest::Server->start('bundle-no-store', config => "VaultCacheMemory 0\n" . config('small')));
is(scalar(grep { /VLT00415: / } error_log_lines()), 1, 'the start says that nothing is minified');
my $answer = get(text_of('/unkept/page.shtml'));
is("$answer->{status} $answer->{body}", "200 a {\n}\n", 'the files are joined');
is($answer->{headers}{'cache-control'}, 'max-age=60', '  for a minute');
is(get('/unkept.css', headers => {'If-None-Match' => $answer->{headers}{etag}})->{status}, 304, '  with an ETag');
is(runs(), 0, 'the command does not run');

# ---------------------------------------------------------------- too large
use_server(VaultTest::Server->start('bundle-too-large', config => "VaultCacheMemoryMax 4K\n" . config('large')));
announce(qr{VLT00440: VaultBundle /unkept\.css: its files have \d+ bytes: unless a command makes them smaller than VaultCacheMemoryMax 4K, });
is(scalar(grep { /VLT00440: / } error_log_lines()), 1, 'the start says that a folder is missing');
announce(qr{VLT00416: VaultBundle /unkept\.css: the output store has no room for its \d+ bytes: });
my $url = text_of('/unkept/page.shtml');
my $first = get($url);
is($first->{headers}{'cache-control'}, 'max-age=31536000, immutable', 'the first request of a bundle that is too large has what the command makes');
my @others = map { get($url) } 1 .. 5;
is(scalar(grep { $_->{body} eq read_file(site_path('/unkept/large.css')) } @others), 5, 'the others have the joined files');
is(scalar(grep { $_->{headers}{'cache-control'} eq 'max-age=60' } @others), 5, '  for a minute');
is(runs(), 1, '  and the command does not run for them');
is(scalar(grep { /VLT00416/ } error_log_lines()), 1, '  and the log says so once');

# ---------------------------------------------------------------- too large for memory, in a file
mkdir "$dir/root" or -d "$dir/root" or die "$dir/root: $!\n";
unlink "$dir/runs";
use_server(VaultTest::Server->start('bundle-in-a-file', config => qq(VaultCacheMemoryMax 4K\nVaultCacheRoot "$dir/root"\n) . config('large')));
@others = map { get($url) } 1 .. 5;
is(scalar(grep { $_->{body} eq $first->{body} && $_->{headers}{'cache-control'} =~ /immutable/ } @others), 5, 'with VaultCacheRoot all have what the command makes');
is(runs(), 1, '  which has run once');
finish();
