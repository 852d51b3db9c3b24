# SPDX-License-Identifier: Apache-2.0
# The request that renders for others hangs, and its child lives. A view and polls that wait for it are answered at their time limit: one of
# them renders, and the others and later requests use its output. When the request that hangs continues in the end, it leaves nothing behind.
use strict;
use warnings;
use Fcntl;
use JSON::PP ();
use POSIX qw(mkfifo);
use VaultTest;
use VaultTest::Site;

needs_parking();

use constant PAGES => 4;

my $journal = vars('t_logs') . '/hangs-journal';
my $top = vars('top_dir');
use_server(VaultTest::Server->start('hangs', size => "ThreadLimit 8\nThreadsPerChild 8\nStartServers 2\nServerLimit 8\nMaxRequestWorkers 64\n",
    config => "Timeout 6\n" . live_folder('/hangs') . <<"END"));
<Location "/vault/poll">
    VaultLongPollTimeout 3
</Location>
<Directory "@{[site_path('/hangs')]}">
    VaultCache On
</Directory>
VaultFeed tests "$top/modules/vault_feed_test.so" word=hello journal=$journal
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

sub readings
{
    open my $file, '<', $journal or return 0;
    return scalar grep { /^read / } readline $file;
}

# The next run that reads the word hangs until go_on(). Later runs do not.
sub hang
{
    my ($name, $start) = @_;
    my $before = readings();
    mkfifo("$journal.gate", 0666) or die "$journal.gate: $!\n";
    chmod 0666, "$journal.gate" or die "$journal.gate: $!\n";    # whatever the umask is
    my @started = $start->();
    wait_until(sub { readings() > $before }, "one reads the word $name");
    rename "$journal.gate", "$journal.$name" or die "$journal.gate: $!\n";
    return @started;
}

# Returns a handle, which is to stay open until it has gone on.
sub go_on
{
    my ($name) = @_;
    sysopen my $gate, "$journal.$name", O_RDWR or die "$journal.$name: $!\n";
    return $gate;
}

# Takes what has come for a page, and polls again.
sub take
{
    my ($p) = @_;
    while (!$p->{poll}->is_silent) {
        my $answer = $p->{page}->finish_poll($p->{poll});
        die "$answer->{status} $answer->{body}\n" if $answer->{status} !~ /^20[04]$/;
        $p->{shown} .= join '', VaultTest::Page::text($answer) =~ /\[\w+\]/g;
        $p->{poll} = $p->{page}->start_poll;
    }
    return;
}

# So many of these pages show that, and no other has anything.
sub show
{
    my ($pages, $n, $text, $what) = @_;
    wait_until(
        sub {
            take($_) for @$pages;
            return $n == grep { $_->{shown} eq $text } @$pages;
        },
        "$what: $n pages show $text"
    );
    return is((scalar grep { $_->{shown} eq '' } @$pages), @$pages - $n, $what);
}

# What is kept now, when nothing waits.
sub kept
{
    wait_waiting(0);
    my $s = status();
    return join ' ', map { "$_ $s->{$_}" } qw(Outputs OutputMemory Interests);
}

sub ask
{
    my ($path) = @_;
    my $connection = connect_to();
    $connection->request(GET => $path);
    return $connection;
}

unlink $journal, map { "$journal.$_" } qw(gate words bread water);
site_file('/hangs/word.html', '{{#rows}}[{{word}}]{{/rows}}');
live_tag('/hangs/page', '<!--#feed name="tests" method="value" interest="hangs" template="word.html" -->');
site_file('/hangs/plain.shtml', '<p><!--#feed name="tests" method="value" interest="plain" template="word.html" --></p>');
settle();

