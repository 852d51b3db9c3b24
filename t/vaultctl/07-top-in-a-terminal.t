# SPDX-License-Identifier: Apache-2.0
# vaultctl top in a terminal of its own: it draws again in the same place, as many lines as there are, ends by q and by Ctrl-C, and leaves the
# terminal as it was.
use strict;
use warnings;
use VaultTest;
use VaultTest::Terminal;
use VaultTest::Vaultctl;

needs_vaultctl();
needs_terminal();
my $clear = qr/\e\[H\e\[2J/;

# Its own look, one after the other, when the test says so: the delay is longer than the test.
my $terminal = VaultTest::Terminal->start([vaultctl_command('top', '-d', 600)], rows => 12);
my $first = $terminal->read_until(qr/$clear.*\n.*\n.*Pages +\d+ of/s);
like($first, qr/${clear}mod_vault at http:.*\n/, 'the figures are drawn on a cleared screen');
ok(!$terminal->echoes && !$terminal->by_lines, 'keys are taken as they come, and not shown');
text_of('/test/set?name=v07&value=1');
my $page = live_page(['/test/value?name=v07&interest=v07']);
$terminal->type(' ');
like($terminal->read_until($clear), qr/^[^\e]*$clear$/, 'a key draws them again in the same place');
$terminal->type('q');
is($terminal->end, 0, 'q ends it');
my $lines = () = $terminal->rest =~ /\n/g;
ok($lines >= 8 && $lines < 12, '... as many lines as the terminal has') or diag($terminal->rest);
ok($terminal->echoes && $terminal->by_lines, '... and the terminal is as it was');
unlike($terminal->rest, qr/q/, '... and shows no q');

# By itself, every second.
$terminal = VaultTest::Terminal->start([vaultctl_command('top')]);
$terminal->read_until($clear) for 1 .. 3;
pass('it draws again by itself');
$terminal->type("\cC");
is($terminal->end, 'signal 2', 'Ctrl-C ends it, as a signal');
ok($terminal->echoes && $terminal->by_lines, '... and the terminal is as it was');

# Stopped and gone on.
$terminal = VaultTest::Terminal->start([vaultctl_command('top', '-d', 600)]);
$terminal->read_until($clear);
$terminal->type("\cZ");
wait_until(sub { $terminal->is_stopped }, 'Ctrl-Z stops it');
ok($terminal->echoes && $terminal->by_lines, 'while it is stopped the terminal is as it was');
$terminal->go_on;
wait_until(sub { !$terminal->by_lines }, 'then it has its keys again');
$terminal->type('q');
is($terminal->end, 0, '... and q ends it');

# As many looks as asked for.
$terminal = VaultTest::Terminal->start([vaultctl_command('top', '-n', 2)]);
is($terminal->end, 0, 'two looks, then the end');
my $looks = () = $terminal->rest =~ /$clear/g;
is($looks, 2, '... of two');
ok($terminal->echoes && $terminal->by_lines, '... and the terminal is as it was');

# A server that is gone.
$terminal = VaultTest::Terminal->start([vaultctl_command('top', '--url', 'http://127.0.0.1:' . VaultTest::Server::free_port() . '/')]);
is($terminal->end, 2, 'no server answers');
ok($terminal->echoes && $terminal->by_lines, '... and the terminal is as it was');

finish();
