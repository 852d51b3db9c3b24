# SPDX-License-Identifier: Apache-2.0
# A visitor who repeats a request that is logged as an error, or as something to be told, cannot fill the disk: a child logs one such line a
# second at its level, and the others at debug.
use strict;
use warnings;
use MIME::Base64 ();
use VaultTest;
use VaultTest::Site;

my $REQUESTS = 60;
my $CHILDREN = scalar(my @children = children(3));

sub as { my ($user) = @_; return (headers => {Authorization => 'Basic ' . MIME::Base64::encode_base64("$user:secret", '')}) }

# How many lines with this number are there, by level?
sub lines_of
{
    my ($number) = @_;
    my %levels;
    /\[vault:(\w+)\].*VLT$number:/ and $levels{$1}++ for error_log_lines();
    return \%levels;
}

sub is_seldom
{
    my ($number, $level, $why, $request) = @_;
    my $begin = time;
    $request->() for 1 .. $REQUESTS;
    my $levels = lines_of($number);
    my $said = $levels->{$level} // 0;
    announce(qr/VLT$number: /);
    is($said + ($levels->{debug} // 0), $REQUESTS, "$why: each is logged, VLT$number");
    cmp_ok($said, '>', 0, "... as $level");
    cmp_ok($said, '<=', $CHILDREN * (2 + time - $begin), '... once a second');
    return;
}

my $long = 'i' x 201;
is_seldom('00011', 'error', 'views that cannot be live', sub { get("/test/page?view=h05&interest=$long&poll=/test/echo?text=") });

# 16 methods that keep 4,000 bytes each are more than the state of a page may hold.
my @names = map { 'h05' . 'n' x 20 . $_ } 1 .. 16;
text_of("/test/set?name=$_&value=" . 'v' x 4000) for @names;
my $page = open_page('/test/page?' . join '&', map { "poll=/test/value%3Fname=$_" } @names);
is_seldom('00031', 'error', 'polls for it', sub { get($page->path) });

is_seldom('00062', 'error', 'answers with a header that is wrong', sub { get('/test/echo?text=x&header=Vault-Poll:x') });
my $own = live_page(['/test/echo?text=']);
is_seldom('00063', 'error', 'properties that are too long',
    sub { get('/test/echo?text=x&header=Vault-Property:n=' . 'v' x 4097, headers => {'X-Vault-Page' => $own->id}) });
is_seldom('00070', 'error', 'calls of a feed that fails', sub { get('/vault/feed/tests/fail') });
site_file('/feed/h05.shtml', '<!--#feed name="none" method="x" template="x.html" -->');
is_seldom('00040', 'error', 'a page with a tag that is wrong', sub { get('/feed/h05.shtml') });

SKIP: {
    skip 'httpd has no mod_auth_basic', 3 unless have_module('auth_basic');
    my $annas = open_page('/users/page?poll=/test/echo?text=', as('anna'), poll_path => '/users/poll');
    is_seldom('00032', 'notice', 'polls for the page of another user', sub { get('/users/poll?seq=0&page=' . $annas->id, as('bert')) });
}

finish();