# Polls.
write_word('first');
my @pages = map { +{page => open_page('/hangs/page.shtml'), shown => ''} } 1 .. PAGES;
$_->{poll} = $_->{page}->start_poll for @pages;
wait_waiting(PAGES);
write_word('empty');
text_of('/test/notify?interest=hangs');
show(\@pages, PAGES, '[empty]', 'each page shows a word');
$_->{shown} = '' for @pages;
my $before = readings();
my $waits = status()->{OutputWaits};
hang('bread', sub { write_word('bread'); text_of('/test/notify?interest=hangs') });
wait_until(sub { status()->{OutputWaits} - $waits >= PAGES - 1 }, 'the others wait for the one that hangs');
is(readings() - $before, 1, 'the poll that runs the method hangs, the others wait for it');
show(\@pages, PAGES - 1, '[bread]', '... until one of them runs it in its place');
is(readings() - $before, 2, '... for all of them');
my ($hangs) = grep { $_->{shown} eq '' } @pages;
my @others = grep { $_ != $hangs } @pages;

$_->{shown} = '' for @others;
$_->{poll}->close for @others[1 .. $#others];
wait_waiting(1);
$waits = status()->{OutputWaits};
write_word('water');
text_of('/test/notify?interest=hangs');
show([$others[0]], 1, '[water]', 'what is new meanwhile is rendered');
is(status()->{OutputWaits}, $waits, '... and nothing waits for the one that hangs');
for (@others[1 .. $#others]) {
    $_->{poll} = $_->{page}->start_poll;
}
show(\@others, scalar @others, '[water]', '... for all pages');
is(readings() - $before, 3, '... once');
my $gate = go_on('bread');
wait_until(sub { take($hangs); $hangs->{shown} =~ /\[water\]$/ }, 'the page of the one that hung shows what the others do');
like($hangs->{shown}, qr/^(?:\[bread\])?\[water\]$/, '... each word once');
close $gate;
$_->{poll}->close for @pages;
wait_waiting(0);

# Repeating this leaks nothing.
my $held;
for my $word (qw(bread water bread)) {
    unlink "$journal.$word";
    $_->{shown} = '' for @pages;
    $_->{poll} = $_->{page}->start_poll for @pages;
    wait_waiting(PAGES);
    hang($word, sub { write_word($word); text_of('/test/notify?interest=hangs') });
    show(\@pages, PAGES - 1, "[$word]", "once more: $word");
    ($hangs) = grep { $_->{shown} eq '' } @pages;
    $gate = go_on($word);
    wait_until(sub { take($hangs); $hangs->{shown} eq "[$word]" }, '... and the one that hung');
    close $gate;
    $_->{poll}->close for @pages;
    is(kept(), $held, '... nothing more is kept than before') if $held;
    $held = kept();
}

# Views.
text_of('/hangs/plain.shtml') for 1 .. 2;
write_word('water');
text_of('/test/notify?interest=plain');
like(text_of('/hangs/plain.shtml'), qr/\[water\]/, 'a view') for 1 .. 2;
$before = readings();
like(text_of('/hangs/plain.shtml'), qr/\[water\]/, '... which is kept');
is(readings(), $before, '... as it was rendered');
$held = kept();
$before = readings();
unlink "$journal.bread";
my ($leader) = hang('bread', sub { write_word('bread'); text_of('/test/notify?interest=plain'); ask('/hangs/plain.shtml') });
my $waiter = ask('/hangs/plain.shtml');
wait_waiting(1);
like($waiter->response->{body}, qr/\[bread\]/, 'the view that renders hangs: another one that waits for it is answered');
is(readings() - $before, 2, '... by rendering in its place');
like(text_of('/hangs/plain.shtml'), qr/\[bread\]/, '... and later ones take that');
is(readings() - $before, 2, '... without rendering');
write_word('water');
text_of('/test/notify?interest=plain');
$waits = status()->{OutputWaits};
like(text_of('/hangs/plain.shtml'), qr/\[water\]/, 'what is new meanwhile');
is(status()->{OutputWaits}, $waits, '... is rendered without waiting for the one that hangs');
$gate = go_on('bread');
like($leader->response->{body}, qr/\[bread\]/, 'the one that hung is answered in the end');
like(text_of('/hangs/plain.shtml'), qr/\[water\]/, '... what it has made was outdated, and is not kept');
close $gate;
is(kept(), $held, '... and nothing more is kept than before');
is_deeply(JSON::PP::decode_json(text_of('/vault/status?check'))->{Wrong}, [], '... and the tables are right');

use_server();
finish();
