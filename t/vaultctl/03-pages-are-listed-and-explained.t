# SPDX-License-Identifier: Apache-2.0
# vaultctl pages: who waits for what; one page by its id or the beginning of it.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Vaultctl;

needs_vaultctl();
my $waiting = live_page(['/test/rows?name=v03&interest=v03%20both', '/test/rows?name=v03x&interest=v03%20one']);
my $idle = live_page(['/test/rows?name=v03&interest=v03%20both']);
my $poll = $waiting->start_poll;
wait_waiting(1);

sub listed
{
    my (@words) = @_;
    my $said = vaultctl('pages', '--json', @words);
    is($said->{code}, 0, "pages @words") or diag($said->{err});
    return {map { $_->{Page} => $_ } @{JSON::PP::decode_json($said->{out})}};
}

# What a page is called.
sub name { return substr $_[0]->id, 0, 12 }

my $all = listed();
is($all->{name($waiting)}{State}, 'polled', 'a page that waits');
is($all->{name($idle)}{State}, 'never polled', 'one that was never polled');
is_deeply([sort @{$all->{name($waiting)}{Interests}}], ['v03 both', 'v03 one'], 'its interests');
is(scalar @{$all->{name($waiting)}{Methods}}, 2, 'its methods');
is($all->{name($waiting)}{Client}, $all->{name($idle)}{Client}, 'two pages of one address');
like($all->{name($waiting)}{Client}, qr/^[0-9a-f]{8}$/, '... which itself is not said');

is_deeply([keys %{listed('--waiting')}], [name($waiting)], '--waiting');
ok(!listed('--idle')->{name($waiting)} && listed('--idle')->{name($idle)}, '--idle');
is_deeply([keys %{listed('--interest', 'v03 one')}], [name($waiting)], '--interest');
is_deeply(listed('--owner', 'nobody'), {}, '--owner of nobody');
is(get('/vault/status?pages&state=x')->{status}, 400, 'another state is refused');

my $said = vaultctl('pages');
like($said->{out}, qr/^\Q@{[name($waiting)]}\E +polled +0\.0  address#[0-9a-f]{8} .*\[ .*v03 both.* \]$/m, 'the list in words');
unlike($said->{out}, qr/[0-9a-f]{13}/, '... with no whole id');

for my $id ($waiting->id, substr($waiting->id, 0, 16), name($waiting)) {
    $said = vaultctl('pages', $id);
    is($said->{code}, 0, "page $id") or diag($said->{err});
    like($said->{out}, qr/^Page +\Q@{[name($waiting)]}\E\nState +polled, idle for 0\.0 s\nOwner +-\n/, '... is the page');
    unlike($said->{out}, qr/[0-9a-f]{13}/, '... whose id is not said');
    like($said->{out}, qr/^    v03 one: seen \d+, now \d+$/m, '... with its interests and stamps');
    like($said->{out}, qr{^  /test/rows\S*: waits$}m, '... and why it waits');
}
is(JSON::PP::decode_json(vaultctl('pages', '--json', $waiting->id)->{out})->{Seq}, 0, 'one page in JSON');
$said = vaultctl('pages', '0' x 40);
is($said->{code}, 2, 'a page that is not there');
like($said->{err}, qr/404: there is no such page/, '... it says so');
$said = vaultctl('pages', '00000000');
like($said->{err}, qr/there is no such page/, '... of a beginning of an id, too');

my $refused = live_page(['/test/status?code=403']);
$refused->poll;
is(post($refused->path . '&ack=1', '')->{status}, 204, 'its answer has arrived');
like(vaultctl('pages', $refused->id)->{out}, qr{^  /test/status\?code=403: refused with status 403: tried again in \d+ s$}m, 'a refused method');

# What a browser puts into a URL is no command to the terminal.
my $odd = live_page(['/test/rows?name=v03%0A%1B%5B2J&interest=v03%1B%5B2J']);
unlike(vaultctl('pages', $odd->id)->{out}, qr/\033/, 'no control characters');

text_of('/test/add?name=v03&notify=v03%20both');
$waiting->finish_poll($poll);
$said = vaultctl('pages', $waiting->id);
like($said->{out}, qr/^Woken +\d+\.\d s ago: an interest was notified$/m, 'after an answer: what woke it');
like($said->{out}, qr/^Last round +\d+\.\d s ago: 1 of its methods ran, 1 had something to show, 0 failed$/m, '... and what came of it');
like($said->{out}, qr/number 1 was sent and not acknowledged yet/, '... and that the answer is on its way');

finish();
