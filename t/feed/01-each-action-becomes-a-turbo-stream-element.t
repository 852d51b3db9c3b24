# SPDX-License-Identifier: Apache-2.0
# The tag <!--#feed … --> renders in place in a view, and as an element for the browser in a method; nothing new is nothing at all.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

site_file('/feed/row.html', '<i>{{#rows}}{{x}}{{/rows}}</i>');

# What a page with this tag shows, and what a poll of it brings; undef: it waits.
my $n = 0;
my $try = sub {
    my ($tag) = @_;
    my $method = site_file('/feed/method-' . ++$n . '.shtml', "<!--#feed $tag -->\n");
    live_shtml("/feed/page-$n.shtml", $method, "[<!--#feed $tag -->]\n");
    my $page = open_page("/feed/page-$n.shtml");
    my ($shown) = $page->html =~ /^\[(.*)\]$/m;
    return ($shown, $page->news);
};

my $echo = 'name="tests" method="echo" x="1" template="row.html"';
for my $action (qw(append prepend replace update before after)) {
    my ($shown, $text) = $try->(qq($echo $action="list"));
    is($shown, '<i>1</i>', "$action: in the view, in place and bare");
    is($text, qq(<turbo-stream action="$action" target="list"><template><i>1</i></template></turbo-stream>\n), "$action: in a poll, as an element");
}

my ($shown, $text) = $try->($echo);
is($shown, '<i>1</i>', 'without an action: in the view, in place');
is($text, "<i>1</i>\n", '... and in a poll bare as well');

($shown, $text) = $try->('name="tests" method="echo" x="1"');
is($shown, '', 'without a template the tag writes nothing');
is($text, undef, '... and nothing is an answer for a poll');

for my $action (qw(append before)) {
    ($shown, $text) = $try->(qq(name="tests" method="empty" template="row.html" $action="list"));
    is($shown, '<i></i>', "no rows, $action: the view shows the template without rows");
    is($text, undef, '... and a poll waits');
}
for my $action (qw(replace update)) {
    ($shown, $text) = $try->(qq(name="tests" method="empty" template="row.html" $action="list"));
    is($text, qq(<turbo-stream action="$action" target="list"><template><i></i></template></turbo-stream>\n),
        "no rows, $action: a list that is shown as a whole may have become empty");
}
($shown, $text) = $try->('name="tests" method="nothing" template="row.html" replace="list"');
is($shown, '<i></i>', 'nothing new: the view shows the template without rows');
is($text, undef, '... and a poll waits');

($shown, $text) = $try->('name="tests" method="echo" x="&lt;b&gt;&amp;" template="row.html" append="&quot;&gt;&lt;b&gt;"');
is($shown, '<i>&lt;b&gt;&amp;</i>', 'what an argument says is text in the page');
is($text, qq(<turbo-stream action="append" target="&quot;&gt;&lt;b&gt;"><template><i>&lt;b&gt;&amp;</i></template></turbo-stream>\n),
    '... and the target is one attribute');

finish();
