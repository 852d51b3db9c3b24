# SPDX-License-Identifier: Apache-2.0
# Request headers that tell an application of a page are taken from what browsers send, in every spelling that could be mistaken for them.
use strict;
use warnings;
use VaultTest;

my $id = '0123456789abcdef' x 2 . '00000001';
for my $name (
    'Vault-Page', 'vault-page', 'VAULT_PAGE', 'Vault_Page', 'vault.page', 'Vault-Property-user', 'vault_property_user', 'Vault-Property_user', 'Vault-Property', 'VAULT-PROPERTY-USER'
) {
    for my $path ('/test/said', '/closed/said') {
        my $answer = get($path, headers => {$name => $id, 'X-Else' => 'kept'});
        next if $answer->{status} == 400;    # httpd refuses such names by itself
        unlike($answer->{body}, qr/^vault[-_.]p/mi, "$name does not get to $path");
        like($answer->{body}, qr/^X-Else: kept$/m, '... and others do');
    }
}
is(get('/test/said?name=Vault-Token', headers => {'Vault-Token' => 'x'})->{body}, 'x', 'a header of another module');

# Through a method: what the poll was sent with does not come to it either.
my $page = live_page(['/test/said?name=Vault-Property-user', '/test/said?name=Vault-Page']);
my $answer = $page->poll(undef, 'Vault-Property-user' => 'admin', 'Vault-Page' => $id);
is(VaultTest::Page::text($answer), $page->id, 'a poll with forged headers: the method is told the truth');

# Nor can it have a proxy behind httpd take away what httpd says, by naming that in Connection.
my $named = open_page('/test/page?poll=' . '/test/said?name=Connection');
for (
    ['Vault-Page, close', 'close', 'with something else'],
    ['close, vault-property-user', 'close', 'in any spelling'],
    ["Vault-Property-user\r\nConnection: close\r\nConnection: VAULT-PAGE", 'close', 'in several headers'],
    ['X-Else;Vault-Page close', 'X-Else close', 'not as RFC 9110 has it, but as httpd\'s proxy reads it'],
    ['X-Else , close', 'X-Else , close', 'nothing of ours'],
) {
    my ($sent, $kept, $how) = @$_;
    my %headers = (Connection => $sent, 'X-Vault-Page' => $named->id);
    my $told = connect_to()->request('GET', '/test/said', \%headers)->response;
    is(join('|', $told->{body} =~ /^Connection: (.*)$/mg), $kept, "Connection names Vault-Page, $how: it comes without");
    like($told->{body}, qr/^Vault-Page: \Q@{[$named->id]}\E$/m, '... and httpd says the page');
    is($told->{headers}{connection}, 'close', '... and the browser\'s connection is closed, as it has said');
}
is(VaultTest::Page::text($named->poll(undef, Connection => 'X-Else, Vault-Page')), 'X-Else', 'nor does the method of a poll see the name');
my $alive = connect_to();
for (1, 2) {
    my $told = $alive->request('GET', '/test/said', {Connection => 'Vault-Page'})->response;
    unlike($told->{body}, qr/^Connection/m, 'Connection names nothing else: it does not come');
    isnt($told->{headers}{connection}, 'close', '... and the browser\'s connection lives on');
}
like($alive->request('GET', '/test/said', {Connection => 'keep-alive, Vault-Page'})->response->{headers}{connection}, qr/^keep-alive$/i, '... also where the browser asks for that');

# After a redirect within.
unlike(get('/errors/wait?fail=500', headers => {'Vault-Page' => $id})->{body}, qr/$id/, 'nor after an internal redirect');

# Trailers, where they are merged: told to no application, and what is true is still told.
SKIP: {
    skip 'no chunks', 5 unless port_of('merge_trailers');
    my $own = open_page('/test/page?poll=/test/echo?text=', vhost => 'merge_trailers');
    my $said = sub {
        my ($trailers) = @_;
        my $connection = connect_to(vhost => 'merge_trailers');
        $connection->request('POST', '/test/said?body=1', {'Transfer-Encoding' => 'chunked', 'X-Vault-Page' => $own->id, Connection => 'close'});
        return $connection->send_raw("1\r\nx\r\n0\r\n$trailers\r\n\r\n")->response->{body};
    };
    my $body = $said->("Vault-Page: $id\r\nvault_property-user: admin\r\nX-Kept: yes");
    like($body, qr/^X-Kept: yes$/m, 'trailers become headers');
    unlike($body, qr/$id|admin/, '... but not these');
    is(join(' ', $body =~ /^Vault-Page: (.*)$/mg), $own->id, '... and what httpd says stays');
    $body = $said->('Connection: X-Else, Vault-Page');
    is(join(', ', $body =~ /^Connection: (.*)$/mg), 'close,X-Else', '... and they cannot have it taken away');
    is(join(' ', $body =~ /^Vault-Page: (.*)$/mg), $own->id, '... neither at once');
}

finish();
