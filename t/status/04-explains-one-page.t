# SPDX-License-Identifier: Apache-2.0
# /vault/status?page=ID says what a page waits for, what its polls last did, and why.
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 ();
use VaultTest;

sub explained
{
    my ($id) = @_;
    my $answer = get("/vault/status?page=$id");
    is($answer->{headers}{'cache-control'}, 'no-store', 'no cache keeps it');
    return JSON::PP::decode_json($answer->{body});
}

my $page = live_page(['/test/rows?name=s04&interest=s04']);
my $facts = explained($page->id);
my $name = substr $page->id, 0, 12;
is($facts->{Page}, $name, 'the page, by the beginning of its id');
is(explained($_)->{Page}, $name, "... which finds it, too: $_") for $name, substr $name, 0, 11;
is(get('/vault/status?page=' . substr $page->id, 0, $_)->{status}, 400, "but $_ digits do not: nothing finds out a digit more") for 13, 16, 39;
is($facts->{State}, 'never polled', 'before its first poll');
is($facts->{Seq}, 0, 'it shows its HTML');
is($facts->{Owner}, undef, 'it has no owner');
is($facts->{Methods}[0]{url}, '/test/rows?name=s04&interest=s04', 'its method');
is($facts->{Methods}[0]{state}, 'never run', '... has not run');
is($facts->{LastWake}{seconds}, undef, 'nothing has woken it');
is($facts->{LastRound}{seconds}, undef, '... and nothing run');

my $poll = $page->start_poll;
wait_waiting(1);
$facts = explained($page->id);
is($facts->{State}, 'polled', 'while a poll waits');
is($facts->{Methods}[0]{state}, 'waits', 'its method waits');
my ($interest) = grep { $_->{name} eq 's04' } @{$facts->{Methods}[0]{interests}};
ok($interest, '... for its interest');
ok(!$interest->{moved}, '... which has not moved');
cmp_ok($interest->{seen}, '>=', $interest->{stamp}, '... since it was seen');
is($facts->{LastRound}{methods}, 1, 'one method has run');
is($facts->{LastRound}{wrote}, 0, '... and written nothing');

text_of('/test/add?name=s04&notify=s04');
is(VaultTest::Page::text($page->read_poll($poll)), "1\n", 'an answer, which is not acknowledged');
$facts = explained($page->id);
is($facts->{State}, 'between polls', 'after the answer');
is($facts->{LastWake}{why}, 'an interest was notified', 'why it was woken');
is($facts->{LastRound}{wrote}, 1, 'its method has written');
is_deeply($facts->{Unacknowledged}, [1], 'the answer is on its way');
is($facts->{Seq}, 0, '... and counts only when the browser says so');
ok((grep { $_->{moved} } @{$facts->{Methods}[0]{interests}}), 'to the committed state the interest has moved');
is($facts->{Methods}[0]{state}, 'to be run', '... so the method is to be run');

is(get('/vault/status?page=' . '0' x 40)->{status}, 404, 'a page that is not there');
is(get("/vault/status?page=$_")->{status}, 400, "no id: $_") for '', 'x', '0' x 13, '0' x 39, '0' x 41, 'Z' x 40, '0' x 4000;
like(get('/vault/status?page=x')->{body}, qr/1 to 12 hexadecimal digits of a page's name are accepted, or its whole id of 40/, '... says what is one');

# httpd takes any bytes for a user's name, and an application for a property, an interest or a place: they are shown as text.
$page = live_page(['/test/property?key=odd&value=a%FFb', '/test/rows?name=s04x&interest=s04%FF']);
$poll = $page->start_poll;
wait_waiting(1);
$facts = explained($page->id);
is($facts->{Properties}{odd}, "a\x{fffd}b", 'a property that is no text');
ok((grep { $_->{name} eq "s04\x{fffd}" } map { @{$_->{interests}} } @{$facts->{Methods}}), '... and an interest');
$poll->close;
wait_waiting(0);

SKIP: {
    skip 'httpd has no basic authentication', 4 unless have_module('auth_basic') && have_module('authn_file');
    my $users = vars('t_logs') . '/status.users';
    open my $out, '>:raw', $users or die "$users: $!\n";
    print $out "andr\xe9:\$apr1\$saltsalt\$LrttParrLPdxvgutaSXWJ0\n";
    close $out or die "$users: $!\n";
    use_server(VaultTest::Server->start('odd-user', config => <<"END"));
<Location "/test/page">
    AuthType Basic
    AuthName tests
    AuthUserFile "$users"
    Require valid-user
</Location>
END
    $page = live_page(['/test/echo?text='], headers => {Authorization => 'Basic ' . MIME::Base64::encode_base64("andr\xe9:secret", '')});
    is(explained($page->id)->{Owner}, "andr\x{fffd}", 'a page of a user whose name is no text');
    my $listed = sub { [map { $_->{Page} } @{JSON::PP::decode_json(text_of("/vault/status?pages$_[0]"))->{Pages}}] };
    is_deeply($listed->($_), [substr $page->id, 0, 12], "... is in the list$_") for '', '&owner=andr%E9';
}

finish();
