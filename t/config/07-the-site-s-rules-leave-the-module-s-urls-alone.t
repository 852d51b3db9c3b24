# SPDX-License-Identifier: Apache-2.0
# With conf/vault.conf alone, the module's URLs stay its own where the site sends all URLs to an application: by the .htaccess file of WordPress,
# by FallbackResource, by ProxyPass "/".
use strict;
use warnings;
use VaultTest;
use VaultTest::Application;

my $top = vars('top_dir');
my $raw = VaultTest::Application->raw;
my $root = vars('t_logs') . '/everything';
my %sites = (
    'rewritten.test' => [".htaccess", "RewriteEngine On\nRewriteBase /\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteRule . /index.html [L]\n"],
    'fallback.test' => [".htaccess", "FallbackResource /index.html\n"],
    'proxied.test' => [undef, '', qq(ProxyPass "/" "http://127.0.0.1:$raw->{port}/"\n)],
    'ruled.test' => [undef, '', "RewriteEngine On\nRewriteCond %{REQUEST_URI} !^/vault/\nRewriteRule ^ /index.html [L]\n"],
);

sub write_file
{
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return;
}

mkdir $root;
my $config = qq(LoadModule vault_module "$top/modules/mod_vault.so"\nAlias "/vault/vault.js" "$top/vault.js"\nInclude "$top/vault.conf"\n)
    . qq(<Directory "$top">\nRequire all granted\n</Directory>\n);
for my $name (sort keys %sites) {
    my ($file, $text, $rules) = @{$sites{$name}};
    mkdir "$root/$name";
    write_file("$root/$name/index.html", 'the application');
    write_file("$root/$name/$file", $text) if $file;
    $config .= qq(<VirtualHost *:*>\nServerName $name\nDocumentRoot "$root/$name"\n<Directory "$root/$name">\nAllowOverride All\nRequire all granted\n</Directory>\n)
        . ($rules // '') . "</VirtualHost>\n";
}
announce(qr{AH00671: The Alias directive in \S+/vault\.conf});    # the test's own comes first
use_server(VaultTest::Server->start('everything', without_vault => 1, config => $config));

my $application = $raw->path_for("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\nthe application");
for my $name (sort keys %sites) {
    my @host = (headers => {Host => $name});
    is(text_of($name eq 'proxied.test' ? $application : '/any/thing', @host), 'the application', "$name: any other URL is the application's");
    is(get('/vault/poll?page=x&seq=0', @host)->{status}, 410, "$name: polls are not");
    like(text_of('/vault/status?auto', @host), qr/^Waiting: 0$/m, "$name: nor is the status");
    is(get('/vault/feed/a/b', @host)->{status}, 404, "$name: nor are feeds");
    is(post('/vault/page', 'add=x', @host)->{status}, 400, "$name: nor are pages");
    like(text_of('/vault/vault.js', @host), qr/The browser side of mod_vault/, "$name: nor is the client");
}

finish();
