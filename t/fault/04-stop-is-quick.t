# SPDX-License-Identifier: Apache-2.0
# apachectl stop while polls wait, parked and in threads: the server is gone at once, and its children end as they
# should.
use strict;
use warnings;
use VaultTest;

for my $mpm (grep { VaultTest::Server::has_mpm($_) } qw(event worker prefork)) {
    my $server = use_server(VaultTest::Server->start("stop-$mpm", mpm => $mpm));
    my @pages = map { live_page(['/test/rows?name=f04&interest=f04']) } 1 .. 4;
    my @polls = map { $_->start_poll } @pages;
    wait_waiting(4);
    $server->stop;    # httpd kills a child that has not ended in 9 s
    $_->close for @polls;
    is(scalar(grep { /SIGKILL/ } $server->lines), 0, "$mpm: stopped while polls wait, and no child had to be killed") or diag($server->lines);
}
use_server();
finish();
