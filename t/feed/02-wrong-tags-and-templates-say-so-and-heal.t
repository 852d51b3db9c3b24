# SPDX-License-Identifier: Apache-2.0
# A tag or a template that is wrong: an error text in the page and a sentence in the log; in a method the method fails, the browser
# gets nothing of it, and it is tried again until it is right.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

site_file('/feed/good.html', '{{#rows}}{{x}}{{/rows}}');
site_file('/feed/unclosed.html', "line one\n{{#rows}}{{x}}\n");
site_file('/outside.html', 'must not be seen');
site_file('/feed/parts/inner.html', 'inner {{#rows}}{{x}}{{/rows}}');
my $big = 'x' x (1024 * 1024 + 1);
site_file('/feed/big.html', $big);
mkdir site_path('/feed/folder.html');

my $echo = 'name="tests" method="echo" x="1"';
my @wrong = (
    [qq($echo template="missing.html"), qr{/feed/missing\.html: cannot be read}, 'a template that is not there'],
    [qq($echo template="unclosed.html"), qr{/feed/unclosed\.html: line 2: section "rows" is not closed}, 'a syntax error'],
    [qq($echo template="../outside.html"), qr{template "\.\./outside\.html": a file beside or below the page is needed}, 'outside of the folder'],
    [qq($echo template="parts/../../outside.html"), qr{a file beside or below the page is needed}, 'outside by a detour'],
    [qq($echo template="/etc/passwd"), qr{template "/etc/passwd": a file beside or below the page is needed}, 'an absolute path'],
    [qq($echo template="big.html"), qr{/feed/big\.html: }, 'a file that is too long'],
    [qq($echo template="folder.html"), qr{/feed/folder\.html: }, 'a folder'],
    ['method="echo"', qr{feed: the attribute name="FEED" is missing}, 'no feed'],
    ['name="tests"', qr{feed: the attribute method is missing}, 'no method'],
    ['name="none" method="echo"', qr{there is no feed "none"}, 'a feed that there is not'],
    ['name="tests" method="ekho"', qr{the feed "tests" has no method "ekho"}, 'a method that there is not'],
    ['name="tests" method="fail"', qr{feed tests, method fail: it was told to fail}, 'a method that fails'],
    [qq($echo x="2"), qr{feed: the argument x="2" is given twice}, 'an argument twice'],
    [qq(name="x" $echo), qr{feed: name is given twice; an argument of that name cannot be in a tag}, 'an argument that is called as an attribute'],
    [qq($echo method="x"), qr{feed: method is given twice}, 'another'],
    [qq($echo template="good.html" template="good.html"), qr{feed: template is given twice}, 'the same twice'],
    [qq($echo format="htmx" format="htmx"), qr{feed: format is given twice}, 'the same format twice'],
    [qq($echo append="a" append="a"), qr{feed: both append and append are given}, 'an action twice'],
    [qq($echo append="a" prepend="b"), qr{feed: both append and prepend are given}, 'two actions'],
    ["name=\"tests\" method=\"echo\" x=\"\xff\"", qr{feed: the argument x=".*" is not UTF-8}, 'bytes that are no text'],
    ['name="tests" method="overreach" template="good.html"', qr{feed tests, method overreach: }, 'an interest whose name is too long'],
);
my $n = 0;
for my $row (@wrong) {
    my ($tag, $sentence, $why) = @$row;
    my $path = site_file('/feed/wrong-' . $n++ . '.shtml', "a <!--#feed $tag --> b\n");
    announce(qr/VLT00040: .*$sentence.* in \S+\Q$path\E/);
    is(text_of($path), "a [ssi error] b\n", "in the page: $why");
}
site_file('/feed/inner.shtml', "<!--#feed $echo template=\"parts/inner.html\" -->\n");
is(text_of('/feed/inner.shtml'), "inner 1\n", 'a folder below the page is allowed');

# In a method.
announce(qr{VLT00030: method /feed/heals\.shtml failed: .*/feed/heals\.html: cannot be read.*; it is tried again in 1 s},
    qr{VLT00040: .*/feed/heals\.html: cannot be read.* in \S+/feed/heals\.shtml});
site_file('/feed/heals.shtml', qq(before <!--#feed $echo template="heals.html" append="list" --> after\n));
live_shtml('/feed/healing.shtml', '/feed/heals.shtml');
my $page = open_page('/feed/healing.shtml');
my $before = status();
my $poll = $page->start_poll;
wait_counter('Failures', $before, 1);
wait_waiting(1);
ok($poll->is_silent, 'a method whose template is missing answers nothing');
site_file('/feed/heals.html', '{{#rows}}{{x}}{{/rows}}');
my $answer = $page->finish_poll($poll);
is(VaultTest::Page::text($answer), qq(before <turbo-stream action="append" target="list"><template>1</template></turbo-stream> after\n),
    'and is tried again by itself: the template is there now');

# A template that changes is picked up, in every child and without a restart.
site_file('/feed/heals.html', 'new {{#rows}}{{x}}{{/rows}}');
$page = open_page('/feed/healing.shtml');
like(VaultTest::Page::text($page->poll), qr{<template>new 1</template>}, 'a template that was changed is used as it is now');
site_file('/feed/shown.shtml', qq(<!--#feed $echo template="heals.html" -->\n));
for my $pid (children(3)) {
    my $connection = connect_in($pid);
    is($connection->request(GET => '/feed/shown.shtml')->response->{body}, "new 1\n", 'in this child, too');
    site_file('/feed/heals.html', "new 1");
}

finish();
