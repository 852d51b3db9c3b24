# SPDX-License-Identifier: Apache-2.0
# The page of comments in each of integrations/: in plain PHP, Symfony and Laravel behind PHP-FPM, in Node with and without Express, and in Ruby on Rack, in
# virtual hosts as docs/applications.md shows them.
use strict;
use warnings;
use VaultTest;
use VaultTest::Integrations;
use VaultTest::Page qw(texts vault_headers);

my @applications = VaultTest::Integrations->comments;
my $server = use_server(VaultTest::Server->start('comments', config => VaultTest::Integrations->virtual_hosts(@applications)));

my $url = 'http://127.0.0.1:' . $server->port;

# What the update of this method says.
sub said_by
{
    my ($answer, $method) = @_;
    return join '', map { $_->{body} =~ s/\s+\z//r } grep { $_->{method} eq $method } @{$answer->{updates} || []};
}

for my $application (@applications) {
    my ($name, %at) = ($application->{name}, Host => $application->{host});
    my $send = sub {
        my ($path, $field, $value, %headers) = @_;
        return post($path, "$field=" . $value =~ s/([^A-Za-z0-9])/sprintf '%%%02X', ord $1/ger, headers => {%at, %headers});
    };
    my $poll = sub { $_[0]->start_poll(undef, %at) };

    my $added = $send->('/comments', 'text', 'first');
    is($added->{status}, 303, "$name: a comment is added");
    is(vault_headers($added), '', "$name: the browser sees none of the headers");
    is($send->('/comments', 'text', 'forged', Origin => 'http://evil.test')->{status}, 403, "$name: a form of another site is refused");

    my $page = open_page('/', headers => \%at);
    like($page->html, qr{<p id="count">1 comments</p><ul id="comments"><li>first</li></ul>}, "$name: the page shows it");
    like($page->html, qr{<script [^>]*data-vault-page="[^"]+" defer></script>}, "$name: and is live");
    my $waiting = $poll->($page);
    wait_waiting(1);
    ok($waiting->is_silent, "$name: nothing is shown twice");

    $send->('/comments', 'text', q(<b>&'" caf%C3%A9, 50%));
    my $answer = $page->finish_poll($waiting);
    my $texts = texts($answer) =~ s/&#0?39;/'/gr =~ s/&quot;/"/gr;
    is($texts =~ s/\n//gr, '<turbo-stream action="append" target="comments"><template><li>&lt;b&gt;&amp;\'" caf%C3%A9, 50%</li></template></turbo-stream>|'
        . '<turbo-stream action="update" target="count"><template>2 comments</template></turbo-stream>', "$name: a new one appears, and is counted");

    # A request of the page itself sets a property of it, and of no other page.
    my $other = open_page('/', headers => \%at);
    my $others = $poll->($other);
    $waiting = $poll->($page);
    wait_waiting(2);
    is($send->('/filter', 'word', q(%C3%A9, 50%), 'X-Vault-Page' => $page->id)->{status}, 204, "$name: the page says what it wants to see");
    is(said_by($page->finish_poll($waiting), '/count'),
        '<turbo-stream action="update" target="count"><template>1 comments with %C3%A9, 50%</template></turbo-stream>', "$name: and sees it");
    ok($others->is_silent, "$name: which is nothing to another page");
    $waiting = $poll->($page);
    wait_waiting(2);
    is($send->('/filter', 'word', '', 'X-Vault-Page' => $page->id)->{status}, 204, "$name: it wants to see all");
    is(said_by($page->finish_poll($waiting), '/count'),
        '<turbo-stream action="update" target="count"><template>2 comments</template></turbo-stream>', "$name: and sees all");

    # Another program writes, and tells by itself.
    open my $file, '>>', $application->{log} or die "$application->{log}: $!\n";
    print $file "from outside\n";
    close $file or die "$application->{log}: $!\n";
    $waiting = $poll->($page);
    wait_waiting(2);
    is($application->notify('comments', "$url/vault"), 'true', "$name: a program notifies");
    for ([$page, $waiting], [$other, $others]) {
        my ($who, $its) = @$_;
        like(said_by($who->finish_poll($its), '/news'), qr{<li>from outside</li>}, "$name: and its comment appears");
    }

    # What a browser says of pages is nothing.
    my $rows = get('/news', headers => {%at, 'Vault-Property-shown' => 1000000})->{body};
    is(scalar(() = $rows =~ /<li>/g), 3, "$name: a browser that says Vault-Property is not believed");
}
ok(scalar @applications, 'there are applications');

finish();
