# SPDX-License-Identifier: Apache-2.0
# A graceful restart with other feeds while polls wait: what a page has of feeds that stay goes on, a method of a feed that is gone
# fails with a reason and goes on when the feed is back, and nothing that was notified meanwhile is lost.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;

my $json = JSON::PP->new->utf8;
my $module = vars('top_dir') . '/modules/vault_feed_test.so';
my $journal = vars('t_logs') . '/f12-journal';

# with_feeds(NAME => parameters, …): the configuration
sub with_feeds
{
    my (%feeds) = @_;
    my $loaded = join '', map { qq(VaultFeed $_ "$module" word=x journal=$journal $feeds{$_}\n) } sort keys %feeds;
    my $exposed = join '', map { "VaultFeedExpose $_ count\n" } sort keys %feeds;
    return qq($loaded<Location "/vault/page">\nSetHandler vault-page\n</Location>\n<Location "/vault/feed">\nSetHandler vault-feed\n$exposed</Location>\n);
}

sub page_of
{
    my (@methods) = @_;
    my $answer = post('/vault/page', $json->encode({add => \@methods}), headers => {'Content-Type' => 'application/json'});
    my $made = $json->decode($answer->{body});
    is_deeply($made->{refused}, [], "a page with @methods");
    return VaultTest::Page->of($made);
}

# What an answer's updates say: {NAME of the feed => count}
sub counts
{
    my ($answer) = @_;
    return {map { ($_->{method} =~ m{/feed/(\w+)/})[0] => $json->decode($_->{body})->[0]{count} } @{$answer->{updates} || []}};
}

sub notify { return post('/vault/notify', "interest=$_[0]") }

my $server = use_server(VaultTest::Server->start('feeds', config => with_feeds(stays => '', goes => '')));
my ($stays, $goes) = ('/vault/feed/stays/count?interest=f12-stays', '/vault/feed/goes/count?interest=f12-goes');
my $page = page_of($stays, $goes);
my $poll = $page->start_poll;
wait_waiting(1);
notify('f12-goes');
is_deeply(counts($page->finish_poll($poll)), {goes => 2}, 'before the reload');

# ---------------------------------------------------------------- one goes, one comes
$poll = $page->start_poll;
wait_waiting(1);
$server->reconfigure(with_feeds(stays => '', comes => ''));
is($page->read_poll($poll)->{status}, 204, 'a poll that waited ends without news');
$poll = $page->start_poll;
wait_waiting(1);
notify('f12-stays');
is_deeply(counts($page->finish_poll($poll)), {stays => 2}, 'a feed that stays has kept its place');

announce(qr{VLT00030: method \Q$goes\E failed: no such method of a feed is exposed here});
$poll = $page->start_poll;
wait_waiting(1);
notify('f12-goes');
my $facts = wait_until(
    sub {
        my $f = $json->decode(text_of('/vault/status?page=' . $page->id));
        $f->{LastRound}{failed} && $f;
    },
    'the method of the feed that is gone has failed'
);
my %states = map { $_->{url} => $_->{state} } @{$facts->{Methods}};
is_deeply(\%states, {$stays => 'waits', $goes => 'to be run'}, 'the page says which of its methods cannot run');
is($facts->{State}, 'polled', '... and waits on');
notify('f12-stays');
is_deeply(counts($page->finish_poll($poll)), {stays => 3}, '... for the other one');
my $new = page_of('/vault/feed/comes/count?interest=f12-comes');
$poll = $new->start_poll;
wait_waiting(1);
notify('f12-comes');
is_deeply(counts($new->finish_poll($poll)), {comes => 2}, 'a feed that came works');
is_deeply($json->decode(text_of('/vault/status?check'))->{Wrong}, [], 'all tables are sound');

# ---------------------------------------------------------------- back again
$poll = $page->start_poll;
$server->reconfigure(with_feeds(stays => '', goes => '', comes => ''));
my $answer = $page->finish_poll($poll);    # of an old child without news, or of a new one, if the poll came to that, with them
$answer = $page->finish_poll($page->start_poll) while $answer->{status} == 204;
is_deeply(counts($answer), {goes => 3}, 'what was notified while the feed was gone comes with its return');

# ---------------------------------------------------------------- other parameters
$poll = $page->start_poll;
wait_waiting(1);
announce(qr/VLT00021: feed stays cannot start: not today/, qr{VLT00030: method \Q$stays\E failed});
tolerate(qr/VLT0(?:0021|0070|0030)/);
$server->reconfigure(with_feeds(stays => '"broken=not today"', goes => '', comes => ''));
is($page->read_poll($poll)->{status}, 204, 'a reload that breaks a feed');
$poll = $page->start_poll;
wait_waiting(1);
notify('f12-stays');
notify('f12-goes');
is_deeply(counts($page->finish_poll($poll)), {goes => 4}, '... leaves the others alone');
$server->reconfigure(with_feeds(stays => '', goes => '', comes => ''));
$answer = $page->finish_poll($page->start_poll);
$answer = $page->finish_poll($page->start_poll) while $answer->{status} == 204;
is_deeply(counts($answer), {stays => 4}, 'mended by the next, it goes on');

finish();
