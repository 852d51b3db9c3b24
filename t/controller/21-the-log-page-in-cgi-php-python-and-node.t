# SPDX-License-Identifier: Apache-2.0
# The live log page of the Vault paper's figure 3 as four applications that know nothing of mod_vault but its headers. The same rows for all.
use strict;
use warnings;
use File::Find ();
use VaultTest;
use VaultTest::Application;
use VaultTest::Page qw(vault_headers);

my @applications = VaultTest::Application->log_pages;
use_server(VaultTest::Server->start('applications', config => VaultTest::Application->config(@applications)));

sub rows { my ($html) = @_; return join '|', $html =~ m{<li>(.*?)</li>}g }
sub texts { my ($answer) = @_; return rows(VaultTest::Page::text($answer)) }

for my $application (@applications) {
    my ($name, $base) = @$application{qw(name base)};
    my $add = sub {
        my ($line) = @_;
        return post("$base/add", 'line=' . $line =~ s/([^A-Za-z0-9])/sprintf '%%%02X', ord $1/ger);
    };
    my $added = $add->('first');
    is($added->{status}, 303, "$name: a line is added");
    is(vault_headers($added), '', "$name: the browser sees none of the headers");

    is(post("$base/add", 'line=forged', headers => {Origin => 'http://evil.test'})->{status}, 403, "$name: a form of another site is refused");

    my $page = open_page("$base/");
    is(rows($page->html), 'first', "$name: the page shows it");
    is(vault_headers($page->{answer}), '', "$name: and no header");
    like($page->html, qr{<script [^>]*data-vault-page="[^"]+" defer></script></head>}, "$name: but has its script");
    is($page->{answer}{headers}{'cache-control'}, 'private, no-store', "$name: and is kept by no cache");

    my $before = status();
    my $poll = $page->start_poll;
    wait_waiting(1);
    ok($poll->is_silent, "$name: nothing is shown twice");
    is(status()->{Runs} - $before->{Runs}, 2, "$name: the method ran once more, when its interest was known, and then waits");
    $add->(q(<b>&'"</b> caf%C3%A9 +));
    is(texts($page->finish_poll($poll)), '&lt;b&gt;&amp;\'"&lt;/b&gt; caf%C3%A9 +', "$name: a new line appears, whatever it says");

    # Written before the first poll, while an answer is on its way, and lost on the way: each line once.
    my $second = open_page("$base/");
    $add->('before the poll');
    is(texts($second->read_poll($second->start_poll)), 'before the poll', "$name: what comes before the first poll");
    $add->('meanwhile');
    is(texts($second->poll), 'before the poll|meanwhile', "$name: comes again when the answer was lost, with what came meanwhile");
    $poll = $second->start_poll;
    wait_waiting(1);
    ok($poll->is_silent, "$name: and then no more");
    $add->("line $_") for 1 .. 5;
    my @lines = texts($second->finish_poll($poll));
    push @lines, texts($second->poll) until join('|', @lines) =~ /line 5$/;
    is(join('|', @lines), join('|', map { "line $_" } 1 .. 5), "$name: several lines, each once and in order");
    is(rows(open_page("$base/")->html) =~ tr/|//, 8, "$name: and all of them are in a page that is loaded now");

    # Another program writes to the log without a lock, and has written half a line.
    my $watching = open_page("$base/");
    $poll = $watching->start_poll;
    wait_waiting(1);
    my $write = sub {
        open my $log, '>>', $application->{log} or die "$application->{log}: $!\n";
        print $log @_;
        close $log or die "$application->{log}: $!\n";
        my $runs = status()->{Runs};
        text_of('/test/notify?interest=log');
        return $runs;
    };
    my $runs = $write->('hal');
    wait_until(sub { status()->{Runs} > $runs && status()->{Waiting} == 1 }, "$name: the method has seen half a line");
    unlike(open_page("$base/")->html, qr/hal/, "$name: half a line is not shown to who comes");
    $write->("f\n");
    is(texts($watching->finish_poll($poll)), 'half', "$name: nor to who is there, but whole, and once");

    # What a browser says of pages is nothing.
    for my $forged ('Vault-Property-place', 'vault_property_place', 'VAULT-PROPERTY_PLACE') {
        my $answer = get("$base/latest", headers => {$forged => 1000000});
        like($answer->{status}, qr/^[24]00$/, "$name: a browser that says $forged");
        is(rows($answer->{body}) =~ tr/|//, 9, "$name: ... is not believed") if $answer->{status} == 200;
    }
    is(vault_headers(get("$base/latest")), '', "$name: a method that is asked by itself");

    # Nor can it take away what httpd says of them.
    for my $names ('Vault-Property-place', 'close, VAULT-PROPERTY-PLACE', 'close;Vault-Page vault-property-place') {
        my $reader = open_page("$base/");
        my $own = get("$base/latest", headers => {'X-Vault-Page' => $reader->id, Connection => $names});
        is(rows($own->{body}), '', "$name: a page that has it all, and says Connection: $names");
        $poll = $reader->start_poll(undef, Connection => $names);
        $add->('more');
        is(texts($reader->finish_poll($poll)), 'more', "$name: ... is shown nothing twice");
    }

    # Forms that say nothing, too much, or no UTF-8; and a log that cannot be written for a while.
    is(post("$base/add", $_)->{status}, 400, "$name: the form '$_' is refused") for '', 'line', 'line=', 'text=x';
    is(post("$base/add", '{"line": "x"}', headers => {'Content-Type' => 'application/json'})->{status}, 400, "$name: ... and JSON");
    like(post("$base/add", 'text=' . 'x' x 1_000_000)->{status}, qr/^4(?:00|13)$/, "$name: ... and one of a megabyte");
    my $last = open_page("$base/");
    $poll = $last->start_poll;
    wait_waiting(1);
    is(post("$base/add", 'text=x&line=a%FFb')->{status}, 303, "$name: what is no UTF-8 is a line");
    is(texts($last->finish_poll($poll)), "a\xef\xbf\xbdb", "$name: ... and looks like it");
    is(post("$base/add", "line=a\xFFb")->{status}, 303, "$name: ... and what is not encoded, too");
    announce(qr/Is a directory/, qr/AH01215|(?:Premature end|End) of script/) if $name eq 'cgi';
    rename $application->{log}, "$application->{log}.away" and mkdir $application->{log} or die "$application->{log}: $!\n";
    is($add->('nowhere')->{status}, 500, "$name: a line that cannot be written");
    rmdir $application->{log} and rename "$application->{log}.away", $application->{log} or die "$application->{log}: $!\n";
    is($add->('again')->{status}, 303, "$name: the application lives on");
    like(open_page("$base/")->html, qr{<li>again</li>}, "$name: ... and shows what came");
}
diag('only these applications can run here: ' . join ' ', map { $_->{name} } @applications) if @applications < 4;
ok(scalar @applications, 'there are applications');

my @programs;
File::Find::find(sub { push @programs, $_ if -f && -x && $File::Find::dir =~ m{/examples/} }, vars('top_dir') . '/installed');
is("@programs", 'log.pl', 'the one that httpd runs as a program is installed as one');

finish();
