# SPDX-License-Identifier: Apache-2.0
# VaultMaxPagesPerClient: an address, or a user, has so many pages; one more view shows its page without updates.
use strict;
use warnings;
use VaultTest;

# "Listen 80" accepts IPv6 and IPv4 on one socket, as this does.
my $both = -e '/proc/net/if_inet6' ? VaultTest::Server::free_port() : undef;
use_server(VaultTest::Server->start('clients', config => "VaultMaxPagesPerClient 3\n" . ($both ? "Listen [::]:$both\n" : '')));
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

# Clients of IPv4 are told apart on that socket as well, and an address is one client on both.
SKIP: {
    skip 'no IPv6 here', 3 unless $both;
    my @both = (port => $both);
    unlike(get($path, @both)->{body}, qr/data-vault-page/, 'an address has no more pages where IPv6 is spoken as well');
    open_page($path, @both, from => '127.0.0.4') for 1 .. 3;
    is_refused('an address there', @both, from => '127.0.0.4');
    like(get($path, @both, from => '127.0.0.5')->{body}, qr/data-vault-page/, '  which is not another one');
}

announce(qr/vault:warn\].*VLT00051: no page can be made: address 127\.0\.0\.1 has VaultMaxPagesPerClient 3;/);
tolerate(qr/VLT00051: no page can be made: address 127\.0\.0\.4 /);    # once a second at most
finish();
