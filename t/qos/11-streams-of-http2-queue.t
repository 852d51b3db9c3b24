# SPDX-License-Identifier: Apache-2.0
# A stream of HTTP/2 that queues waits in a thread, and is handled in its turn.
use strict;
use warnings;
use POSIX ();
use VaultTest;
use VaultTest::Gate;

my $curl = `curl --version 2>/dev/null` || '';
if ($curl !~ /HTTP2/ || !have_module('http2')) {
    plan(skip_all => 'mod_http2, or a curl that speaks HTTP/2, is not there');
}

sub curl
{
    my ($path) = @_;
    my $url = 'http://localhost:' . port_of('vault_h2') . $path;
    my $pid = open(my $output, '-|') // die "fork: $!\n";
    if (!$pid) {
        exec 'curl', '-s', '--http2-prior-knowledge', '--max-time', PATIENCE(), '-w', '[%{http_version} %{http_code}]', $url
            or POSIX::_exit(1);
    }
    return {pid => $pid, output => $output};
}

sub result
{
    my ($curl) = @_;
    local $/;
    my $text = readline $curl->{output};
    close $curl->{output};
    return $text;
}

my $first = curl('/qos/h2/pid?before=q11');
wait_gate('/qos/h2/', Running => 1);
my $second = curl('/qos/h2/add?name=q11');
wait_gate('/qos/h2/', Queued => 1);
my $third = held('/qos/h2/', 'q11-third', vhost => 'vault_h2');
wait_gate('/qos/h2/', Queued => 2);
my $gone = curl('/qos/h2/add?name=q11');
wait_gate('/qos/h2/', Queued => 3);
kill KILL => $gone->{pid};
result($gone);
wait_gate('/qos/h2/', Queued => 2);
pass('a client that is killed frees its place');
open_barrier('q11');
like(result($first), qr/\[2 200\]$/, 'the first stream');
is(result($second), '1[2 200]', 'then the second');
wait_arrived('q11-third', 1);
pass('then one of HTTP/1.1');
open_barrier('q11-third');
is($third->response->{status}, 200, '  which is answered');
wait_gate('/qos/h2/', Running => 0, Queued => 0);

finish();
