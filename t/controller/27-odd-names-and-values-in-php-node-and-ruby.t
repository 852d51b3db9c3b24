# SPDX-License-Identifier: Apache-2.0
# What integrations/ makes of names, values, URLs and targets that are no plain words arrives as it was said, in each language.
use strict;
use warnings;
use utf8;
use Encode qw(decode_utf8 encode_utf8);
use JSON::PP ();
use VaultTest;
use VaultTest::Application;
use VaultTest::Page qw(vault_headers);

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

my @applications = VaultTest::Application->oddities;
my $server = use_server(VaultTest::Server->start('oddities', config => VaultTest::Application->virtual_hosts(@applications)));
my $url = 'http://127.0.0.1:' . $server->port;

sub write_to
{
    my ($application, $text) = @_;
    open my $file, '>', $application->{log} or die "$application->{log}: $!\n";
    print $file $text;
    close $file or die "$application->{log}: $!\n";
    return;
}

for my $application (@applications) {
    my ($name, %at) = ($application->{name}, Host => $application->{host});
    write_to($application, 'something');
    my $page = open_page('/odd/page', headers => \%at);
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
        ['a program notifies' => sub { is($application->notify(encode_utf8($ODD), "$url/vault/notify"), 'true', "$name: a page holds the interest of an odd name") }],
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
        write_to($application, $what);
        $notify->();
        $answer = $page->finish_poll($poll);
        like($answer->{updates}[0]{body}, qr/"list"/, "$name: $what: the page looks");
    }
    is($application->notify('unheard', "$url/vault/notify"), 'false', "$name: a program that notifies in vain is told");
    like($application->notify('x', "$url/test/text"), qr{^\Q$url\E/test/text did not notify "x": }, "$name: ... and so is one that asks something else");
    like($application->notify('x', 'http://127.0.0.1:1/'), qr/127\.0\.0\.1:1/, "$name: ... or nobody");
}

ok(scalar @applications, 'there are applications');

SKIP: {
    my $composer = VaultTest::Application::program('composer') // skip('Composer is not installed', 1);
    my $said = `cd '@{[vars('top_dir')]}/integrations/php' && '$composer' validate --strict --no-interaction 2>&1`;
    is($?, 0, "Composer accepts composer.json: $said");
}

finish();
