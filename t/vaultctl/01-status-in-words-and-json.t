# SPDX-License-Identifier: Apache-2.0
# vaultctl status prints every figure of the server; --top goes on, with speeds; what cannot be asked exits with 2 and a sentence.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Vaultctl;

needs_vaultctl();
my $page = live_page(['/test/rows?name=v01&interest=v01']);
my $poll = $page->start_poll;
wait_waiting(1);

my $said = vaultctl('status');
is($said->{code}, 0, 'status') or diag($said->{err});
like($said->{out}, qr/^Pages +\d+ of 1000 \(\d+ %\)$/m, 'a room and how full it is');
like($said->{out}, qr/^Waiting +1$/m, 'the poll that waits');
for my $name (grep { !/^(?:Pages|Sessions|Interests|Heap|QosPasses|Outputs|OutputMemory|OutputFiles|Personal|Child|Qos\d|Feed\d)/ } sort keys %{status()}) {
    like($said->{out}, qr/^\Q$name\E +\d+$/m, "the figure $name");
}
like($said->{out}, qr/^Outputs +\d+ of \d+ \(\d+ %\)$/m, 'the output store');
like($said->{out}, qr/^\d+ +$_\b/m, "child $_") for children();
like($said->{out}, qr{^ +Limit +PerClient +Running +Queued .* VaultQosLimit\n(?: +\d.*\n)* +2 +2 +0 +0 .* \S+ /qos/two/$}m, 'a location with VaultQosLimit');

my $json = JSON::PP::decode_json(vaultctl('status', '--json')->{out});
is($json->{Waiting}, 1, 'JSON has the same');
is(scalar @{$json->{Children}}, scalar @{status_of_children()->{Children}}, '... of each child, too');

$said = vaultctl('status', '--cluster');
is($said->{code}, 1, 'status --cluster without a cluster');
like($said->{err}, qr/^vaultctl: this server belongs to no cluster: .*VaultCluster$/, '... says so');
is(vaultctl('status', '--cluster', '--top')->{code}, 2, '... and does not go together with --top');

# Two looks; between them something happens, so that the second shows a speed.
my $top = vaultctl_start('top', '-n', 2);
wait_until(sub { -s $top->{out} }, 'the first look');
text_of('/test/add?name=v01&notify=v01');
$said = vaultctl_end($top);
is($said->{code}, 0, 'top ends after so many looks');
is(() = $said->{out} =~ /^mod_vault at /mg, 2, '... with two screens');
unlike($said->{out}, qr/\033/, '... without the words of a terminal in a pipe');
like($said->{out}, qr{^Notifies +\d+ +\d+\.\d/s$}m, '... and a speed');
is(() = vaultctl('status', '--top', '-n', 1)->{out} =~ /^mod_vault at /mg, 1, 'status --top is the same');
$page->finish_poll($poll);

my $nowhere = 'http://127.0.0.1:' . VaultTest::port_of();
$said = vaultctl('status', '--url', "$nowhere/closed/");
is($said->{code}, 2, 'what is no mod_vault');
like($said->{err}, qr{^vaultctl: \Q$nowhere\E/closed/status\?json: \d+: }, '... is said with the URL and its status');
announce(qr{AH01630: client denied by server configuration});
$said = vaultctl('status', '--url', "$nowhere/denied");
is($said->{code}, 2, 'who may not');
like($said->{err}, qr{/denied/status\?json: 403: .*Require}, '... is told why');
$said = vaultctl('status', '--url', 'http://127.0.0.1:1/');
is($said->{code}, 2, 'where no server listens');
like($said->{err}, qr{^vaultctl: http://127\.0\.0\.1:1/status\?json: .*onnect}, '... it says so');

SKIP: {
    skip 'httpd has no basic authentication', 5 unless have_module('auth_basic') && have_module('authn_file');
    my @private = ('--url', "$nowhere/private/");
    announce(qr{AH01617: user anna: authentication failure});
    is(vaultctl('status', @private)->{code}, 2, 'where a user is needed');
    like(vaultctl('status', @private)->{err}, qr/401: .*--user/, '... it says so');
    is(vaultctl('status', @private, '--user', 'anna:wrong')->{code}, 2, 'a wrong password');
    is(vaultctl('status', @private, '-u', 'anna:secret')->{code}, 0, '--user logs in');
    my $file = vars('t_logs') . '/netrc';
    open my $netrc, '>', $file or die "$file: $!\n";
    print $netrc "machine 127.0.0.1 login anna password secret\n";
    close $netrc;
    is(vaultctl('status', @private, '--netrc-file', $file)->{code}, 0, '... and so does a netrc file');
}

finish();
