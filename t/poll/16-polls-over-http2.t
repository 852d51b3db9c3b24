# SPDX-License-Identifier: Apache-2.0
# A poll on a stream of HTTP/2 waits in a thread, and is answered.
use strict;
use warnings;
use POSIX ();
use VaultTest;

my $curl = `curl --version 2>/dev/null` || '';
if ($curl !~ /HTTP2/ || !Apache::Test::have_module('http2')) {
    plan(skip_all => 'mod_http2, or a curl that speaks HTTP/2, is not there');
}

# curl with prior knowledge; a handle to read its output from.
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

my $page = live_page(['/test/rows?name=w16&interest=w16']);
my $n = 0;
for (1 .. 3) {
    my $poll = curl($page->path);
    wait_waiting(1);
    is(status()->{WaitingInThreads}, 1, 'a poll on a stream waits in a thread');
    text_of('/test/add?name=w16&notify=w16');
    $n++;
    my $text = result($poll);
    like($text, qr/"body":"$n\\n"\}\]\}\[2 200\]$/, '  and is answered, over HTTP/2');
    $page->{seq} = $1 if $text =~ /"seq":(\d+)/;
}

my $gone = curl($page->path);
wait_waiting(1);
kill KILL => $gone->{pid};
result($gone);
text_of('/test/add?name=w16&notify=w16');
wait_waiting(0);
my $next = curl($page->path);
like(result($next), qr/"body":"4\\n"/, 'a client that went away has taken nothing');
is(status()->{WaitingInThreads}, 0, 'no thread is held any more');

finish();
