# SPDX-License-Identifier: Apache-2.0
# How a server proves who it is, besides a password: a token, an nkey, a JWT; and what the log says if an engine refuses that. Also an engine whose
# certificate has expired, and a server whose messages have another version. A server that is refused works alone.
use strict;
use warnings;
use IO::Socket::INET;
use VaultTest;
use VaultTest::Cluster;
use VaultTest::Nats;
use VaultTest::Nkey;
use VaultTest::Vaultctl;

plan skip_all => 'there is no nats-server, or its module was not built' unless has_cluster();

my $folder = vars('t_logs');
sub file { my ($name, $text) = @_; open my $file, '>', "$folder/$name" or die "$name: $!\n"; print $file $text; close $file; return "$folder/$name" }
sub openssl { system("openssl @_ >/dev/null 2>&1") == 0 or die "openssl @_\n" }

my ($user, $other, $operator, $account) = map { VaultTest::Nkey->make($_) } qw(user user operator account);
my %limits = map { $_ => -1 } qw(subs conn leaf imports exports data payload);
my $accounts = $operator->jwt($account, 'account', {limits => {%limits, wildcards => JSON::PP::true()}});
my %users = map { $_->public => $account->jwt($_, 'user', {subs => -1, data => -1, payload => -1}) } $user;
my $forged = $other->jwt($user, 'user', {subs => -1, data => -1, payload => -1});
sub credentials
{
    my ($name, $jwt) = @_;
    return file("$name.creds", "-----BEGIN NATS USER JWT-----\n$jwt\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n" . $user->seed . "\n------END USER NKEY SEED------\n");
}

# A certificate that was valid yesterday.
file('expired.cnf', "[ca]\ndefault_ca=d\n[d]\ndatabase=$folder/expired.db\nserial=$folder/expired.serial\nnew_certs_dir=$folder\ndefault_md=sha256\npolicy=p\ncopy_extensions=copy\n[p]\ncommonName=supplied\n");
file('expired.db', '');
file('expired.serial', "01\n");
openssl("req -new -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout $folder/expired-key.pem -out $folder/expired.csr");
openssl("ca -batch -selfsign -config $folder/expired.cnf -keyfile $folder/expired-key.pem -in $folder/expired.csr -startdate 20200101000000Z -enddate 20200102000000Z -out $folder/expired.pem");

my %nats = (
    token => VaultTest::Nats->start('token', config => "authorization { token: \"s3cret\" }\n"),
    nkey => VaultTest::Nats->start('nkey', config => "authorization { users: [ { nkey: @{[$user->public]} } ] }\n"),
    jwt => VaultTest::Nats->start('jwt', config => "operator: \"@{[$operator->jwt($operator, 'operator', {})]}\"\nresolver: MEMORY\n"
        . "resolver_preload: { @{[$account->public]}: \"$accounts\" }\n"),
    expired => VaultTest::Nats->start('expired', config => "tls { cert_file: \"$folder/expired.pem\", key_file: \"$folder/expired-key.pem\" }\n"),
);
my $seed = file('user.nk', $user->seed . "\n");
my $wrong = file('other.nk', $other->seed . "\n");

# [name, engine, user in the URL, directives, what the log must say]
my $refused = qr/VLT00494.*Authorization Violation/i;
my @rows = (
    ['token', 'token', 's3cret@', '', qr/VLT00493/],
    ['token-wrong', 'token', 'guess@', '', $refused],
    ['nkey', 'nkey', '', "VaultClusterNKey @{[$user->public]} $seed\n", qr/VLT00493/],
    ['nkey-wrong', 'nkey', '', "VaultClusterNKey @{[$other->public]} $wrong\n", $refused],
    ['jwt', 'jwt', '', "VaultClusterCredentials @{[credentials('right', $users{$user->public})]}\n", qr/VLT00493/],
    ['jwt-wrong', 'jwt', '', "VaultClusterCredentials @{[credentials('forged', $forged)]}\n", $refused],
    ['expired', 'expired', '', "VaultClusterCACertificateFile $folder/expired.pem\n", qr/VLT00494.*expired/],
);
tolerate(qr/VLT00494/);
my $module = qq(LoadModule vault_nats_module "@{[vars('top_dir')]}/modules/mod_vault_nats.so"\n);
my %servers;
for my $row (@rows) {
    my ($name, $engine, $who, $directives) = @$row;
    my $url = "nats://${who}127.0.0.1:$nats{$engine}{port}";
    $servers{$name} = VaultTest::Server->start("cluster-key-$name", config => "${module}VaultCluster $url\n$directives");
}
for my $row (@rows) {
    my ($name, $says) = @$row[0, 4];
    wait_said($servers{$name}, $says, 1, "$name: $says");
    ok(!said($servers{$name}, 's3cret|guess|' . $user->seed), "$name: as expected, and the log has no secret");
    is(on($servers{$name}, sub { get('/vault/status?auto')->{status} }), 200, '  the server works');
}

# A notify of vaultctl, to another server.
$servers{peer} = VaultTest::Server->start('cluster-key-peer', config => "${module}VaultCluster nats://s3cret\@127.0.0.1:$nats{token}{port}\n");
wait_said($servers{peer}, 'VLT00493', 1);
my ($page, $poll) = waiting_page($servers{peer}, 'ctl');
on($servers{peer}, sub { text_of('/test/add?name=ctl') });
SKIP: {
    skip 'vaultctl was not built', 1 unless -x vars('top_dir') . '/vaultctl';
    is(on($servers{token}, sub { vaultctl('notify', 'ctl')->{code} }), 0, 'vaultctl notifies');
}
notify_on($servers{token}, 'ctl') unless -x vars('top_dir') . '/vaultctl';
is_told($servers{peer}, $page, $poll, "2\n", 'a page of another server is told');

# A server of a later version.
my $beat = '{"version": 99, "server": "later", "ring": "0"}';
my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $nats{token}{port}) or die "no connection: $!\n";
print $socket qq(CONNECT {"verbose":false,"auth_token":"s3cret"}\r\nPUB vault.beat @{[length $beat]}\r\n$beat\r\nPING\r\n);
announce(qr/VLT00497: server later .*another version/);
wait_said($servers{token}, 'VLT00497: server later', 1, 'the log names a server of another version');
is(on($servers{token}, sub { get('/vault/status?auto')->{status} }), 200, 'a server of another version is named, and this one works');
use_server($servers{token});
finish();
