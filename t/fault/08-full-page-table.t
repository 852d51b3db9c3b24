# SPDX-License-Identifier: Apache-2.0
# More pages than VaultMaxPages: a view is shown all the same, but is not live, and one log line says so. Pages that
# no client has polled for a while make room first; a page that is polled never does.
use strict;
use warnings;
use Time::HiRes ();
use VaultTest;

use_server(VaultTest::Server->start('full-table', config => "VaultMaxPages 5\n"));
my @pages = map { live_page(['/test/rows?name=f08&interest=f08']) } 1 .. 5;
is(status()->{Pages}, 5, 'the table is full');
my $polled = $pages[0]->start_poll;
wait_waiting(1);

my $before = status();
my $view = get(view_of('/test/rows?name=f08&interest=f08'));
is($view->{status}, 503, 'the test\'s view says so when a long poll cannot be added');
is(status()->{Refused} - $before->{Refused}, 1, 'it is counted');
is(status()->{Pages}, 5, 'no page was sacrificed');

# Pages that were never polled may go ten seconds after they were made: this is the one fact here that only time can bring.
my $page = wait_until(sub { eval { live_page(['/test/rows?name=f08&interest=f08']) } }, 'an idle page makes room');
is(status()->{Pages}, 5, 'the table is as full as before');
ok($polled->is_silent, 'the page that is polled has stayed');
text_of('/test/add?name=f08&notify=f08');
is(VaultTest::Page::text($pages[0]->finish_poll($polled)), "1\n", 'and is answered');
is(VaultTest::Page::text($page->poll), "1\n", 'and so is the new one');
is($pages[1]->poll->{status}, 410, 'the one that went had waited longest: it is told to load anew');
is(VaultTest::Page::text($pages[4]->poll), "1\n", 'a younger one is still there');

announce(qr/vault:warn\].*VLT00010: no page can be made: 5 of VaultMaxPages 5 are in use/);
finish();
