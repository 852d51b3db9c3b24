# SPDX-License-Identifier: Apache-2.0
# A client requests a page and does not read the response: other clients get the kept page nevertheless.
use strict;
use warnings;
use VaultTest;

use constant SIZE => 6_000_000;    # more than the buffers of a connection hold

my $root = vars('t_logs') . '/kept-files';
mkdir $root or die "$root: $!\n";
use_server(VaultTest::Server->start('slow', config => <<"END"));
VaultCacheRoot "$root"
<Location "/slow/">
    SetHandler vault-test
    VaultCache On
</Location>
END

my $PATH = '/slow/big?bytes=' . SIZE . '&early-header=Vault-Shared:yes&early-header=Cache-Control:max-age=1000';
my $before = status()->{Cached};
my $slow = connect_to();
$slow->request(GET => $PATH);
$slow->read_bytes(100);
my $answer = get($PATH);
is($answer->{status}, 200, 'another client is answered');
is(length $answer->{body}, SIZE, '... with all of it');
is(status()->{Cached} - $before, 1, '... from the store');
$slow->close;
use_server();
finish();
