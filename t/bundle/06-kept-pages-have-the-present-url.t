# SPDX-License-Identifier: Apache-2.0
# VaultCache On: a page that is kept is rendered anew when a file of a bundle changes that it links to, and the bundle itself is not kept twice.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

site_file('/kept/a.css', "a { color: red }\n");
site_file('/kept/page.shtml', '<!--#vault bundle="/kept/site.css" -->');
use_server(VaultTest::Server->start('bundle-kept', config => <<"END"));
VaultBundle /kept/site.css kept/a.css
AddType text/html .shtml
<Directory "@{[vars('documentroot')]}">
    Require all granted
    Options +Includes
    AddOutputFilter INCLUDES .shtml
    VaultCache On
</Directory>
END

my $url = text_of('/kept/page.shtml');
my $before = status()->{Cached};
is(text_of('/kept/page.shtml'), $url, 'a page has the URL');
cmp_ok(status()->{Cached}, '>', $before, '  and is kept');
is(get($url)->{headers}{'cache-control'}, 'max-age=31536000, immutable', 'the bundle is cached for a year');
is(get('/kept/site.css')->{headers}{'cache-control'}, 'max-age=60', '  and without a hash for a minute');
site_file('/kept/a.css', "a { color: blue }\n");
my $new = text_of('/kept/page.shtml');
isnt($new, $url, 'a changed file makes another page');
my $answer = get($new);
is("$answer->{body} $answer->{headers}{'cache-control'}", "a { color: blue }\n max-age=31536000, immutable", '  with the present bundle');

finish();
