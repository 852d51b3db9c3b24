# SPDX-License-Identifier: Apache-2.0
# The id of a page is as good as the visitor's session. No form of the status has a whole one, wherever it comes from, and neither have
# mod_status and our lines of the error log. Applications and the access log see the request line as it was sent.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;

my $log = vars('t_logs') . '/no-id.log';
unlink $log;
my $mods = have_module('status') && have_module('log_config');
my $format = $mods ? <<"END" : '';
ExtendedStatus On
LogFormat "%r" whole
LogFormat "%m %U %H %>s" without
SetEnvIf Request_URI "^/vault/" vault
CustomLog "$log" whole env=!vault
CustomLog "$log" without env=vault
END
use_server(VaultTest::Server->start('no-id', config => $format));

# An id in all that a page can hold: its methods, interests, properties and cursors.
my $other = live_page(['/test/echo?text=']);
my $page = live_page(['/test/rows?name=s06&interest=page:' . $other->id, '/test/property?key=' . $other->id . '&value=' . $other->id]);
my $poll = $page->start_poll;
wait_waiting(1);
for my $form ('', '?auto', '?json', '?metrics', '?pages', '?check', '?page=' . $page->id, '?page=' . $other->id, '?page=' . substr $page->id, 0, 12) {
    my $text = text_of("/vault/status$form");
    unlike($text, qr/[0-9a-f]{40}/, "/vault/status$form");
}
my $facts = JSON::PP::decode_json(text_of('/vault/status?page=' . $page->id));
my $name = substr $other->id, 0, 12;
ok((grep { $_->{name} eq "page:$name" } map { @{$_->{interests}} } @{$facts->{Methods}}), 'an interest is shown with the name of the page');
is($facts->{Properties}{$name}, $name, '... and a property');
ok((grep { $_->{url} =~ /key=$name&value=$name$/ } @{$facts->{Methods}}), '... and the URL of a method');

SKIP: {
    skip 'httpd has no mod_status or no mod_log_config', 1 unless $mods;
    my $shown = sub {
        my ($when) = @_;
        my $text = text_of('/server-status');
        unlike($text, qr/[0-9a-f]{40}/, "mod_status, $when");
        return $text;
    };
    $shown->('while a poll waits');
    text_of('/test/add?name=s06&notify=page:' . $other->id);
    $page->finish_poll($poll);
    $shown->('when it has been answered');

    # A poll whose method runs, and an application that has the id in its own URL.
    my $running = live_page(['/test/echo?text=1&before=s06']);
    $poll = $running->start_poll;
    wait_arrived('s06', 1);
    like($shown->('while a method runs'), qr{GET /vault/poll\?page=\Q@{[substr $running->id, 0, 12]}\E&amp;seq=0 HTTP}, '... shows the name');
    my $held = connect_to();
    $held->request(GET => '/test/wait?before=s06&page=' . $page->id);
    wait_arrived('s06', 2);
    like($shown->('while an application runs'), qr{GET /test/wait\?before=s06&amp;page=\Q@{[substr $page->id, 0, 12]}\E HTTP}, '... shows the name');
    open_barrier('s06');
    is($held->response->{status}, 200, 'it is answered');
    is(VaultTest::Page::text($running->finish_poll($poll)), '1', '... as is the poll');
    $shown->('when both have been answered');
    get('/vault/poll?pages=' . $page->id . '.99.' . 'f' x 32 . ',' . $other->id . '.99');
    $shown->('after a poll of several that failed');
    get('/vault/status?page=' . $page->id);
    $shown->('after an explanation');

    my $logged = wait_until(sub { my $text = -f $log ? read_file($log) : ''; $text =~ m{^GET /vault/status HTTP}m && $text }, 'the access log');
    like($logged, qr{^GET /test/wait\?before=s06&page=\Q@{[$page->id]}\E HTTP/1\.1$}m, 'the access log has the request line as it was sent');
    like($logged, qr{^GET /vault/poll HTTP/1\.1 200$}m, '... or none of the query, where its format leaves it out');
    unlike($logged, qr{^GET /vault/\S*[0-9a-f]{40}}m, '... in no poll');
}
# A method that fails is named in the log.
my $failing = live_page(['/test/echo?text=1&fail=500&page=' . $page->id]);
$poll = $failing->start_poll;
wait_until(sub { grep { m{VLT00030: method /test/echo\?text=1&fail=500&page=\Q@{[substr $page->id, 0, 12]}\E failed} } error_log_lines() }, 'a failed method');
announce(qr/VLT00030/);
$poll->close;
wait_waiting(0);
unlike($_, qr/VLT\d+.*[0-9a-f]{40}/, 'a line of the error log') for grep { /[0-9a-f]{40}/ } error_log_lines();
finish();
