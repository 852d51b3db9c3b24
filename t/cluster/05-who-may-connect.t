# SPDX-License-Identifier: Apache-2.0
# A password, TLS, namespaces, and what the configuration gets wrong. A server that may not connect works alone.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;
use VaultTest::Nats;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $folder = vars('t_logs');
sub openssl { system("openssl @_ >/dev/null 2>&1") == 0 or die "openssl @_\n" }
openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout $folder/nats-key.pem -out $folder/nats-cert.pem");
openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -keyout $folder/nats-other-key.pem -out $folder/nats-other.pem");

my $password = VaultTest::Nats->start('password', config => "authorization { user: vault, password: secret }\n");
my $tls = VaultTest::Nats->start('tls', config => "tls { cert_file: \"$folder/nats-cert.pem\", key_file: \"$folder/nats-key.pem\" }\n");

# [name, URL, directives, what the log must say]
my $module = qq(LoadModule vault_nats_module "@{[vars('top_dir')]}/modules/mod_vault_nats.so"\n);
my @rows = (
    ['right', "nats://vault:secret\@127.0.0.1:$password->{port}", '', qr/VLT00493.* 127\.0\.0\.1:$password->{port}:/],
    ['wrong', "nats://vault:guess\@127.0.0.1:$password->{port}", '', qr/VLT00494.*Authorization Violation/i],
    ['none', "nats://127.0.0.1:$password->{port}", '', qr/VLT00494.*Authorization Violation/i],
    ['tls', "nats://127.0.0.1:$tls->{port}", "VaultClusterCACertificateFile $folder/nats-cert.pem\n", qr/VLT00493/],
    ['stranger', "nats://127.0.0.1:$tls->{port}", "VaultClusterCACertificateFile $folder/nats-other.pem\n", qr/VLT00494.*(?:SSL|certificate)/i],
);
announce(qr/VLT00494/);
for my $row (@rows) {
    my ($name, $url, $directives, $says) = @$row;
    my $server = use_server(VaultTest::Server->start("cluster-who-$name", config => "${module}VaultCluster $url\n$directives"));
    wait_until(sub { grep { $_ =~ $says } $server->lines }, "$name: $says");
    ok(!grep({ /secret|guess/ } $server->lines), "$name: as expected, and the log has no password");
    is(get('/vault/status?auto')->{status}, 200, '  the server works');
}
use_server();

refuses("VaultCluster nats:/x\n", qr{VaultCluster nats:/x: URLs of notification engines are accepted}, 'no host');
refuses("VaultCluster nats://a:1 tls://b:1\n", qr/VaultCluster tls:\/\/b:1: .*one scheme/, 'two schemes');
refuses("VaultCluster nats://a nats://a:4222\n", qr/each once/, 'an engine twice');
refuses("VaultCluster nats://a/b\n", qr/URLs of notification engines/, 'a path');
refuses("VaultCluster nats://vault:secret\@a/b\n", qr{VaultCluster nats://\*\*\*\@a/b: URLs of notification engines}, 'a path, and a password that is not shown');
refuses("VaultClusterNamespace a.b\n", qr/VaultClusterNamespace a\.b: 1 to 40 letters, digits/, 'a namespace with a dot');
refuses("VaultClusterCredentials /no/such\n", qr{VaultClusterCredentials /no/such: a file is accepted that exists}, 'no file');
starts_not("VaultCluster nats://a:4222\n", qr/VLT00492: VaultCluster nats:\/\/a:4222: no module is loaded for nats:\/\//, 'no module');
finish();
