# SPDX-License-Identifier: Apache-2.0
# A thousand rounds of kept views, their polls and methods, whose clients hang up, and some of whose children are killed while they render for
# others, leave neither records nor memory behind: the figures are those of before. A graceful restart empties the store and keeps the pages.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Site;

needs_parking();

use constant {ROUNDS => $ENV{VAULT_ROUNDS} // 1000, KILLS => 5};

my $size = "ThreadLimit 8\nThreadsPerChild 8\nStartServers 2\nServerLimit 8\nMaxRequestWorkers 64\n";
use_server(VaultTest::Server->start('rounds', size => $size, config => live_folder('/rounds') . <<"END"));
VaultFeed tests "@{[vars('top_dir')]}/modules/vault_feed_test.so" word=hello
VaultMaxPages 10000
VaultMaxPagesPerClient 10000
VaultPageTimeout 8
<Location "/kept/">
    SetHandler vault-test
    VaultCache On
</Location>
END
my $killed = '/kept/wait?before=c21&header=Vault-Shared:yes&header=Vault-Interest:c21';

# The views of a round are of one page of SSI, whose method is rendered again with each notify, and of one response.
site_file('/rounds/method.shtml', '<!--#feed name="tests" method="again" interest="rounds" template="again.html" -->');
site_file('/rounds/again.html', '{{#rows}}[again]{{/rows}}');
live_shtml('/rounds/page.shtml', 'method.shtml', '<p><!--#feed name="tests" method="again" interest="rounds" template="again.html" --></p>' . "\n");
settle();

sub drop_all
{
    my $form = {'Content-Type' => 'application/x-www-form-urlencoded'};
    wait_until(
        sub {
            text_of('/vault/status?cache', method => 'POST', body => 'all=1', headers => $form);
            return !status()->{Outputs};
        },
        'nothing is kept any more'
    );
    return;
}

# A notify, a view that renders, one that is kept, a poll of each that is answered, and one of each that is given up.
sub round
{
    text_of('/test/notify?interest=rounds');
    my @pages = map { open_page('/rounds/page.shtml') } 1, 2;
    my $poll = $pages[0]->start_poll;
    text_of('/test/notify?interest=rounds');
    $pages[0]->finish_poll($poll);
    $pages[1]->poll;
    $_->start_poll->close for @pages;
    return;
}

# The child that renders for others is killed, and they are answered.
sub kill_leader
{
    my ($n) = @_;
    open_barrier('c21');
    get($killed) for 1 .. 2;
    text_of('/test/close?name=c21');
    text_of('/test/notify?interest=c21');
    my ($victim, $safe) = children(2);
    my $before = status();
    my $doomed = connect_in($victim);
    $doomed->request(GET => $killed);
    wait_arrived('c21', 1);
    my $waiter = connect_in($safe);
    $waiter->request(GET => $killed);
    wait_waiting(1);
    kill KILL => $victim;
    $doomed->is_closed or fail('the request of the killed child ends');
    wait_counter('NotifyAlls', $before, 1);
    open_barrier('c21');
    my $answer = $waiter->response;
    $answer->{status} == 200 or fail("the request that waited is answered: $answer->{status}");
    $_->close for $doomed, $waiter;
    return;
}

# What is in use when all pages have expired and nothing is kept.
sub figures
{
    wait_waiting(0);
    my $s = wait_until(sub { drop_all(); my $now = status(); $now->{Pages} + $now->{Interests} == 0 && $now }, 'no page is there any more');
    return {map { $_ => $s->{$_} } qw(Pages Interests HeapUsed HeapLost Outputs OutputMemory OutputFiles)};
}

announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
round() for 1 .. 20;
kill_leader();
my $before = figures();
for my $n (1 .. ROUNDS) {
    round();
    kill_leader() if $n % (ROUNDS / KILLS) == 0;
}
is_deeply(figures(), $before, ROUNDS . ' rounds, and ' . KILLS . ' killed children, leave nothing behind');
is("$before->{Outputs} $before->{OutputMemory} $before->{HeapLost}", '0 0 0', '... no output, none of its memory, and nothing is lost');
is_deeply(JSON::PP::decode_json(text_of('/vault/status?check'))->{Wrong}, [], '... and the tables are right');

# A graceful restart.
my $page = open_page('/rounds/page.shtml');
open_page('/rounds/page.shtml');
get($killed) for 1 .. 3;
my $poll = $page->start_poll;
wait_waiting(1);
my $kept = status();
cmp_ok($kept->{Outputs}, '>', 1, 'outputs are kept');
$poll->close;
graceful_restart();
is(text_of('/test/notify?interest=rounds'), 'held', 'a graceful restart keeps the pages and their interests');
like(VaultTest::Page::text($page->poll), qr/\[again\]/, '... and they are live');
wait_until(sub { my @rows = @{JSON::PP::decode_json(text_of('/vault/status?cache'))->{Outputs}}; @rows == 1 }, '... what was kept before it is removed: only the method has run since');
is_deeply(JSON::PP::decode_json(text_of('/vault/status?check'))->{Wrong}, [], '... the tables are right');
use_server();
finish();
