# SPDX-License-Identifier: Apache-2.0
# A client that asks for a page and does not read it has rendered it for the others all the same.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

use constant SIZE => 6_000_000;    # more than the buffers of a connection hold

my $root = vars('t_logs') . '/kept-files';
mkdir $root or die "$root: $!\n";
my $folder = site_path('/slow');
site_file('/slow/large.html', 'x' x SIZE);
site_file('/slow/page.shtml', '<!--#include virtual="large.html" -->');
use_server(VaultTest::Server->start('slow', config => <<"END"));
VaultCacheRoot "$root"
<Directory "$folder">
    Options +Includes
    AddType text/html .shtml .html
    AddOutputFilter INCLUDES .shtml
    VaultCache On
</Directory>
END

my $before = status()->{Cached};
my $slow = connect_to();
$slow->request(GET => '/slow/page.shtml');
$slow->read_bytes(100);
my $answer = get('/slow/page.shtml');
is($answer->{status}, 200, 'another client is answered');
is(length $answer->{body}, SIZE, '... with all of it');
is(status()->{Cached} - $before, 1, '... from the store');
$slow->close;
use_server();
finish();
