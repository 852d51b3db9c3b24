# SPDX-License-Identifier: Apache-2.0
# Vault-Stream in the answer, or <!--#vault stream="URL" -->, makes a live page whose HTML says itself who takes its updates: no script is put in.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;
use VaultTest::Page qw(vault_headers);
use VaultTest::Site;

# A page that shows what its application was told, as /test/said and the SSI below write it.
sub page_of
{
    my ($answer) = @_;
    my ($id) = $answer->{body} =~ /^Vault-New-Page: ([0-9a-f]{40})$/m or die "no id: $answer->{body}\n";
    return VaultTest::Page->of({page => $id, seq => 0});
}

my $METHOD = '/test/rows?name=c28%26interest=c28';
text_of('/test/set?name=c28&value=1');
for my $row (
    ['/test/said?type=text/html', "Vault-Stream:$METHOD", 'Vault-Stream'],
    ['/test/said?type=text/html', "Vault-Stream:$METHOD&header=Vault-Poll:/test/echo?text=more", 'Vault-Poll beside it'],
    ['/test/said?type=text/html', "Vault-Poll:/test/echo?text=more&header=Vault-Stream:$METHOD", 'the other way round'],
    ['/test/said?type=application/json', "Vault-Stream:$METHOD", 'an answer that is no HTML'],
    ['/test/said?type=text/html&header=Content-Encoding:br', "Vault-Stream:$METHOD", 'one that is compressed'],
) {
    my ($path, $headers, $why) = @$row;
    my $answer = get("$path&header=$headers");
    unlike($answer->{body}, qr/<script/, "$why: no script");
    is(vault_headers($answer), '', '... no header is left');
    is($answer->{headers}{'cache-control'}, 'private, no-store', '... no cache keeps it');
    my $stream = VaultTest::Events->open([page_of($answer)], html => 1);
    like($stream->html->{data}, qr/^(1\n|more)$/, '... and it lives');
    $stream->reset;
}
wait_waiting(0);

# SSI.
my $told = "\nVault-New-Page: <!--#echo var=\"HTTP_VAULT_NEW_PAGE\" -->\n";
site_file('/view/c28.shtml', qq(<!--#vault stream="$METHOD" -->$told) =~ s/%26/&/r);
my $ssi = get('/view/c28.shtml');
unlike($ssi->{body}, qr/<script/, 'the tag: no script');
my $stream = VaultTest::Events->open([page_of($ssi)], html => 1);
is($stream->html->{data}, "1\n", '... and it lives');
wait_waiting(1);
$stream->reset;
wait_waiting(0);

# Not a page; and what cannot be followed.
for my $more ('&fail=404', '&fail=204', '&fail=302') {
    my ($id) = get("/test/said?type=text/html&header=Vault-Stream:$METHOD$more")->{body} =~ /^Vault-New-Page: ([0-9a-f]{40})$/m;
    is(get('/vault/poll?seq=0&page=' . ($id // '0' x 40))->{status}, 410, "$more: no page");
}
tolerate(qr/VLT00064/);
is(vault_headers(get("/closed/said?header=Vault-Stream:$METHOD")), '', 'where VaultLongPoll is off it is taken out, too');
announce(qr/VLT00062: Vault-Stream: latest: it is not a path of this server/);
get('/test/said?header=Vault-Stream:latest');

finish();
