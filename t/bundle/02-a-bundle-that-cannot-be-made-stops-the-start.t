# SPDX-License-Identifier: Apache-2.0
# A wrong URL, kind, file or command stops the start with a sentence; httpd -t says it, too.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;
use VaultTest::Site;

site_file('/conf/a.css', "a { color: red }\n");
site_file('/conf/b.css', "b { color: red }\n");
site_file('/conf/import.css', "/* a comment */\n\@layer x, y;\n\@import url(c.css);\n");
site_file('/conf/late.css', "\@layer x { a { color: red } }\n\@import url(c.css);\n");
site_file('/conf/namespace.css', "\@NAMESPACE url(http://www.w3.org/2000/svg);\n");
site_file('/conf/latin1.css', "\@charset \"iso-8859-1\";\n");
site_file('/conf/bytes.css', "a { content: '\xe9' }\n");
site_file('/conf/a.js', "let a\n");
my $root = vars('documentroot');

# says(LINES, SENTENCE, why): httpd -t prints a line with the sentence, and fails
sub says
{
    my ($lines, $sentence, $why) = @_;
    my ($code, $said) = checks($lines);
    return ok($code == 1 && $said =~ /VLT00410: \Q$sentence\E/ && $said !~ /Syntax OK/, $why) || diag("exit code $code: $said");
}

accepts("VaultBundle /site.css conf/a.css conf/b.css\nVaultBundle /x/app-1.2_3.min.js \"$root/conf/a.js\"\n", 'bundles');
accepts("VaultBundle /site.css conf/import.css conf/a.css\n", 'the first file may import others');
accepts("VaultBundle /site.css conf/a.css conf/late.css\n", 'an @import after rules is nothing that a bundle changes');
accepts("VaultBundle /site.css conf/a.css\n<VirtualHost *:80>\n    VaultBundle /site.css conf/b.css\n</VirtualHost>\n", 'a virtual host has its own');
refuses("<Location /x>\n    VaultBundle /site.css conf/a.css\n</Location>\n", qr/^VaultBundle not allowed (?:here|in <Location>)/, 'not in a location');

my $urls = 'a URL path of letters, digits and "/._~-" is accepted that begins with a slash and ends with .css, .js or .html';
for my $url ('site.css', '/site.txt', '/site', '/.css', '/css', '//site.css', '/a b.css', '/a/../site.css', '/./site.css', '/site.css?x', '/s%20.css', 'http://x/site.css') {
    refuses("VaultBundle \"$url\" conf/a.css\n", "VaultBundle $url: $urls", "the URL $url");
}
refuses("VaultBundle /site.css\n", 'VaultBundle: the URL of a bundle is needed, and then its files', 'no files');
refuses("VaultBundle /site.css conf/a.css\nVaultBundle /site.css conf/b.css\n", 'VaultBundle /site.css: there is a bundle of that URL already', 'twice');

says("VaultBundle /site.css conf/a.css conf/none.css\n", "VaultBundle /site.css: $root/conf/none.css: No such file or directory", 'a file that is missing');
says("VaultBundle /site.css conf\n", "VaultBundle /site.css: $root/conf: it is not a file", 'a folder');
says("VaultBundle /site.css ../x.css\n", 'VaultBundle /site.css: ../x.css: a relative path must lie in the DocumentRoot', 'a path that leaves the DocumentRoot');
says("VaultBundle /site.css conf/../../x.css\n", 'VaultBundle /site.css: conf/../../x.css: a relative path must lie in the DocumentRoot', '  on a detour');
my $first = 'only the first file of a bundle may begin with @import or @namespace: browsers ignore them after other rules';
says("VaultBundle /site.css conf/a.css conf/$_.css\n", "VaultBundle /site.css: $root/conf/$_.css: $first", "$_ after rules") for qw(import namespace);
says("VaultBundle /site.css conf/latin1.css\n",
    "VaultBundle /site.css: $root/conf/latin1.css: only UTF-8 is accepted in a bundle, and its \@charset says something else", 'another @charset');
says("VaultBundle /site.css conf/bytes.css\n", "VaultBundle /site.css: $root/conf/bytes.css: it is not UTF-8", 'another encoding');

accepts("VaultBundleFilter css cat\nVaultBundleFilter js \"/bin/cat -u\"\nVaultBundleFilter html Off\nVaultBundleTimeout 1\n", 'commands');
refuses("VaultBundleFilter txt cat\n", 'VaultBundleFilter txt: css, js or html is accepted, and then a command or Off', 'another kind');
my $programs = 'the name of a program in PATH is accepted, or its absolute path';
refuses("VaultBundleFilter css \"no-such-tool --minify\"\n", qq(VaultBundleFilter css "no-such-tool --minify": there is no program "no-such-tool"; $programs), 'a program that there is not');
refuses("VaultBundleFilter css ./cat\n", qq(VaultBundleFilter css "./cat": there is no program "./cat"; $programs), 'a relative path');
refuses("VaultBundleFilter css \"$root/conf/a.js\"\n", qq(there is no program "$root/conf/a.js"), 'a file that is no program');
refuses("VaultBundleFilter css \" \"\n", 'VaultBundleFilter css " ": a command is needed', 'an empty command');
refuses("VaultBundleTimeout $_\n", "VaultBundleTimeout $_: a whole number from 1 to 60 is accepted", "VaultBundleTimeout $_") for 0, 61, 'soon';

finish();
