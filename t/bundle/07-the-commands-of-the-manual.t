# SPDX-License-Identifier: Apache-2.0
# Each command that docs/bundles.md names for VaultBundleFilter makes bundles shorter, and they work as before.
use strict;
use warnings;
use IPC::Open2 qw(open2);
use VaultTest;
use VaultTest::Site;

site_file('/manual/a.css', "body {\n    color: #ff0000;\n}\n");
site_file('/manual/b.css', "/* a comment */\n.late > a { margin: 0px 0px }\n");
site_file('/manual/a.js', "// a comment\nvar total = 0\nfunction addTwo(number) {\n    total += number + 2\n    return total\n}");
site_file('/manual/b.js', "(function () {\n    addTwo(3)\n})()\n");
site_file('/manual/a.html', "<!-- a comment -->\n<p>\n    one   <b>two</b>\n</p>\n");
site_file('/manual/b.html', "<ul>\n    <li>three</li>\n</ul>\n");
my %shows = (css => qr/^body\{color:red\}\.late>a\{margin:0(?: 0)?\}\s*$/, html => qr{^<p>one <b>two</b></p><ul><li>three</li></ul>\s*$});

my %commands;    # by program: of each kind
my $manual = read_file(vars('top_dir') . '/docs/bundles.md');
push @{$commands{$2}}, [$1, "$2$3"] while $manual =~ /^VaultBundleFilter (css|js|html) +"(\w+)([^"]*)"$/mg;
is_deeply([map { "$_ " . @{$commands{$_}} } sort keys %commands], ['esbuild 2', 'minify 3'], 'the manual has commands');

for my $program (sort keys %commands) {
    SKIP: {
        skip "$program is not installed", 1 unless grep { -x "$_/$program" } split /:/, $ENV{PATH};
        my @rows = @{$commands{$program}};
        use_server(VaultTest::Server->start("manual-$program", config => join '', map { <<"END" } @rows));
VaultBundle /manual/all.$_->[0] manual/a.$_->[0] manual/b.$_->[0]
VaultBundleFilter $_->[0] "$_->[1]"
END
        for my $row (@rows) {
            my ($kind, $command) = @$row;
            my $text = text_of("/manual/all.$kind");
            cmp_ok(length $text, '<', 0.9 * ((-s site_path("/manual/a.$kind")) + (-s site_path("/manual/b.$kind"))), "$command: shorter");
            like($text, $shows{$kind}, '  and the same') if $shows{$kind};
        }
        my $script = text_of('/manual/all.js');
        my $page = 'require("vm").runInThisContext(require("fs").readFileSync(0, "utf8")); process.stdout.write(String(addTwo(1)) + " " + total)';
        my $pid = open2(my $out, my $in, 'node', '-e', $page);
        print $in $script;
        close $in;
        is(do { local $/; readline $out }, '8 8', '  a page can use the global names of the scripts');
        waitpid $pid, 0;
    }
}
finish();
