# SPDX-License-Identifier: Apache-2.0
# Writers and pages race, with short time-outs, lost answers and clients that hang up: at the end each page has been
# told each row once, in order. Writers are processes of their own; the pages are this one's, which looks at whatever
# comes first.
use strict;
use warnings;
use IO::Select;
use POSIX ();
use VaultTest;

# Fewer under a sanitizer, and where VaultTest::Family runs it once more.
use constant {INTERESTS => 3, PAGES => 9, WRITERS => 3, ROUNDS => $ENV{VAULT_AT} ? 120 : ($ENV{VAULT_SANITIZER} // 'no') ne 'no' ? 300 : 800};

# Each writer writes its rounds, each time to another of the variables, and leaves.
sub start_writer
{
    my ($number) = @_;
    my $pid = fork;
    die "fork: $!\n" unless defined $pid;
    return $pid if $pid;
    for my $round (1 .. ROUNDS) {
        my $name = 'w13-' . ($round + $number) % INTERESTS;
        POSIX::_exit(1) if get("/test/add?name=$name&notify=$name")->{status} != 200;
    }
    POSIX::_exit(0);
}

# What an answer brought: the rows must be those that come next. A lost answer is one that the page does not count.
my (%page_of, %seen, %wrong);
my ($answers, $lost) = (0, 0);
sub take
{
    my ($page, $connection) = @_;
    my $lose = ($answers + $lost) % 10 == 9;
    my $answer = $lose ? $page->read_poll($connection) : $page->finish_poll($connection);
    die "status $answer->{status}\n" unless $answer->{status} =~ /^20[04]$/;
    return if $answer->{status} == 204;
    $lose ? $lost++ : $answers++;
    my $next = $seen{$page};
    for my $row (split /\n/, VaultTest::Page::text($answer)) {
        $wrong{"page " . $page->id . ": row $row where " . ($next + 1) . ' was next'} = 1 if $row != ++$next;
    }
    $seen{$page} = $next unless $lose;
    return;
}

srand 13;
my @pages = map { live_page(['/test/rows?name=w13-' . $_ % INTERESTS . '&interest=w13-' . $_ % INTERESTS], poll_path => '/quick/poll') }
    0 .. PAGES - 1;
my $select = IO::Select->new;

sub poll_again
{
    my ($page, $connection) = @_;
    $connection = $page->start_poll($connection);
    $select->add($connection->{socket});
    @page_of{$connection->{socket}} = [$page, $connection];
    return;
}
$seen{$_} = 0 for @pages;
poll_again($_) for @pages;
my %writers = map { start_writer($_) => 1 } 1 .. WRITERS;
my $failed = 0;
my $rows = WRITERS * ROUNDS / INTERESTS;

with_deadline(
    5 * PATIENCE(),
    sub {
        while (keys %writers || grep { $seen{$_} < $rows } @pages) {
            for my $socket ($select->can_read(0.2)) {
                next if $page_of{$socket}[1]->is_silent;    # TLS and HTTP/2 have things to say of their own
                my ($page, $connection) = @{delete $page_of{$socket}};
                $select->remove($socket);
                if (rand() < 0.02) {
                    $connection->reset;    # the answer is on its way, or a part of it
                    $lost++;
                    undef $connection;
                }
                elsif (!eval { take($page, $connection); 1 }) {
                    die $@ if $@ !~ /ended before an answer(?:: "")?$/;    # httpd ends idle connections when it is busy
                    undef $connection;
                }
                poll_again($page, $connection);
            }
            while ((my $pid = waitpid -1, POSIX::WNOHANG()) > 0) {
                delete $writers{$pid};
                $failed ||= $?;
            }
            last if %wrong;
        }
    }
);
is($failed, 0, 'all writers have written');
is_deeply([sort keys %wrong], [], 'no row came twice, out of order or not at all');
is_deeply([map { $seen{$_} } @pages], [($rows) x @pages], "each page has each of its $rows rows");
# How many rows an answer has is a matter of how busy the machine is; what matters is that pages had several.
cmp_ok($answers, '>', PAGES, "in more answers than pages: $answers");
cmp_ok($lost, '>', 0, "though $lost were lost");

$_->[1]->reset for values %page_of;
wait_waiting(0);
finish();
