# SPDX-License-Identifier: Apache-2.0
# A page stays only if its HTML was sent whole, to a browser that shows it, and asks for news.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

live_shtml('/view/live.shtml', '/test/value?name=a');
text_of('/test/set?name=a&value=1');

keeps(1, sub { text_of('/view/live.shtml') }, 'a view with a poll leaves one page');

my $head = keeps(0, sub { get('/view/live.shtml', method => 'HEAD') }, 'HEAD leaves none');
is($head->{status}, 200, 'and is answered');
is($head->{headers}{'cache-control'}, 'private, no-store', 'with the header of the page');

keeps(0, sub { text_of('/test/page?view=a&interest=I') }, 'a view that creates an interest but has no poll leaves none');
site_file('/view/feed-only.shtml', qq(<!--#feed name="tests" method="echo" x="1" -->feed\n));
keeps(0, sub { is(text_of('/view/feed-only.shtml'), "feed\n", 'feeds work without a poll') }, 'a view with a feed only leaves none');

my $created = status()->{PagesCreated};
text_of('/test/pid') for 1 .. 3;
is(status()->{PagesCreated}, $created, 'a view that says nothing of pages makes none in the first place');

for my $code (500, 404, 403) {
    my $answer = keeps(0, sub { get("/test/page?poll=/test/value&fail=$code") }, "a view that fails with $code leaves none");
    is($answer->{status}, $code, '  and says so');
}
keeps(0, sub { get('/test/page?poll=/test/value%3Fname=a&poll=//evil.example/') }, 'a view that fails half-way leaves none');

# The script element has gone out, then the browser goes away.
site_file('/view/left.shtml', qq(<!--#vault poll="/test/value" -->\n)
        . qq(<!--#include virtual="/test/flush?after=left" -->one<!--#include virtual="/test/flush" -->two<!--#include virtual="/test/flush" -->three\n));
my $connection = connect_to();
$connection->request(GET => '/view/left.shtml');
my $html = $connection->read_until('</script>');
$connection->reset;
open_barrier('left');
wait_until(sub { !is_kept($html) }, 'a view whose browser went away leaves none');
pass('a view whose browser went away leaves none');

# ... or a backend does.
site_file('/view/cut.shtml', qq(<!--#vault poll="/test/value" --><!--#include virtual="/test/broken?text=half" -->\n));
$connection = connect_to();
$connection->request(GET => '/view/cut.shtml', {Connection => 'close'});
$html = $connection->read_to_end;
wait_until(sub { !is_kept($html) }, 'a view that breaks off leaves none');
pass('a view that breaks off leaves none');

finish();
