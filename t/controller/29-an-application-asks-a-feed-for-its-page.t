# SPDX-License-Identifier: Apache-2.0
# An application asks a feed for the page that it renders, in a request of its own with the key of VaultFeedKeyFile and the Vault-Page that it was
# told. What the call does counts if and only if the answer of the application does, as with a call inside.
use strict;
use warnings;
use VaultTest;
use VaultTest::Application;
use VaultTest::Config;
use VaultTest::Page qw(texts);

my $KEY = '0123456789abcdefghijklmnopqrstuvwxyzABCDEF+/';
my $key_file = vars('t_logs') . '/feed-key';
open my $file, '>', $key_file or die "$key_file: $!\n";
print $file "$KEY\n";
close $file;
chmod 0640, $key_file;

my $journal = vars('t_logs') . '/asked-journal';
unlink $journal;
my $asking = VaultTest::Application->asking($KEY);
use_server(VaultTest::Server->start(
    'asked',
    size => "StartServers 2\nMaxRequestWorkers 16\n",
    config => <<"END" . VaultTest::Application->config($asking)
VaultFeedKeyFile "$key_file"
VaultFeed tests "@{[feed_path('test')]}" word=hello journal=$journal
<Location "/vault/feed">
    SetHandler vault-feed
    VaultFeedExpose tests again echo
</Location>
END
));

sub heard
{
    open my $journaled, '<', $journal or return '';
    return join ' ', map { chomp; $_ } readline $journaled;
}

sub count { return "/vault/feed/tests/count?interest=$_[0]" }
sub counted { return join ' ', VaultTest::Page::text($_[0]) =~ /"count":"(\d+)"/g }
sub calls { return grep { !/^page/ } $asking->told }
sub last_page { return (map { /^page (.*)/ } $asking->told)[-1] }
sub notify { return text_of("/test/notify?interest=$_[0]") }

