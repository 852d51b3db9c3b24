# SPDX-License-Identifier: Apache-2.0
# A stray write has damaged the shared memory of a running server: vaultctl check says what is wrong with it, and that all is well when it
# has been put back.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Vaultctl;

needs_vaultctl();
use_server(VaultTest::Server->start('damaged', config => "VaultSharedMemory 8M\nVaultMaxPages 100\nVaultMaxInterests 500\n"));
my $page = live_page(['/test/rows?name=damaged&interest=to-be-damaged']);
my $poll = $page->start_poll;
text_of('/test/add?name=damaged&notify=to-be-damaged');
is(VaultTest::Page::text($page->finish_poll($poll)), "1\n", 'a page with a state');
is(vaultctl('check')->{code}, 0, 'all is well');

# A word that is there, where from its beginning on, and what is found. An interest's name is behind its stamp (28 bytes before it) and its
# length (4); a property's name behind its length (4).
my @damages = (
    ['to-be-damaged', -4, 1, 'interests and queues: a name does not fit its length or hash', "an interest's length"],
    ['to-be-damaged', 0, 32, 'interests and queues: a name does not fit its length or hash', "an interest's name"],
    ['to-be-damaged', -21, 64, 'interests and queues: a stamp is ahead of the clock', 'a stamp'],
    ['shown-damaged', -2, 255, 'pages: the stored state of a page is not valid', 'the state of a page'],
);
for my $damage (@damages) {
    my ($word, $at, $bits, $wrong, $what) = @$damage;
    my $turn = sub { text_of("/test/damage?text=$_[0]&at=$at&bits=$bits") };
    cmp_ok($turn->($word), '>', 0, "$what is damaged");
    my $said = vaultctl('check');
    is($said->{code}, 1, '... which check sees');
    is($said->{out}, "wrong: $wrong\n", '... and says');
    is_deeply(JSON::PP::decode_json(vaultctl('check', '--json')->{out})->{Wrong}, [$wrong], '... in JSON, too');
    my $now = $word;
    substr($now, $at, 1) = chr(ord(substr $now, $at, 1) ^ $bits) if $at >= 0;
    cmp_ok($turn->($now), '>', 0, '... is put back');
    $said = vaultctl('check');
    is($said->{code}, 0, '... and all is well') or diag($said->{out}, $said->{err});
}

text_of('/test/add?name=damaged&notify=to-be-damaged');
is(VaultTest::Page::text($page->poll), "2\n", 'the page goes on');

finish();
