# SPDX-License-Identifier: Apache-2.0
# as=html: what methods wrote is the data of events, byte for byte but for line ends, which every reader of an event stream takes for LF.
use strict;
use warnings;
use VaultTest;
use VaultTest::Events;

sub write_down
{
    my ($name, $text) = @_;
    return text_of("/test/set?name=$name&notify=$name&value=" . $text =~ s/([^a-z0-9])/sprintf '%%%02X', ord $1/gier);
}

# What the client makes of a text, and the lines that carry it.
my $page = live_page(['/test/value?name=ev10&interest=ev10']);
my $stream = VaultTest::Events->open([$page], html => 1);
is($stream->{headers}{'content-type'}, 'text/event-stream', 'a stream of events');
is($stream->block, "id: 0\n\n", 'it says where it begins, before anything happens');
my $n = 0;
for my $row (
    ["<p>one</p>", "data: <p>one</p>\n", 'one line'],
    ["<p>\n one\n</p>", "data: <p>\ndata:  one\ndata: </p>\n", 'several'],
    ["a\n", "data: a\ndata: \n", 'a line end at the end'],
    ["\n\na", "data: \ndata: \ndata: a\n", 'empty lines at the beginning'],
    ["a\rb", "data: a\ndata: b\n", 'CR alone'],
    ["a\r\nb\r\n", "data: a\ndata: b\ndata: \n", 'CR and LF are one line end'],
    ["a\n\rb", "data: a\ndata: \ndata: b\n", 'LF and CR are two'],
    ["a\r", "data: a\ndata: \n", 'CR at the end'],
    [": a\nid: 99\n\nevent: x", "data: : a\ndata: id: 99\ndata: \ndata: event: x\n", 'what looks like other fields is data'],
    ["  a", "data:   a\n", 'blanks stay'],
    ["\xe2\x80\xa8 \xff", "data: \xe2\x80\xa8 \xef\xbf\xbd\n", 'other line ends of Unicode are none, and bytes that are no UTF-8 become U+FFFD'],
) {
    my ($text, $wanted, $why) = @$row;
    wait_waiting(1);
    write_down('ev10', $text);
    $n++;
    is($stream->block, "${wanted}id: $n\n\n", $why);
}

# The type of an event; JSON; several updates in one answer.
my $several = live_page([
    '/test/value?name=ev10a&interest=ev10a&header=Vault-Update:comments',
    '/test/value?name=ev10b&interest=ev10b&type=application/json',
    '/test/value?name=ev10c&interest=ev10c&type=text/vnd.turbo-stream.html',
]);
write_down("ev10$_", {a => "<li>a\nb</li>", b => '{"n": 1}', c => '<turbo-stream action="remove" target="x"></turbo-stream>'}->{$_}) for qw(a b c);
my $mixed = VaultTest::Events->open([$several], html => 1);
my @events = map { $mixed->html } 1 .. 3;
is(join('|', sort map { "$_->{type} $_->{data}" } @events),
    qq(comments <li>a\nb</li>|message <turbo-stream action="remove" target="x"></turbo-stream>|message {"n": 1}),
    'Vault-Update names the event, else it is a message; JSON is as it is');
is(join(' ', map { $_->{id} } @events), '0 0 1', 'the last event of an answer has its number: a client that misses it gets the whole answer again');
wait_waiting(2);
ok($mixed->is_silent, 'and that is all');
$mixed->reset;
$stream->reset;
wait_waiting(0);

# A method that wants its visitor to sign in, alone and beside another.
for my $with (0, 1) {
    my $out = live_page(['/test/echo?text=x&fail=401', $with ? '/test/echo?text=y' : ()]);
    tolerate(qr/VLT00333/);
    my $signed_out = VaultTest::Events->open([$out], html => 1);
    is($signed_out->html->{data}, 'y', 'an update') if $with;
    my $refused = $signed_out->html;
    is("$refused->{type} $refused->{data} $refused->{id}",
        'vault-refused [{"method":"/test/echo?text=x&fail=401","status":401,"error":"its status is 401"}] 1', 'a refused method is an event of its own');
    $signed_out->reset;
}
wait_waiting(0);

# What is asked for wrongly.
my $url = '/vault/poll?page=' . $page->id;
for my $row (
    ['&as=xml', 400, 'another form'],
    ['&as=html&ack=1&seq=1', 400, 'an acknowledgement'],
    ['&as=html&seq=x', 400, 'a number that is none'],
    ['&as=HTML', 400, 'capitals'],
) {
    my ($more, $status, $why) = @$row;
    is(get("$url$more", headers => {Accept => 'text/event-stream'})->{status}, $status, "$why: $status");
}
is(get('/vault/poll?pages=' . $page->id . '.0&as=html')->{status}, 400, 'several pages: 400');
is(get('/off/poll?as=html&page=' . $page->id)->{status}, 406, 'VaultStreamTimeout 0: 406');
is(get($url)->{status}, 400, 'only HTML goes without a number');

# HTTP/2.
SKIP: {
    skip 'no HTTP/2', 2 unless port_of('vault_h2');
    my $h2 = live_page(['/test/value?name=ev10&interest=ev10'], vhost => 'vault_h2');
    my $over = VaultTest::Events->open([$h2], vhost => 'vault_h2', http2 => 1, html => 1);
    write_down('ev10', "<b>\n2</b>");
    my $event = $over->html;
    $event = $over->html if $event->{data} ne "<b>\n2</b>";
    is($event->{data}, "<b>\n2</b>", 'HTTP/2: the same');
    $over->reset;
    wait_waiting(0);
    pass('... and it ends');
}

finish();
