# SPDX-License-Identifier: Apache-2.0
# VaultMaxPagesPerClient: an address, or a user, has so many pages; one more view shows its page without updates.
use strict;
use warnings;
use VaultTest;

use_server(VaultTest::Server->start('clients', config => "VaultMaxPagesPerClient 3\n"));
my $path = view_of('/test/rows?name=f11&interest=f11');

# One view more than there may be pages. @with is the login, if any.
sub is_refused
{
    my ($who, @with) = @_;
    my $before = status();
    unlike(get($path, @with)->{body}, qr/data-vault-page/, "$who: one view more is without a page");
    my $after = status();
    is($after->{Refused}, $before->{Refused} + 1, '  and counted');
    is($after->{Pages}, $before->{Pages}, '  and there are as many pages as before');
    return;
}

my @pages = map { open_page($path) } 1 .. 3;
is_refused('an address');
text_of('/test/add?name=f11&notify=f11');
is(VaultTest::Page::text($_->poll), "1\n", 'the pages it has go on') for @pages;

# Others are not touched, whatever it does.
my $other = open_page($path, from => '127.0.0.2');
get($path) for 1 .. 50;
is(status()->{Pages}, 4, 'fifty views more make no page more');
text_of('/test/add?name=f11&notify=f11');
is(VaultTest::Page::text($_->poll), "2\n", 'its own pages go on') for @pages;
is(VaultTest::Page::text($other->poll), "1\n2\n", 'and the other page');
like(get($path, from => '127.0.0.3')->{body}, qr/data-vault-page/, 'a third address gets a page');

announce(qr/vault:warn\].*VLT00051: no page can be made: address 127\.0\.0\.1 has VaultMaxPagesPerClient 3;/);
finish();