# As the application does, from here.
sub ask
{
    my ($page, $path, %headers) = @_;
    return get($path // count('x'), headers => {Authorization => "Bearer $KEY", defined $page ? ('Vault-Page' => $page) : (), %headers});
}

# ------------------------------------------------- a method

my $page = live_page([$asking->path('call:' . count('c29-a'))]);
is(texts($page->poll), '[{"count":"1"}]', 'the rows that an application asks for in its method');
is_deeply([calls()], ['200 first'], '... which are a first view, as it is told');
like(last_page(), qr/^@{[$page->id]};run=[0-9a-f]+$/, '... for the page and the run that it is told');
my $poll = $page->start_poll;
wait_waiting(1);
is(heard(), '1', 'a feed hears that they have arrived');
is(notify('c29-a'), 'held', 'the page waits for what the feed waits for, though the application says no interest');
is(counted($page->read_poll($poll)), '2', 'and goes on from there');
is((calls())[-1], '200 new', '... as the application is told');
is(counted($page->poll), '2', 'an answer that was lost comes again');
$poll = $page->start_poll;
wait_waiting(1);
is(heard(), '1 2', '... and the feed hears of it once');
my $before = status();
notify('c29-a');
is(counted($page->finish_poll($poll)), '3', 'once each');
is(status()->{Runs} - $before->{Runs}, 1, '... with one run each');

# Nothing new: another method of the page has moved, and this one is asked, too, since a call wrote to the page.
my $own = live_page([$asking->path('call:' . count('c29-quiet'))]);
is(counted($own->poll), '1', 'a method that has had its rows');
my $waits = $own->start_poll;
wait_waiting(1);
$before = () = calls();
post('/test/property?key=n&value=1', '', headers => {'X-Vault-Page' => $own->id});
wait_until(sub { (() = calls()) > $before }, 'runs again when a call writes to its page');
is((calls())[-1], '204', '... and is told that there is nothing new');
wait_waiting(1);
is(get($own->path . '&ack=1')->{status}, 204, '... so the page is as it was');

# Two calls of a run: both count. The same twice: not.
my $two = live_page([$asking->path('call:' . count('c29-b') . '&n=1', 'call:' . count('c29-c') . '&n=2')]);
is(counted($two->poll), '1 1', 'two calls of one run');
notify('c29-c');
is(counted($two->poll), '2', '... each has a cursor of its own, and both interests are held');
announce(qr/VLT00030: method \S+ failed: its status is 500/);
my $same = live_page([$asking->path('call:' . count('c29-d'), 'call:' . count('c29-d')), '/test/echo?text=other']);
is(texts($same->poll), 'other', 'the same call twice');
is_deeply([(calls())[-2, -1]], ['200 first', '409'], '... is refused the second time');

# At the same time, from two processes, beside another page whose run has called and waits.
my @pages = map { live_page([$asking->path('call:' . count("c29-e$_"), "get:/test/wait?after=c29-e$_", 'say:end')]) } 0, 1;
my (@polls, @told);
for (0, 1) {
    $polls[$_] = $pages[$_]->start_poll;
    wait_arrived("c29-e$_", 1);
    $told[$_] = last_page();
}
my @at_once = map { my $connection = connect_to(); $connection->request(GET => count("c29-f$_"), {Authorization => "Bearer $KEY", 'Vault-Page' => $told[$_ % 2]}); $connection } 0 .. 5;
is(join(' ', map { $_->response->{status} } @at_once), '200 200 200 200 200 200', 'several calls at once for each of two pages');
is(ask("$told[0]x", count('c29-g'))->{status}, 400, 'a Vault-Page that has been changed');
is(ask($pages[0]->id . ';run=1f', count('c29-g'))->{status}, 409, '... or of another run');
is(ask($pages[0]->id, count('c29-g'))->{status}, 409, '... or of none');
is(ask('0' x 40 . ';run=1', count('c29-g'))->{status}, 410, '... or of no page');
open_barrier("c29-e$_") for 0, 1;
is(texts($pages[$_]->finish_poll($polls[$_])), '[{"count":"1"}]end', 'the answer of each') for 0, 1;
is(notify("c29-f$_"), 'held', "what call $_ waits for is held") for 0 .. 5;
is(notify('c29-g'), 'nobody', '... but not what a call waits for that was refused');

# Late: the run is over, and another one runs.
my $late = ask($told[0], count('c29-g'));
is($late->{status}, 409, 'a call that comes late');
like($late->{body}, qr/"error":"the run that Vault-Page names has ended/, '... is told why');
text_of('/test/close?name=c29-e0');
my $next = $pages[0]->start_poll;    # runs once more: an interest was notified
wait_arrived('c29-e0', 1);
is(ask($told[0], count('c29-g'))->{status}, 409, '... also while the next run of the same method is open');
open_barrier('c29-e0');
is(texts($pages[0]->finish_poll($next)), 'end', '... which is none the worse for it');

# A newer poll takes the page while the application renders for the older one.
my $over = live_page([$asking->path('call:' . count('c29-h'), 'get:/test/wait?after=c29-h', 'say:x')]);
my $older = $over->start_poll;
wait_arrived('c29-h', 1);
my $stale = last_page();
my $newer = $over->start_poll;
wait_arrived('c29-h', 2);
isnt(last_page(), $stale, 'a newer poll has the application asked in a run of its own');
is(ask($stale, count('c29-g'))->{status}, 409, 'a run of a poll that a newer one has overtaken is over');
open_barrier('c29-h');
is($older->response->{headers}{'vault-superseded'}, 1, '... and so is the poll');
is(counted($over->finish_poll($newer)), '1', 'the newer one shows the rows, once');

# A request writes to the page meanwhile: the application is told that its run is over, and fails. That is no failure of the method, which runs
# again at once.
my $written = live_page([$asking->path('get:/test/wait?after=c29-w', 'call:' . count('c29-w'))]);
$poll = $written->start_poll;
wait_arrived('c29-w', 1);
post('/test/property?key=n&value=1', '', headers => {'X-Vault-Page' => $written->id});
open_barrier('c29-w');
is(counted($written->finish_poll($poll)), '1', 'a write to the page ends the run, and the next one, which knows of the write, shows the rows');
is_deeply([(calls())[-2, -1]], ['409', '200 first'], '... of which the application is told');

# A feed that fails fails the run, even if the application hides that; so does an argument that is wrong.
announce(qr/VLT00070: feed tests, method fail/);
announce(qr/VLT00030: method \S+ failed: a call of a feed by the application failed/);
my $hides = live_page([$asking->path('get:/test/wait?after=c29-i', 'say:hidden'), '/test/echo?text=other']);
$poll = $hides->start_poll;
wait_arrived('c29-i', 1);
is(ask(last_page(), '/vault/feed/tests/fail')->{status}, 503, 'a feed that fails');
open_barrier('c29-i');
is(texts($hides->finish_poll($poll)), 'other', '... fails the run');

# The child that has the poll is killed while the application renders: nothing of the run counts, nothing stays.
my $killed = live_page([$asking->path('call:' . count('c29-j'), 'get:/test/wait?after=c29-j', 'say:x')]);
announce(qr/AH00052|VLT00004/);
my ($there) = children();
my $doomed = connect_in($there);
$killed->start_poll($doomed);
wait_arrived('c29-j', 1);
my $run_of_the_dead = last_page();    # then all pages look again
kill KILL => $there;
wait_until(sub { !grep { $_->{Pid} == $there } @{status_of_children()->{Children}} }, 'httpd knows that the child is gone');
is(ask($run_of_the_dead, count('c29-g'))->{status}, 409, 'a call for a run whose child was killed');
open_barrier('c29-j');
is(counted($killed->poll), '1', 'the next poll shows the rows, once');

# ------------------------------------------------- a page

# What is asked for while the page is rendered is what the page shows; its first poll begins there.
sub view
{
    my ($call, @more) = @_;
    return $asking->path("call:$call", 'head:Vault-Poll: ' . $asking->path("call:$call"), @more, 'say:<p>page</p>');
}

unlink $journal;
my $pages_before = status()->{Pages};
for my $how (['', 'a page'], ['/test/redirect?to=', 'a page after an internal redirect']) {
    my $name = 'c29-view' . length $how->[0];
    my $path = $how->[0] . ($how->[0] ? view(count($name)) =~ s/([%&])/sprintf '%%%02X', ord $1/ger : view(count($name)));
    my $shown = open_page($path);
    like($shown->html, qr/^\[\{"count":"1"\}\]<p>page/, "$how->[1]: shows the rows that it asks for");
    is((calls())[-1], '200 first', '... a first view');
    is(last_page() =~ /^([0-9a-f]{40});run=[0-9a-f]+$/ && $1, $shown->id, '... for the page that it becomes');
    is(ask(last_page(), count('c29-n'))->{status}, 409, '... until it is complete');
    my $first = $shown->start_poll;
    wait_waiting(1);
    is((calls())[-1], '204', '... its first poll finds nothing new');
    is(heard(), '1', '... and the feed hears that the page has arrived');
    is(notify($name), 'held', '... it waits for what the feed waits for');
    is(counted($shown->finish_poll($first)), '2', '... and goes on from what it shows');
    unlink $journal;
}
my $between = open_page(view(count('c29-between')));
notify('c29-between');
is(counted($between->poll), '2', 'what happens between the page and its first poll is in that');

# The page is polled before it is complete, as by the client of a stream whose URL is in the head of the HTML.
my $called = () = calls();
my $streaming = connect_to();
$streaming->request(GET => view(count('c29-q'), 'get:/test/wait?after=c29-q', 'call:' . count('c29-r')));
wait_arrived('c29-q', 1);
my ($unfinished) = map { VaultTest::Page->of({page => $_, seq => 0}) } last_page() =~ /^([0-9a-f]{40});/;
my $early = $unfinished->start_poll;
wait_waiting(1);
open_barrier('c29-q');
is($streaming->response->{status}, 200, 'a page that is polled before it is complete may ask feeds all the same');
is_deeply([(calls())[$called, $called + 1]], ['200 first', '200 first'], '... before and after that');
$pages_before++;
wait_waiting(1);
notify('c29-q');
is(counted($unfinished->finish_poll($early)), '2', '... and is live: the poll goes on from what it shows');

# It is no page: it has no method, or an error.
# A client may have read an answer before the server knows that it is complete: only then its page goes.
sub wait_three_pages { return wait_until(sub { status()->{Pages} - $pages_before == 3 }, $_[0]) }

wait_three_pages('so many pages are live');
is(text_of($asking->path('call:' . count('c29-o'))), '[{"count":"1"}]', 'an answer that is no live page may ask as well');
wait_three_pages('... and leaves no page behind');
is(ask(last_page(), count('c29-o'))->{status}, 410, '... for which calls could be made');
is(get(view('/vault/feed/tests/none'))->{status}, 500, 'a page whose call was wrong');
wait_three_pages('... is no live page');
is(ask(last_page(), count('c29-o'))->{status}, 410, '... leaves none');
is(notify('c29-o'), 'nobody', '... and holds nothing');
is(get(view(count('c29-head')), method => 'HEAD')->{status}, 200, 'an answer to HEAD, which is told no run, may ask as well');
is((calls())[-1], '200 first', '... for a first view');
is(ask(last_page(), count('c29-head'))->{body}, '[{"count":"1"}]', '... each time');
is(notify('c29-head'), 'nobody', '... and nothing is held');
announce(qr/VLT00011: the page cannot be kept live: a call of a feed by the application failed/);
announce(qr/VLT00070: feed tests, method fail/);
my $hidden = connect_to();
$hidden->request(GET => $asking->path('get:/test/wait?after=c29-p', 'head:Vault-Poll: /test/echo?text=x', 'say:<p>page</p>'));
wait_arrived('c29-p', 1);
ask(last_page(), '/vault/feed/tests/fail');
open_barrier('c29-p');
is($hidden->response->{status}, 200, 'a page that hides that a call failed');
wait_three_pages('... is not live');

# ------------------------------------------------- without a page, without the key

my $plain = ask(undef, count('c29-k'));
is($plain->{status}, 200, 'with the key a method that is not exposed may be called');
is($plain->{body}, '[{"count":"1"}]', '... a first view each time, without a page');
is(ask(undef, count('c29-k'))->{body}, '[{"count":"1"}]', '...');
ok(!exists $plain->{headers}{'vault-rows'}, '... so nothing is said of the rows');
is(get(count('c29-k'))->{status}, 404, 'which others may not');
is(ask(undef, '/vault/feed/tests/none')->{status}, 404, 'a method that is none');
is(ask(undef, '/vault/feed/tests/echo?x=1', Origin => 'http://elsewhere.test', 'Sec-Fetch-Site' => 'cross-site')->{status}, 200, 'no origin is asked for');
announce(qr/VLT00343: a call of a feed was refused: its key is not the one/);
for my $wrong (substr($KEY, 1), $KEY . 'x', lc $KEY, 'x') {
    my $answer = get('/vault/feed/tests/echo', headers => {Authorization => "Bearer $wrong"});
    is($answer->{status}, 401, 'a wrong key');
    like($answer->{headers}{'www-authenticate'}, qr/^Bearer/, '... is told as such');
}
is(get('/vault/feed/tests/echo', headers => {Authorization => 'Basic YW5uYTpzZWNyZXQ='})->{status}, 200, 'another Authorization is none of its business');

# A browser says the page of a run that is open: it is not heard.
my $forged = live_page([$asking->path('call:' . count('c29-l'), 'get:/test/wait?after=c29-l', 'say:x')]);
$poll = $forged->start_poll;
wait_arrived('c29-l', 1);
my $answer = get('/vault/feed/tests/again?interest=c29-m', headers => {'Vault-Page' => last_page()});
is($answer->{status}, 200, 'Vault-Page of a browser');
is(notify('c29-m'), 'nobody', '... changes nothing in that page');
open_barrier('c29-l');
is(counted($forged->finish_poll($poll)), '1', '...');

# Where no key is set.
use_server();
announce(qr/VLT00343: a call of a feed was refused: it comes with a key and Vault-Page, and VaultFeedKeyFile is not set/);
is(ask($forged->id . ';run=1', '/vault/feed/tests/echo')->{status}, 401, 'a call for a page where no key is set');
is(ask(undef, '/vault/feed/tests/echo')->{status}, 200, '... but a token that is meant for another module is left to that');

finish();
