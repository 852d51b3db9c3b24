# SPDX-License-Identifier: Apache-2.0
# A client of a stream goes, in any way and at any moment: it is forgotten, its page is kept, and nothing that it did not see is lost. Over
# TLS as well.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

my %tls = (vhost => 'vault_tls', tls => 1);
for my $over (['plain'], have_tls() ? ['TLS', %tls] : ()) {
    my ($how, %with) = @$over;
    my $name = "ev07-$how";
    my $page = live_page(["/test/rows?name=$name&interest=$name"], %with);
    my ($seq, $row) = (0, 0);
    my $change = sub { wait_waiting(1); text_of("/test/add?name=$name&notify=$name"); $row++ };

    for my $way (qw(close reset)) {
        my $before = status();
        my $stream = VaultTest::Events->open([$page], last => $seq, %with);
        $change->();
        my $event = $stream->event;
        is(VaultTest::Page::text($event), "$row\n", "$how: an event");
        $seq = $event->{seq};
        wait_waiting(1);
        $stream->{connection}->$way;
        wait_waiting(0);
        wait_counter('ClientsGone', $before, 1);
        pass("$how: a client that goes by $way is noticed");
    }

    my $stream = VaultTest::Events->open([$page], last => $seq, %with);
    wait_waiting(1);
    $stream->{connection}->half_close if $how eq 'plain';
    $stream->{connection}->close if $how ne 'plain';
    wait_waiting(0);
    pass("$how: one that will say nothing more is let go");

    $stream = VaultTest::Events->open([$page], last => $seq, %with);
    wait_waiting(1);
    $stream->{connection}->request(GET => '/test/echo?text=behind');
    is($stream->event, undef, "$how: a request behind a stream ends it");
    is($stream->{connection}->response->{body}, 'behind', '  and is answered');

    text_of("/test/add?name=$name&notify=$name");
    $row++;
    $stream = VaultTest::Events->ask([$page], last => $seq, %with);
    $stream->{connection}->request(GET => '/test/echo?text=same');
    $stream->head;
    $stream->block;
    is(VaultTest::Page::text($stream->event), "$row\n", "$how: what there is to say comes first");
    is($stream->event, undef, '  then the end');
    is($stream->{connection}->response->{body}, 'same', '  then what was asked behind it');

    $stream = VaultTest::Events->open([$page], last => $seq, %with);
    text_of("/test/set?name=$name&value=100000&notify=$name");
    my @rows;
    while (@rows < 100_000 - $row) {
        push @rows, split /\n/, VaultTest::Page::text($stream->event);
        shift @rows if $rows[0] == $row;    # it may come first, again, for itself
    }
    is("$rows[0] $rows[-1]", ($row + 1) . ' 100000', "$how: an event of many pieces arrives whole");
    $stream->reset;
    wait_waiting(0);
}

# HTTP/1.0 has no chunks: the stream ends with the connection.
my $page = live_page(['/test/rows?name=ev07&interest=ev07']);
my $connection = connect_to();
$connection->{http10} = 1;
$connection->request(GET => $page->path, {Accept => 'text/event-stream'});
$connection->read_until("live\n\n");
wait_waiting(1);
text_of('/test/add?name=ev07&notify=ev07');
like($connection->read_until("\n\n"), qr/\Aid: 1\ndata: \{.*"body":"1\\n"/, 'HTTP/1.0: an event');
wait_waiting(1);
$connection->close;
wait_waiting(0);

# A page that says what it takes in many ways.
for my $accept ('text/event-stream', 'TEXT/EVENT-STREAM', 'text/html, text/event-stream;q=0.9', 'text/event-stream, application/json') {
    my $answer = VaultTest::Events->ask([$page], last => 1, headers => {Accept => $accept});
    $answer->head;
    is($answer->{headers}{'content-type'}, 'text/event-stream', "Accept: $accept");
    $answer->reset;
}
wait_waiting(0);

finish();
