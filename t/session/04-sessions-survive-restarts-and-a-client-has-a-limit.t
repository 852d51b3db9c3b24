# SPDX-License-Identifier: Apache-2.0
# No session is lost in a graceful restart or with a killed child. A client that makes sessions in a loop reaches its limit, and evicts no
# session of others.
use strict;
use warnings;
use VaultTest;
use VaultTest::Browser;
use VaultTest::Page qw(texts);

use_server(
    VaultTest::Server->start(
        'sessions',
        config => <<'END'
VaultMaxPagesPerClient 5
VaultMaxSessions 8
<Location "/shop/">
    SetHandler vault-test
    VaultLongPoll On
    VaultSession On
</Location>
END
    )
);
is(status()->{SessionsMax}, 8, 'VaultMaxSessions');

my $ann = VaultTest::Browser->new;
$ann->get('/shop/session?key=basket&value=apple');
my $tab = $ann->open('/shop/page?poll=/shop/session%3Fkey=basket');
is(texts($tab->finish_poll($ann->start_poll($tab))), 'apple', 'a tab shows its basket');

# What the tab shows when the basket changes while it polls. When a child has ended, every page may look again, and show the old one once more.
sub changed_to
{
    my ($value) = @_;
    my $poll = $ann->start_poll($tab);
    $ann->get("/shop/session?key=basket&value=$value");
    my $shown = texts($tab->finish_poll($poll));
    for (1 .. 3) {
        last if $shown eq $value;
        $shown = texts($tab->finish_poll($ann->start_poll($tab)));
    }
    return $shown;
}

graceful_restart();
is($ann->text('/shop/session?key=basket'), 'apple', 'a graceful restart keeps a session');
is(changed_to('pear'), 'pear', '... and its pages go on');

my ($pid) = children();
kill KILL => $pid;
wait_until(sub { my @now = eval { children() }; @now && !grep { $_ == $pid } @now }, 'another child serves');
is($ann->text('/shop/session?key=basket'), 'pear', 'a child that is killed loses none');
is(changed_to('plum'), 'plum', '... and no page misses a change');

# A loop.
announce(qr/VLT00400: no session can be made: address 127\.0\.0\.2 has VaultMaxPagesPerClient 5/);
my @statuses = map { VaultTest::Browser->new(from => '127.0.0.2')->get('/shop/session?key=basket&value=junk')->{status} } 1 .. 40;
is(join(' ', @statuses[0 .. 5]), '200 200 200 200 200 503', 'a client at its limit is refused another session');
is(scalar(grep { $_ == 503 } @statuses), 35, '... whatever it does');
is(status()->{Sessions}, 6, '... it has five, and the other has its own');
is($ann->text('/shop/session?key=basket'), 'plum', '... which is as it was');
my @others = map { VaultTest::Browser->new(from => "127.0.0.$_") } 3 .. 12;
$_->get('/shop/session?key=basket&value=mine') for @others;
is(scalar(grep { $_->text('/shop/session?key=basket') eq 'mine' } @others) + ($ann->text('/shop/session?key=basket') eq 'plum'),
    7, 'when there are as many as there may be, what is beyond its fair share goes: each of eight clients has one');
is(status()->{PagesEvicted}, 4, '... the greedy one, too, which has lost four');
announce(qr/VLT00400: no session can be made: VaultMaxSessions, VaultMaxPages or VaultSharedMemory is used up/);
is($ann->text('/shop/session?key=basket'), 'plum', '... and no client loses the one that it uses');

finish();
