# SPDX-License-Identifier: Apache-2.0
# vault.js may ask before the last byte of its page has come: what the page shows is not known until then, so the poll waits.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

text_of('/test/set?name=slow&value=0');
site_file('/view/slow.shtml', <<'END');
<!--#vault poll="/test/rows?name=slow&interest=slow" -->
<!--#include virtual="/test/flush?after=view" -->end
END
my $view = connect_to();
$view->request(GET => '/view/slow.shtml');
my $html = $view->read_until('</script>');
wait_arrived('view', 1);
my $page = VaultTest::Page->new({status => 200, body => $html});

my $before = status();
my $poll = $page->start_poll;
wait_waiting(1);
ok($poll->is_silent, 'a poll of a page that is not complete waits');
is(status()->{Runs}, $before->{Runs}, 'and runs no method');

text_of('/test/add?name=slow&notify=slow');
is(status()->{Runs}, $before->{Runs}, 'not even when it is notified');
ok($poll->is_silent, 'it still waits');

open_barrier('view');
like($view->read_until('end'), qr/end$/, 'the view ends');
my $answer = $page->finish_poll($poll);
is($answer->{status}, 200, 'then the poll is answered');
is(VaultTest::Page::text($answer), "1\n", 'with what came while the page was rendered');
text_of('/test/add?name=slow&notify=slow');
is(VaultTest::Page::text($page->poll), "2\n", 'and the page goes on');

# A view that its browser leaves in the middle takes its page with it, and the poll is told. The page notices with its second write.
site_file('/view/left-early.shtml', <<'END');
<!--#vault poll="/test/rows?name=slow&interest=slow" -->
<!--#include virtual="/test/flush?after=early" -->one<!--#include virtual="/test/flush" -->two<!--#include virtual="/test/flush" -->end
END
$view = connect_to();
$view->request(GET => '/view/left-early.shtml');
$page = VaultTest::Page->new({status => 200, body => $view->read_until('</script>')});
wait_arrived('early', 1);
$poll = $page->start_poll;
wait_waiting(1);
$view->reset;
my $second = $page->duplicate->start_poll;
is($page->read_poll($poll)->{headers}{'vault-superseded'}, 1, 'a second poll ends the first, before the page is published as well');
wait_waiting(1);
open_barrier('early');
is($page->read_poll($second)->{status}, 410, 'the second is told that the page is gone');

finish();
