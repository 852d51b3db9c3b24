# SPDX-License-Identifier: Apache-2.0
# Two places on a page that ask the same must not come to differ: within one view, and within one method, a call is made once.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

my $tick = sub { qq(<!--#feed name="tests" method="tick" template="tick.html"$_[0] -->) };
site_file('/view/tick.html', '{{#rows}}{{tick}}{{/rows}}');
site_file('/view/twice.shtml', join ' ', '<!--#vault poll="/view/ticks.shtml" -->', $tick->(''), $tick->(''),
    '<!--#include virtual="twice-part.shtml" -->', $tick->(' x="1"'), "\n");
site_file('/view/twice-part.shtml', $tick->(''));

my ($first, $second, $included, $other) = open_page('/view/twice.shtml')->html =~ /> (\d+) (\d+) (\d+) (\d+) $/m
    or die 'no ticks in the page';
is($second, $first, 'the same call again gives the same rows');
is($included, $first, 'from an include, too');
isnt($other, $first, 'another argument is another call');

site_file('/view/ticks.shtml', $tick->('') . ' ' . $tick->(''));
my $page = open_page('/view/twice.shtml');
my ($a, $b) = VaultTest::Page::text($page->poll) =~ /^(\d+) (\d+)$/ or die 'no ticks in the update';
is($a, $b, 'and so it is in a method');

# Two methods may be at different places, so each asks for itself.
site_file('/view/other-ticks.shtml', $tick->(''));
site_file('/view/two.shtml', qq(<!--#vault poll="/view/ticks.shtml" poll="/view/other-ticks.shtml" -->\n));
my %tick = map { $_->{method} => $_->{body} } @{open_page('/view/two.shtml')->poll->{updates}};
my ($one) = $tick{'/view/ticks.shtml'} =~ /^(\d+)/;
like($tick{'/view/other-ticks.shtml'}, qr/^\d+$/, 'a second method');
isnt($tick{'/view/other-ticks.shtml'}, $one, 'makes a call of its own');

finish();
