# SPDX-License-Identifier: Apache-2.0
# A POST that queues has its body when its handler runs: sent at once, late, in chunks, larger than any buffer, or half a body.
use strict;
use warnings;
use VaultTest;
use VaultTest::Gate;

sub queued
{
    my ($n, $send) = @_;
    my $connection = connect_to();
    $send->($connection);
    wait_gate('/qos/post/', Running => 1, Queued => $n);
    return $connection;
}

my $large = 'x' x 300_000;
my $form = 'name=q07&text=hello';
my $path = '/qos/post/body';
my $first = held('/qos/post/', 'q07');
wait_gate('/qos/post/', Running => 1);
my $at_once = queued(1, sub { $_[0]->request(POST => $path, {}, $form) });
my $late = queued(2, sub { $_[0]->request(POST => $path, {'Content-Length' => length $form}) });
my $chunked = queued(3, sub {
    $_[0]->request(POST => $path, {'Transfer-Encoding' => 'chunked'});
    $_[0]->send_raw("5\r\nhello\r\n");
});
my $big = queued(4, sub { $_[0]->request(POST => $path, {'Content-Length' => length $large}); $_[0]->send_raw(substr $large, 0, 20_000) });
my $expect = queued(5, sub { $_[0]->request(POST => $path, {'Content-Length' => 4, Expect => '100-continue'}) });
my $half = queued(6, sub { $_[0]->request(POST => $path, {'Content-Length' => 1000}); $_[0]->send_raw('half') });
ok($expect->is_silent, 'the body is not asked for before the request is let in');
$half->reset;
wait_gate('/qos/post/', Running => 1, Queued => 5);
pass('half a body and a hang-up frees the place');
$late->send_raw($form);
$chunked->send_raw("6\r\n world\r\n0\r\n\r\n");
open_barrier('q07');
is($first->response->{status}, 200, 'the first');
is($at_once->response->{body}, $form, 'a body that was there');
is($late->response->{body}, $form, 'a body that came while it waited');
is($chunked->response->{body}, 'hello world', 'chunks');
$big->send_raw(substr $large, 20_000);
is($big->response->{body}, $large, 'a large one whose end comes after it was let in');
is($expect->read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n", 'Expect: 100-continue, when it is let in');
$expect->send_raw('body');
is($expect->response->{body}, 'body', '  and then the body');
wait_gate('/qos/post/', Running => 0, Queued => 0);

$late->request(POST => $path, {}, 'again');
is($late->response->{body}, 'again', 'the connection goes on after it');

# mod_reqtimeout gives a body a second there, from when it is read. Meanwhile others run out of their second in another queue.
SKIP: {
    skip 'mod_reqtimeout is not there', 2 unless have_module('reqtimeout');
    my $first = held('/qos/post/', 'q07-slow');
    wait_gate('/qos/post/', Running => 1);
    my $post = connect_to(vhost => 'vault_reqtimeout');
    $post->request(POST => $path, {'Content-Length' => 4});
    wait_gate('/qos/post/', Running => 1, Queued => 1);
    my $hasty = held('/qos/hasty/', 'q07-hasty');
    wait_gate('/qos/hasty/', Running => 1);
    get('/qos/hasty/pid') for 1, 2;
    open_barrier('q07-hasty');
    is($hasty->response->{status}, 200, 'two seconds have passed');
    open_barrier('q07-slow');
    $first->response;
    wait_gate('/qos/post/', Running => 1, Queued => 0);
    $post->send_raw('body');
    is($post->response->{body}, 'body', 'the time that a body may take begins when the request is let in');
}

tolerate(qr/VLT00258:/);
finish();
