# SPDX-License-Identifier: Apache-2.0
# Users of nats-server who prove who they are by an Ed25519 key: nkeys, and JWTs that are signed by them. The program `openssl` makes the keys.
#
#     my $key = VaultTest::Nkey->make('user');      # or 'account', 'operator'
#     $key->public, $key->seed                      # as texts: U…, SU…
#     $operator->jwt($account, 'account', {…})      # a token about $account, signed by $operator
package VaultTest::Nkey;
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);
use VaultTest;

my %kinds = (user => 20 << 3, account => 0, operator => 14 << 3);
my $made = 0;

sub make
{
    my ($class, $kind) = @_;
    my $file = sprintf '%s/nkey-%d-%d.pem', vars('t_logs'), $$, ++$made;
    _run("openssl genpkey -algorithm ed25519 -out $file");
    return bless {
        file => $file, kind => $kind,
        private => substr(_run("openssl pkey -in $file -outform DER"), -32),
        key => substr(_run("openssl pkey -in $file -pubout -outform DER"), -32),
    }, $class;
}

sub _run { my ($command) = @_; my $out = `$command 2>/dev/null`; die "$command\n" if $?; return $out }

# RFC 4648, without padding
sub _base32
{
    my $bits = unpack 'B*', $_[0];
    $bits .= '0' x (-length($bits) % 5);
    return join '', map { ('A' .. 'Z', 2 .. 7)[oct "0b$_"] } $bits =~ /(.{5})/g;
}

# The check sum of XMODEM, with its lower byte first
sub _checked
{
    my ($bytes) = @_;
    my $crc = 0;
    for my $byte (unpack 'C*', $bytes) {
        $crc ^= $byte << 8;
        $crc = ($crc << 1 ^ ($crc & 0x8000 ? 0x1021 : 0)) & 0xffff for 1 .. 8;
    }
    return _base32($bytes . pack 'v', $crc);
}

sub public { my ($self) = @_; return _checked(chr($kinds{$self->{kind}}) . $self->{key}) }

sub seed
{
    my ($self) = @_;
    my $kind = $kinds{$self->{kind}};
    return _checked(chr(18 << 3 | $kind >> 5) . chr(($kind & 31) << 3) . $self->{private});
}

sub jwt
{
    my ($self, $subject, $type, $claims) = @_;
    my $json = JSON::PP->new->canonical;
    my $text = join '.', map { encode_base64url($json->encode($_)) } {typ => 'JWT', alg => 'ed25519-nkey'},
        {jti => 'test', iat => time, iss => $self->public, sub => $subject->public, name => $type, nats => {type => $type, version => 2, %$claims}};
    open my $file, '>', "$self->{file}.text" or die "$self->{file}.text: $!\n";
    print $file $text;
    close $file;
    return "$text." . encode_base64url(_run("openssl pkeyutl -sign -inkey $self->{file} -rawin -in $self->{file}.text"));
}

1;
