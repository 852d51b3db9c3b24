# SPDX-License-Identifier: Apache-2.0
# vault_render() from a handler in C: in place in a view, as an element in a method; a failure is told, and makes the method fail.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

site_file('/test/row.html', '<i>{{#rows}}{{x}};{{/rows}}</i>');
site_file('/test/parts/names.html', '{{title}}: {{#rows}}{{x}}{{/rows}}{{> inner}}');
site_file('/test/parts/inner.html', '{{#user}}, {{name}}{{/user}}');
site_file('/test/open.html', "line one\n{{#rows}}\n");
site_file('/outside.html', 'must not be seen');

sub render
{
    my (%args) = @_;
    return '/test/render?' . join '&', map { "$_=" . ($args{$_} =~ s/([^A-Za-z0-9_.~-])/sprintf '%%%02X', ord $1/ger) } sort keys %args;
}

# What a poll with this method brings; undef: it waits.
sub poll_of
{
    my ($method) = @_;
    return live_page([$method])->news;
}

my $rows = '[{"x":1},{"x":"<b>"}]';
for my $action (qw(append prepend replace update before after)) {
    my $url = render(file => 'row.html', data => $rows, action => $action, target => 'list');
    is(text_of($url), '<i>1;&lt;b&gt;;</i>', "$action: in a view, in place and bare");
    is(poll_of($url), qq(<turbo-stream action="$action" target="list"><template><i>1;&lt;b&gt;;</i></template></turbo-stream>),
        "$action: in a method, as an element");
}
is(poll_of(render(file => 'row.html', data => $rows)), '<i>1;&lt;b&gt;;</i>', 'without an action it is HTML in a method, too');
is(text_of(render(file => 'parts/names.html', data => '{"title":"T","rows":[{"x":7}],"user":{"name":"Ann"}}')),
    'T: 7, Ann', 'of an object each name is seen, and a folder below is allowed');

# Nothing new.
is(text_of(render(file => 'row.html', action => 'append', target => 'list')), '<i></i>', 'nothing new: a view shows the template without rows');
is(poll_of(render(file => 'row.html', action => 'replace', target => 'list')), undef, '... and a method writes nothing');
is(poll_of(render(file => 'row.html', data => '[]', action => 'append', target => 'list')), undef, 'an empty list adds nothing');
is(poll_of(render(file => 'row.html', data => '[]', action => 'update', target => 'list')),
    '<turbo-stream action="update" target="list"><template><i></i></template></turbo-stream>', 'but a list shown as a whole may have become empty');
is(poll_of(render(file => 'row.html', data => '{"x":1}', action => 'append', target => '"><b>')),
    '<turbo-stream action="append" target="&quot;&gt;&lt;b&gt;"><template><i></i></template></turbo-stream>', 'the target is one attribute');

# What a feed gives anew takes the place of what was there, by whatever action.
for my $row (['append', 'update'], ['prepend', 'update'], ['before', 'before'], ['replace', 'replace']) {
    my ($action, $done) = @$row;
    is(poll_of("/test/show?feed=tests&method=anew&file=row.html&action=$action&target=list"),
        qq(anew: <turbo-stream action="$done" target="list"><template><i>;</i></template></turbo-stream>), "a first view again, $action");
}
is(poll_of('/test/show?feed=tests&method=echo&file=row.html&action=append&target=list'),
    '<turbo-stream action="append" target="list"><template><i>;</i></template></turbo-stream>', '... and rows that are not are added');

# What is wrong: a sentence, nothing else written, and a method fails even if its handler answers 200.
my @wrong = (
    [{file => 'missing.html'}, qr{/test/missing\.html: cannot be read}, 'a file that is not there'],
    [{file => 'open.html', action => 'append', target => 'a'}, qr{/test/open\.html: line 2: section "rows" is not closed}, 'a syntax error'],
    [{file => '../outside.html'}, qr{template "\.\./outside\.html": a file beside or below}, 'outside of the folder'],
    [{file => 'parts/../../outside.html'}, qr{a file beside or below}, 'outside by a detour'],
    [{file => '/etc/passwd'}, qr{a file beside or below}, 'an absolute path'],
    [{file => 'parts'}, qr{/test/parts: }, 'a folder'],
    [{file => ''}, qr{the name of a template is missing}, 'no file'],
    [{file => 'row.html', action => 'remove', target => 'a'}, qr{there is no action "remove": append, }, 'an action without HTML'],
    [{file => 'row.html', action => 'append'}, qr{append: the id of the element in the page is missing}, 'no target'],
    [{file => 'row.html', action => 'append', target => ''}, qr{append: the id of the element in the page is missing}, 'an empty target'],
    [{file => 'row.html', data => '"text"'}, qr{a template needs a list of rows, or an object}, 'data that are a string'],
);
for my $row (@wrong) {
    my ($args, $sentence, $why) = @$row;
    my $answer = get(render(data => $rows, %$args));
    is($answer->{status}, 400, "$why: refused");
    like($answer->{body}, qr{^\d+ \N*$sentence\N*\z}, '... with that sentence, and nothing else is written');
    announce(qr/VLT00030: method \S+ failed: .*$sentence/);
    my $page = live_page([render(data => $rows, %$args, ignore => 1)]);
    my $before = status();
    my $poll = $page->start_poll;
    wait_counter('Failures', $before, 1);
    wait_waiting(1);
    ok($poll->is_silent, '... and a method that ignores it fails as a whole');
    $poll->close;
    wait_waiting(0);
}

finish();
