# SPDX-License-Identifier: Apache-2.0
# One poll runs a method for all pages, and the others wait for it, while its child is killed, its client disconnects, a notify comes, or the
# server is restarted. Each page shows each word once, and shows the last word in the end.
use strict;
use warnings;
use Fcntl;
use POSIX qw(mkfifo);
use VaultTest;
use VaultTest::Site;

needs_parking();

use constant PAGES => 3;

my $journal = vars('t_logs') . '/held-journal';
my $top = vars('top_dir');
use_server(VaultTest::Server->start('held', size => "ThreadLimit 8\nThreadsPerChild 8\nStartServers 2\nServerLimit 8\nMaxRequestWorkers 64\n",
    config => live_folder('/held') . <<"END"));
VaultFeed tests "$top/modules/vault_feed_test.so" word=hello journal=$journal
<Directory "@{[site_path('/held')]}">
    VaultCache On
</Directory>
END

sub write_word
{
    my ($word) = @_;
    open my $file, '>', "$journal.value.new" or die "$journal.value.new: $!\n";
    print $file "$word\n";
    close $file or die "$journal.value.new: $!\n";
    rename "$journal.value.new", "$journal.value" or die "$journal.value: $!\n";
    return;
}

# The children that have read the word so far, in order.
sub readers_of
{
    open my $file, '<', $journal or return;
    return map { /^read (\d+)/ } readline $file;
}

# From now on each method stops when it has read the word.
sub close_gate
{
    mkfifo("$journal.gate", 0666) or die "$journal.gate: $!\n";
    chmod 0666, "$journal.gate" or die "$journal.gate: $!\n";    # whatever the umask is
    return;
}

# All that have stopped go on, and no other stops. Returns a handle, which is to stay open until all have gone on.
sub open_gate
{
    sysopen my $gate, "$journal.gate", O_RDWR or die "$journal.gate: $!\n";
    unlink "$journal.gate" or die "$journal.gate: $!\n";
    return $gate;
}

unlink $journal, "$journal.gate";
site_file('/held/word.html', '{{#rows}}[{{word}}]{{/rows}}');
live_tag('/held/page', '<!--#feed name="tests" method="value" interest="held" template="word.html" -->');
write_word('first');
my @pages = map { +{page => open_page('/held/page.shtml'), shown => ''} } 1 .. PAGES;
$_->{poll} = $_->{page}->start_poll for @pages;
wait_waiting(PAGES);

# Takes what has come for a page, and polls again. A closed connection, and 204 of a child that ends, are no answers.
sub take
{
    my ($p) = @_;
    while (!$p->{poll}->is_silent) {
        my $answer = $p->{poll}->is_closed ? undef : $p->{page}->finish_poll($p->{poll});
        die "$answer->{status} $answer->{body}\n" if $answer && $answer->{status} !~ /^20[04]$/;
        $p->{shown} .= VaultTest::Page::text($answer) =~ s/.*?(\[\w+\])[^\[]*/$1/gsr if $answer && $answer->{status} == 200;
        $p->{poll} = $p->{page}->start_poll;
    }
    return;
}

# A new word is announced: one poll has read it and stops, the others wait. Returns the child that has read it.
sub scene
{
    my ($word) = @_;
    my $before = () = readers_of();
    $_->{shown} = '' for @pages;
    close_gate();
    write_word($word);
    text_of('/test/notify?interest=held');
    wait_until(sub { (() = readers_of()) > $before }, "one runs the method for $word");
    wait_waiting(PAGES - 1);
    is((() = readers_of()) - $before, 1, "$word: one runs the method, the others wait for it");
    return (readers_of())[-1];
}

sub all_show
{
    my ($pattern, $what) = @_;
    wait_until(
        sub {
            take($_) for @pages;
            return !grep { $_->{shown} !~ $pattern } @pages;
        },
        "$what: all pages show $pattern"
    );
    wait_waiting(PAGES);
    take($_) for @pages;
    like($_->{shown}, $pattern, "$what: each word once") for @pages;
    return;
}

scene('plain');
my $gate = open_gate();
all_show(qr/^\[plain\]$/, 'nothing happens');

my $child = scene('killed');
my $before = status();
kill KILL => $child;
wait_counter('NotifyAlls', $before, 1);
$gate = open_gate();
all_show(qr/^\[killed\]$/, 'the child is killed');
announce(qr/VLT00004: child \d+ \(slot \d+\) ended without cleaning up/);
children(2);

# Nothing says which page's poll runs the method, so all hang up.
scene('gone');
$_->{poll}->close for @pages;
$_->{poll} = $_->{page}->start_poll for @pages;
$gate = open_gate();
all_show(qr/^\[gone\]$/, 'all clients hang up and poll again');

scene('before');
write_word('after');
text_of('/test/notify?interest=held');
$gate = open_gate();
all_show(qr/^(?:\[before\])?\[after\]$/, 'a notify comes meanwhile');

scene('old');
graceful_restart();
$gate = open_gate();
all_show(qr/^\[old\]$/, 'the server is restarted meanwhile');
$_->{poll}->close for @pages;
wait_waiting(0);
use_server();
finish();
