# SPDX-License-Identifier: Apache-2.0
# What integrations/ makes of names, values, URLs and targets that are no plain words arrives as it was said, in each language.
use strict;
use warnings;
use utf8;
use Encode qw(decode_utf8 encode_utf8);
use JSON::PP ();
use VaultTest;
use VaultTest::Integrations;
use VaultTest::Page qw(texts vault_headers);
use VaultTest::Site;

my $ODD = qq(k\x{e4}se, 50%;"'=<&>);
my $ESCAPED = qq(k\x{e4}se, 50%;&quot;&#39;=&lt;&amp;&gt;);

# What integrations with elements write: PHP and Node. In Ruby there are those of turbo-rails.
my @ELEMENTS = (
    qq(<turbo-stream action="append" target="$ESCAPED"><template><b></template></turbo-stream>),
    (map { qq(<turbo-stream action="$_" target="x"><template>y</template></turbo-stream>) } qw(prepend before after replace)),
    '<turbo-stream action="update" target="x"></turbo-stream>',
    '<turbo-stream action="remove" target="x"></turbo-stream>',
    '<turbo-stream action="refresh"></turbo-stream>',
    '<turbo-stream action="update" targets=".x &gt; &quot;y&quot;"><template>y</template></turbo-stream>',
);

# A port that is known before the server starts, for applications to ask it.
my $url = 'http://127.0.0.1:' . VaultTest::Server::free_port();
my $key = 'abcdefghijklmnopqrstuvwxyz-0123456789';
my ($top, $logs) = (vars('top_dir'), vars('t_logs'));
write_to("$logs/oddities.key", "$key\n");
chmod 0640, "$logs/oddities.key";
unlink glob "$logs/oddities.db*";

my @applications = VaultTest::Integrations->oddities(VAULT_KEY => $key, VAULT_URL => "$url/vault");
my $feed = has_database() ? <<"END" : '';
VaultFeed database "$top/modules/vault_feed_database.so" database=$logs/oddities.db init=$top/t/conf/site.sql
<Location "/vault/feed">
    SetHandler vault-feed
</Location>
END
# Each site has the key, and the server that is asked by any other name has none.
my $sites = VaultTest::Integrations->virtual_hosts(@applications);
$sites =~ s{^( *ServerName \S+\.test)$}{$1\n    VaultFeedKeyFile "$logs/oddities.key"}mg if $feed;
use_server(VaultTest::Server->start('oddities',
    size   => "MaxRequestWorkers 16\n",
    config => 'Listen ' . ($url =~ s{^http://}{}r) . "\n$feed$sites"));

sub write_to
{
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return;
}

for my $application (@applications) {
    my ($name, %at) = ($application->{name}, Host => $application->{host});
    write_to($application->{log}, 'something');
    my $page = open_page('/odd/page', headers => \%at);
    my $streaming = get('/odd/stream', headers => \%at)->{body};
    my ($stream) = $streaming =~ m{<p>/vault/poll\?page=(\w{40})&amp;as=html$};
    ok($stream, "$name: a page with a client of its own says where its stream is");
    unlike($streaming, qr/<script/, "$name: ... and gets no script");
    like(text_of("/vault/status?page=$stream"), qr{"/odd/news\?list=a%2Cb"}, "$name: ... but polls what it has named");
    my $answer = $page->finish_poll($page->start_poll(undef, %at));
    my $update = $answer->{updates}[0];
    is($update->{method}, '/odd/news?list=a%2Cb&path=%2F%20x', "$name: a comma and a blank in a URL, and what was encoded already");
    is($update->{format}, 'odd-1', "$name: the word for the client") if $name ne 'odd-rack';
    my ($told, @elements) = split /\n/, $update->{body};
    is_deeply(
        JSON::PP->new->utf8->decode($told),
        {list => 'a,b', path => '/ x', page => $page->id, odd => JSON::PP::true(), gone => undef, number => '0'},
        "$name: the page and its properties arrive as they were said"
    );
    is_deeply([map { decode_utf8($_) =~ s/&#039;/&#39;/gr } @elements], \@ELEMENTS, "$name: elements") if $name ne 'odd-rack';

    for my $way (
        ['a program notifies' => sub { is($application->notify(encode_utf8($ODD), "$url/vault"), 'true', "$name: a page holds the interest of an odd name") }],
        ['an answer notifies, though it is an error' => sub {
            my $failed = get('/odd/notify', headers => \%at);
            is($failed->{status} . vault_headers($failed), 500, "$name: an answer with an error");
        }],
      )
    {
        my ($what, $notify) = @$way;
        my $poll = $page->start_poll(undef, %at);
        wait_waiting(1);
        ok($poll->is_silent, "$name: the same again is nothing new");
        write_to($application->{log}, $what);
        $notify->();
        $answer = $page->finish_poll($poll);
        like($answer->{updates}[0]{body}, qr/"list"/, "$name: $what: the page looks");
    }
    is($application->notify('unheard', "$url/vault"), 'false', "$name: a program that notifies in vain is told");
    like($application->notify('x', "$url/test"), qr{^\Q$url\E/test did not notify "x": }, "$name: ... and so is one that asks something else");
    like($application->notify('x', 'http://127.0.0.1:1/'), qr/127\.0\.0\.1:1/, "$name: ... or no server");
}

# Rows of a feed, of which httpd keeps the page's place: the application says neither an interest nor a property.
for my $application ($feed ? @applications : ()) {
    my ($name, %at) = ($application->{name}, Host => $application->{host});
    my $save = sub { is(get("/odd/save?line=$name-$_[0]", headers => \%at)->{status}, 200, "$name: the application saves $_[0] by the feed") };
    $save->('one');
    my $page = open_page('/odd/rows', headers => \%at);
    like($page->html, qr/\[true,\[.*"$name-one"\]\]/, "$name: the page shows the rows of a feed, as a first view");
    my $poll = $page->start_poll(undef, %at);
    wait_waiting(1);
    ok($poll->is_silent, "$name: the first poll begins where the page ended");
    $save->('two');
    is(texts($page->finish_poll($poll)), qq([false,["$name-two"]]), "$name: a new row appears, once");
    $poll = $page->start_poll(undef, %at);
    wait_waiting(1);
    ok($poll->is_silent, "$name: nothing is new then");
    $save->('three');
    is(texts($page->finish_poll($poll)), qq([false,["$name-three"]]), "$name: ... until there is");
    my $refused = get('/odd/refused', headers => \%at)->{body};
    like($refused, qr{/vault/feed/database/get_new_instances: status 400, \w+}, "$name: what a feed refuses is an error with its sentence");
    like($refused, qr/^400, not undefined: /, "$name: ... whose status is not taken for that of the page") if $name eq 'odd-node';
}

ok(scalar @applications, 'there are applications');

SKIP: {
    my $composer = VaultTest::Application::program('composer') // skip('Composer is not installed', 1);
    my $said = `cd '@{[vars('top_dir')]}/integrations/php' && '$composer' validate --strict --no-interaction 2>&1`;
    is($?, 0, "Composer accepts composer.json: $said");
}

finish();
