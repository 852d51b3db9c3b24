# SPDX-License-Identifier: Apache-2.0
# <!--#feed … format="htmx" -->: in a view in place, as usual; in a method an element that htmx swaps out of band, and the answer says so.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

my $n = 0;

# The update that a method with these tags gives, and what a view of the same shows.
sub update_of
{
    my ($tags, $template) = @_;
    $n++;
    site_file('/feed/htmx-row.html', $template // '<li>{{#rows}}{{x}}{{/rows}}</li>');
    site_file("/feed/htmx-$n.shtml", $tags);
    live_shtml("/feed/htmx-page-$n.shtml", "/feed/htmx-$n.shtml", "[<!--#include virtual=\"/feed/htmx-$n.shtml\" -->]\n");
    my $page = open_page("/feed/htmx-page-$n.shtml");
    my ($shown) = $page->html =~ /^\[(.*)\]$/ms;
    my ($update) = @{$page->poll->{updates}};
    return ($update, $shown);
}

my $echo = 'name="tests" method="echo" x="1" template="htmx-row.html" format="htmx"';
my %swap = (append => 'beforeend', prepend => 'afterbegin', update => 'innerHTML', before => 'beforebegin', after => 'afterend');
for my $action (sort keys %swap) {
    my ($update, $shown) = update_of(qq(<!--#feed $echo $action="list" -->));
    is($update->{body}, qq(<div hx-swap-oob="$swap{$action}:#list"><li>1</li></div>), "$action: $swap{$action}");
    is($update->{format}, 'htmx', '  and the answer says whose it is');
    is($shown, '<li>1</li>', '  in a view it stands in place');
}
my ($update) = update_of(qq(<!--#feed $echo -->), '{{#rows}}<li id="a" hx-swap-oob="true">{{x}}</li>{{/rows}}');
is($update->{body}, '<li id="a" hx-swap-oob="true">1</li>', 'without an action the template says the place');
is($update->{format}, 'htmx', '  and the answer says whose it is');
($update) = update_of(q(<!--#feed name="tests" method="echo" x="1" template="htmx-row.html" append="list" -->));
ok(!exists $update->{format}, 'without the format the answer says nothing');

# What a parser would drop in a div.
for my $row (
    ["\n <tr><td>{{x}}</td></tr>", 'tbody'], ['<TR class="x"><td></td></TR>', 'tbody'], ['<td>1</td>', 'tr'], ['<th>1</th>', 'tr'],
    ['<tbody><tr></tr></tbody>', 'table'], ['<thead></thead>', 'table'], ['<caption>x</caption>', 'table'],
    ['<track>', 'div'], ['<t>', 'div'], ['<', 'div'], ['text <tr>', 'div'], ['', 'div'], ['<!-- --><tr>', 'div'], ['<option>1</option>', 'div'],
) {
    my ($template, $wrapper) = @$row;
    my $content = $template =~ s/\{\{x\}\}//r;
    ($update) = update_of(qq(<!--#feed $echo append="list" -->), $template);
    is($update->{body}, qq(<$wrapper hx-swap-oob="beforeend:#list">$content</$wrapper>), "around $template: $wrapper");
}

# Ids that are no selectors as they are.
for my $row (
    ['a-b_c', 'a-b_c'], ['1a', '\31 a'], ['-a', '\2d a'], ['a:b', 'a\3a b'], ['a.b c', 'a\2e b\20 c'], ['a,b', 'a\2c b'],
    ['a&quot;&gt;', 'a\22 \3e '], ['a\\b', 'a\5c b'], ["\xc3\xa9", "\xc3\xa9"],
) {
    my ($id, $selector) = @$row;
    ($update) = update_of(qq(<!--#feed $echo append="$id" -->));
    is($update->{body}, qq(<div hx-swap-oob="beforeend:#$selector"><li>1</li></div>), "the id $id");
}

# What is wrong.
for my $row (
    [qq(<!--#feed $echo replace="list" -->), qr/replace does not go with the format htmx/, 'replace, which would leave the wrapper'],
    [qq(<!--#feed name="tests" method="echo" template="htmx-row.html" format="turbo" append="list" -->), qr/there is no format "turbo": htmx is accepted/, 'another format'],
    [qq(<!--#feed $echo append="list" --><!--#feed name="tests" method="echo" x="2" template="htmx-row.html" append="list" -->),
        qr/do not go together in one method/, 'two formats'],
    [qq(<!--#feed name="tests" method="echo" x="2" template="htmx-row.html" append="list" --><!--#feed $echo append="list" -->),
        qr/do not go together in one method/, 'the other way round'],
) {
    my ($tags, $sentence, $why) = @$row;
    site_file('/feed/htmx-wrong.shtml', $tags);
    live_shtml('/feed/htmx-wrong-page.shtml', '/feed/htmx-wrong.shtml');
    announce(qr{VLT00040: .*$sentence.* in \S+/feed/htmx-wrong\.shtml});
    my $before = status();
    my $poll = open_page('/feed/htmx-wrong-page.shtml')->start_poll;
    wait_counter('Failures', $before, 1);
    wait_waiting(1);
    ok($poll->is_silent, $why);
    $poll->close;
    wait_waiting(0);
}
announce(qr/VLT00030: method .* failed/);

finish();
