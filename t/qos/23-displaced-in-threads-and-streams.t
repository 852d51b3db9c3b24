# SPDX-License-Identifier: Apache-2.0
# A request that waits in a thread, or as a stream of HTTP/2, is displaced and answered at once as any other.
use strict;
use warnings;
use POSIX ();
use VaultTest;
use VaultTest::Gate;

my $config = qq(VaultLongPollThreads 2\n<Location "/limited/">\nSetHandler vault-test\nVaultQosLimit 1\nVaultQosTimeout 120\nVaultQosQueue 1\n)
    . "VaultQosPriority %{HTTP:X-Rank}\n</Location>\n";
for my $mpm (qw(prefork worker)) {
    next unless VaultTest::Server::has_mpm($mpm);
    use_server(VaultTest::Server->start("displaced-$mpm", mpm => $mpm, config => $config));
    my $first = held('/limited/', "q23-$mpm");
    wait_gate('/limited/', Running => 1);
    my @queued;
    for my $rank (1 .. 3) {
        my $connection = connect_to();
        $connection->request(GET => "/limited/add?name=q23-$mpm", {'X-Rank' => $rank});
        push @queued, $connection;
        if ($rank > 1) {
            my $answer = $queued[$rank - 2]->response;
            is($answer->{status}, 503, "$mpm: rank $rank displaces the one before");
            like($answer->{headers}{'retry-after'}, qr/^\d+$/, '  with Retry-After');
        }
        wait_gate('/limited/', Running => 1, Queued => 1, Displaced => $rank - 1);
    }
    open_barrier("q23-$mpm");
    is($first->response->{status}, 200, '  the first is answered');
    is($queued[2]->response->{body}, 1, '  and the last');
    wait_gate('/limited/', Running => 0, Queued => 0);
    use_server();
}

my $curl = `curl --version 2>/dev/null` || '';
if ($curl =~ /HTTP2/ && have_module('http2')) {
    my $first = held('/qos/h2full/', 'q23-h2', vhost => 'vault_h2');
    wait_gate('/qos/h2full/', Running => 1);
    my $stream = curl('/qos/h2full/add?name=q23-h2', 0);
    wait_gate('/qos/h2full/', Queued => 1);
    my $plain = connect_to();
    $plain->request(GET => '/qos/h2full/add?name=q23-h2', {'X-Rank' => 1});
    like(result($stream), qr/\[2 503\]$/, 'a stream is displaced by a request of HTTP/1.1');
    wait_gate('/qos/h2full/', Running => 1, Queued => 1);
    $stream = curl('/qos/h2full/add?name=q23-h2', 2);
    is($plain->response->{status}, 503, '  which is displaced by another stream');
    open_barrier('q23-h2');
    is($first->response->{status}, 200, '  the first is answered');
    like(result($stream), qr/\[2 200\]$/, '  and the stream');
    wait_gate('/qos/h2full/', Running => 0, Queued => 0);
}

sub curl
{
    my ($path, $rank) = @_;
    my $url = 'http://localhost:' . port_of('vault_h2') . $path;
    my $pid = open(my $output, '-|') // die "fork: $!\n";
    if (!$pid) {
        exec 'curl', '-s', '--http2-prior-knowledge', '--max-time', PATIENCE(), '-w', '[%{http_version} %{http_code}]', '-H', "X-Rank: $rank", $url
            or POSIX::_exit(1);
    }
    return $output;
}

sub result
{
    my ($output) = @_;
    local $/;
    my $text = readline $output;
    close $output;
    return $text;
}

tolerate(qr/VLT00300: \S+ waited for /);    # once a second at most
finish();
