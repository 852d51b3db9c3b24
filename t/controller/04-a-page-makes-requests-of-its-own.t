# SPDX-License-Identifier: Apache-2.0
# X-Vault-Page: a form or fetch() of a page says which page it is. Its handler is told of the page, and what it sets reaches the page at
# once, also while a round runs.
use strict;
use warnings;
use MIME::Base64 ();
use VaultTest;
use VaultTest::Page qw(texts);

sub from { my ($page, $path, %with) = @_; return get($path, %with, headers => {'X-Vault-Page' => $page->id, %{$with{headers} || {}}}) }

my $page = live_page(['/test/property?key=colour']);
is(from($page, '/test/said?name=Vault-Page')->{body}, $page->id, 'the handler is told the page');
my $poll = $page->start_poll;
wait_waiting(1);
is(from($page, '/test/echo?text=done&header=Vault-Property:colour=red', method => 'POST')->{body}, 'done', 'a request sets a property by header');
is(texts($page->finish_poll($poll)), 'red', 'its methods run again, and see it');
is(from($page, '/test/said?name=Vault-Property-colour')->{body}, 'red', 'and so does the next request');
is(from($page, '/test/property?key=colour')->{body}, 'red', '... by the C function, too');

$poll = $page->start_poll;
wait_waiting(1);
is(from($page, '/test/property?key=colour&value=blue')->{status}, 200, 'by the C function');
is(texts($page->finish_poll($poll)), 'blue', '... as well');
my $before = status();
$poll = $page->start_poll;
wait_waiting(1);
is(from($page, '/test/property?key=colour&value=blue')->{status}, 200, 'the same once more');
is(status()->{Runs}, $before->{Runs}, 'changes nothing and wakes no poll');
is(from($page, '/test/echo?text=x&header=Vault-Property:colour=')->{status}, 200, 'removed');
is(from($page, '/test/said?name=Vault-Property-colour')->{body}, '', '... it is gone');

# While a round runs: the round does not count, and runs again.
my $race = live_page(['/test/property?key=n&after=c04-race']);
from($race, '/test/property?key=n&value=1');
$poll = $race->start_poll;
wait_arrived('c04-race', 1);
is(from($race, '/test/echo?text=x&header=Vault-Property:n=2')->{status}, 200, 'written while a method has read the old value');
open_barrier('c04-race');
is(texts($race->finish_poll($poll)), '2', 'the page gets the new one, and only that');

# An answer on its way keeps its number, and what was written.
my $lost = live_page(['/test/property?key=n']);
from($lost, '/test/property?key=n&value=1');
is(texts($lost->read_poll($lost->start_poll)), '1', 'an answer that gets lost');
from($lost, '/test/property?key=n&value=2');
is(texts($lost->poll), '2', 'comes again with what was written meanwhile');

# A method is added.
$before = from($lost, '/test/echo?text=x&header=Vault-Poll:/test/echo?text=added');
unlike($before->{body}, qr/data-vault-page/, 'Vault-Poll makes no new page then');
is(texts($lost->poll), 'added', 'but adds a method to the one that asks');

# Who is not the page's user, or makes an id up, has no page: nothing is told, nothing is set.
my $user = sub { return {Authorization => 'Basic ' . MIME::Base64::encode_base64("$_[0]:secret", '')} };
my $annas = open_page('/users/page?poll=/test/echo?text=', headers => $user->('anna'));
is(from($annas, '/users/said?name=Vault-Page', headers => $user->('anna'))->{body}, $annas->id, 'anna\'s page and anna');
is(from($annas, '/users/said?name=Vault-Page', headers => $user->('bert'))->{body}, '', 'anna\'s page and bert');
from($annas, '/users/property?key=n&value=1', headers => $user->('bert'));
from($annas, '/users/echo?text=x&header=Vault-Property:n=1', headers => $user->('bert'));
from($annas, '/test/property?key=n&value=1');
is(from($annas, '/users/said?name=Vault-Property-n', headers => $user->('anna'))->{body}, '', 'neither he nor a visitor without a login sets anything');
is(from($page, '/closed/said?name=Vault-Page')->{body}, '', 'where VaultLongPoll is off nothing is told');
is(from($page, '/closed/property?key=n&value=1')->{status}, 409, 'or set');
for my $id ('', 'x', '0' x 40, 'f' x 40, $page->id . '0', substr($page->id, 1), uc $page->id) {
    next if $id eq $page->id;
    my $answer = get('/test/property?key=n&value=1', headers => {'X-Vault-Page' => $id});
    like($answer->{status}, qr/^(?:200|409)$/, "the id '$id' is none");
    is(get('/test/said?name=Vault-Page', headers => {'X-Vault-Page' => $id})->{body}, '', '...');
}
is(get('/test/said?name=Vault-Page', headers => {'X-Vault-Page' => $page->id . ', ' . $page->id})->{body}, '', 'two ids are none');

# Too much.
my $long = 'v' x 4097;
announce(qr/VLT00063: .*too long/);
is(from($page, "/test/echo?text=x&header=Vault-Property:n=$long")->{status}, 200, 'a value that is too long is not set, and the log says so');
is(from($page, '/test/said?name=Vault-Property-n')->{body}, '', '...');

finish();
