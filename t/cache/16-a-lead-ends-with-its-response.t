# SPDX-License-Identifier: Apache-2.0
# The lead of a request also ends if the request fails, even while a slow client reads the text of the error, or if it is redirected
# internally. From then on other requests do not wait for it.
use strict;
use warnings;
use VaultTest;

needs_parking();

my $WORD = 'sorry.' x 1000;
my $TEXT = '%{HTTP:X-Word}' x 400;    # more than the buffers between server and client take
my $CONFIG = <<"END";
SendBufferSize 65536
<Location "/kept/">
    SetHandler vault-test
    VaultCache On
</Location>
<Location "/kept/elsewhere/">
    ErrorDocument 503 /test/wait?before=c16-elsewhere
</Location>
<Location "/kept/here/">
    ErrorDocument 503 "$TEXT"
</Location>
END
use_server(VaultTest::Server->start('ends', config => $CONFIG, size => "ThreadLimit 8\nThreadsPerChild 8\nStartServers 1\nServerLimit 8\nMaxRequestWorkers 64\n"));

# The path of a response that is known to be shared, so that others would wait for it, and that fails from now on.
sub failing
{
    my ($where, $ends) = @_;
    my $name = "c16-$where";
    my $path = "/kept/$where/value?name=$name&$ends&header=Vault-Shared:yes&header=Vault-Interest:$name";
    text_of("/test/set?name=$name-status&value=0");
    text_of("/test/set?name=$name&value=old");
    my $before = status()->{Cached};
    get($path) for 1 .. 3;
    cmp_ok(status()->{Cached}, '>', $before, "$where: the response is kept, as long as there is one");
    text_of("/test/set?name=$name-status&value=503&notify=$name");
    return $path;
}

sub ask
{
    my ($path, $headers) = @_;
    my $connection = connect_to();
    $connection->request(GET => $path, $headers || {});
    return $connection;
}

my $path = failing('elsewhere', 'fail-as=c16-elsewhere-status');
my $waits = status()->{OutputWaits};
text_of('/test/close?name=c16-elsewhere');
my $first = ask($path);
wait_arrived('c16-elsewhere', 1);
my $second = ask($path);
wait_arrived('c16-elsewhere', 2);
is(status()->{OutputWaits} - $waits, 0, 'another request answers in the place of the one that failed: none waits for it');
open_barrier('c16-elsewhere');
is($_->response->{status}, 503, '... and each has its answer') for $first, $second;

$path = failing('here', 'fail-as=c16-here-status');
$waits = status()->{OutputWaits};
$first = ask($path, {'X-Word' => $WORD});    # and does not read
wait_until(sub { !$first->is_silent }, 'the text of the error is being sent');
my $answer = get($path, headers => {'X-Word' => $WORD});
is("$answer->{status} " . length $answer->{body}, '503 ' . 400 * length($WORD), 'one client reads the text of an error slowly, another one has its own');
is(status()->{OutputWaits} - $waits, 0, '... without waiting for the first');
is($first->response->{status}, 503, '... which has its own in the end');

use_server();
finish();
