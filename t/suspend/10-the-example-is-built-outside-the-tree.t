# SPDX-License-Identifier: Apache-2.0
# The module of docs/suspending.md, built as a stranger builds it: from a copy of the installed folder, against the installed header. A
# request waits for another one to give it a value, and all that may happen to it meanwhile happens.
use strict;
use warnings;
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use POSIX ();
use VaultTest;

plan(skip_all => 'pkg-config is not there') if system('pkg-config --version >/dev/null 2>&1');

# ---------------------------------------------------------------- building
my ($root, $top) = (vars('top_dir') . '/installed', vars('t_logs') . '/meet');
remove_tree($top);
my ($pc) = split /\n/, qx(find '$root' -name mod_vault.pc);
my ($example) = split /\n/, qx(find '$root' -name mod_meet.c);
$example =~ s{/mod_meet\.c$}{} or die "mod_meet.c is not installed\n";

sub build
{
    my ($name, $command) = @_;
    make_path("$top/$name");
    copy("$example/$_", "$top/$name/$_") or die "$example/$_: $!\n" for qw(Makefile mod_meet.c);
    open my $out, '>', "$top/$name/mod_vault.pc" or die "$top/$name/mod_vault.pc: $!\n";
    print $out read_file($pc) =~ s/^prefix=/prefix=$root/mr;
    close $out or die "$top/$name/mod_vault.pc: $!\n";
    delete local @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};    # of the make that runs the tests
    local $ENV{PKG_CONFIG_PATH} = "$top/$name";
    my $said = qx(cd '$top/$name' && { $command; } 2>&1);
    my ($so) = grep { -f } "$top/$name/mod_meet.so", "$top/$name/.libs/mod_meet.so";
    return ($so, $said);
}
my ($so, $said) = build('make', 'make -s CFLAGS="-O1 -g -Wall -Wextra -Wno-unused-parameter -Werror"');
ok($so, 'the example is built by make') or diag($said);
is($said, '', '  without a warning');
SKIP: {
    skip 'there is no apxs', 1 unless $ENV{APXS} && -x $ENV{APXS};
    my ($by_apxs, $words) = build('apxs', qq("$ENV{APXS}" -c \$(pkg-config --cflags mod_vault) mod_meet.c));
    ok($by_apxs, '  and by apxs') or diag($words);
}

# ---------------------------------------------------------------- using
# The worker MPM says so on a slow machine, when a child that was replaced has not ended yet.
tolerate(qr/AH00288: scoreboard is full/);
my $config = qq(LoadModule meet_module "$so"\n<Location "/meet/">\nSetHandler meet\n</Location>\nVaultLongPollThreads 6\n);
for my $mpm (grep { VaultTest::Server::has_mpm($_) } qw(event worker)) {
    my $server = use_server(VaultTest::Server->start("meet-$mpm", mpm => $mpm, size => "Timeout 4\n", config => $config));

    my $connection = connect_to();
    for my $value ('I am here', "bytes \0\n", '') {
        $connection->request(GET => '/meet/anna');
        wait_waiting(1);
        is(post('/meet/berta', 'not for anna')->{body}, "0\n", "$mpm: no request waits elsewhere");
        ok($connection->is_silent, '  and the request that waits here does not mind');
        is(post('/meet/anna', $value)->{body}, "1\n", '  one waits here');
        is($connection->response->{body}, $value, '  and gets what is posted');
    }
    my @many = map { my $c = connect_to(); $c->request(GET => '/meet/many'); $c } 1 .. 5;
    wait_waiting(5);
    is(post('/meet/many', 'all')->{body}, "5\n", 'several may wait');
    is($_->response->{body}, 'all', '  and each gets it') for @many;

    $connection->request(GET => '/meet/nobody');
    is($connection->response->{status}, 204, 'no other request comes in time');

    $connection->request(GET => '/meet/gone');
    wait_waiting(1);
    is(get('/meet/gone', method => $_, headers => {Origin => 'http://evil.test'}, body => '')->{status}, 403, "a page of another site may not $_") for qw(POST DELETE);
    is(get('/meet/gone', method => 'DELETE')->{body}, "1\n", 'sent away');
    my $answer = $connection->response;
    is("$answer->{status} $answer->{body}", '200 ', '  without its handler');

    for my $way (qw(close reset)) {
        my $client = connect_to();
        $client->request(GET => '/meet/lost');
        wait_waiting(1);
        $client->$way;
        wait_waiting(0);
        is(post('/meet/lost', 'x')->{body}, "0\n", "a client that is gone ($way) is not found any more");
    }
    is(post('/meet/anna', 'x' x 1025)->{status}, 413, 'what is too long is refused');

    $connection->request(GET => '/meet/restart');
    wait_waiting(1);
    graceful_restart();
    is($connection->response->{status}, 204, 'a restart ends the wait as its time would');
    my $next = connect_to();
    $next->request(GET => '/meet/restart');
    wait_waiting(1);
    is(post('/meet/restart', 'again')->{body}, "1\n", '  and the next one waits in the new child');
    is($next->response->{body}, 'again', '  and is answered');
}

# Clients that come, meet and go in any order.
srand 10;
for my $round (1 .. 200) {
    my $connection = connect_to();
    $connection->request(GET => '/meet/any');
    rand() < 0.5 ? $connection->reset : $connection->close if rand() < 0.5;
    post('/meet/any', 'x') if rand() < 0.7;
}
post('/meet/any', 'x');
wait_waiting(0);
pass('clients that come, meet and go in any order');

use_server();
finish();
