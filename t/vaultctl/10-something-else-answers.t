# SPDX-License-Identifier: Apache-2.0
# Where the <Location>s of vault.conf are not, or an application takes their URLs over, vaultctl says that something else answered.
use strict;
use warnings;
use VaultTest;
use VaultTest::Vaultctl;

needs_vaultctl();
my $root = vars('t_logs') . '/taken-over';
mkdir $root;
open my $file, '>', "$root/index.html" or die "$root/index.html: $!\n";
print $file '<!doctype html><title>The application</title>';
close $file or die "$root/index.html: $!\n";
use_server(VaultTest::Server->start(
    'taken-over',
    config => qq(<VirtualHost *:*>\nServerName localhost\nDocumentRoot "$root"\nRewriteEngine On\nRewriteRule ^/taken/ /index.html\n)
        . qq(<Directory "$root">\nRequire all granted\n</Directory>\n</VirtualHost>\n)
));

my $base = 'http://127.0.0.1:' . VaultTest::port_of();
for my $row (
    ['absent', 404, qr/something else than mod_vault answered; are the <Location>s of vault\.conf below this --url, and does no rewrite rule/],
    ['taken', 200, qr/this is not what mod_vault answers; does --url name its VaultPath, and does no rewrite rule/],
) {
    my ($path, $status, $sentence) = @$row;
    for my $command ('status', 'pages', 'check') {
        my $said = vaultctl($command, '--url', "$base/$path/");
        is($said->{code}, 2, "$command below /$path/: exit code");
        like($said->{err}, qr{^vaultctl: \Q$base/$path/\Estatus\S*: $status: $sentence[^\n]*\n$}, '... and a sentence');
        is($said->{out}, '', '... and nothing else');
    }
}

finish();
