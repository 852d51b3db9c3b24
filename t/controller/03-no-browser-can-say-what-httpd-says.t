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
is(get('/test/said?name=Vault-Token', headers => {'Vault-Token' => 'x'})->{body}, 'x', 'a header of somebody else\'s');

# Through a method: what the poll was sent with does not come to it either.
my $page = live_page(['/test/said?name=Vault-Property-user', '/test/said?name=Vault-Page']);
my $answer = $page->poll(undef, 'Vault-Property-user' => 'admin', 'Vault-Page' => $id);
is(VaultTest::Page::text($answer), $page->id, 'a poll with forged headers: the method is told the truth');

# After a redirect within.
unlike(get('/errors/wait?fail=500', headers => {'Vault-Page' => $id})->{body}, qr/$id/, 'nor after an internal redirect');

# Trailers, where they are merged: told to nobody, and what is true is still told.
SKIP: {
    skip 'no chunks', 1 unless port_of('merge_trailers');
    my $own = open_page('/test/page?poll=/test/echo?text=', vhost => 'merge_trailers');
    my $connection = connect_to(vhost => 'merge_trailers');
    $connection->request('POST', '/test/said?body=1', {'Transfer-Encoding' => 'chunked', 'X-Vault-Page' => $own->id, Connection => 'close'});
    $connection->send_raw("1\r\nx\r\n0\r\nVault-Page: $id\r\nvault_property-user: admin\r\nX-Kept: yes\r\n\r\n");
    my $body = $connection->response->{body};
    like($body, qr/^X-Kept: yes$/m, 'trailers become headers');
    unlike($body, qr/$id|admin/, '... but not these');
    is(join(' ', $body =~ /^Vault-Page: (.*)$/mg), $own->id, '... and what httpd says stays');
}

finish();
