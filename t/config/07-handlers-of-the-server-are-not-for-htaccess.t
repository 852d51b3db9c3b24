# SPDX-License-Identifier: Apache-2.0
# The handlers that show or change what is the whole server's answer where a SetHandler of the server's configuration sets them, and nowhere
# that an .htaccess file, AddHandler or a rewrite rule does. Those that have only what is a page's own may stand anywhere.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

my @of_server = qw(vault-status vault-notify vault-feed);
my %request = (
    'vault-status' => sub { get("$_[0]?auto") },
    'vault-notify' => sub { post($_[0], 'interest=x') },
    'vault-feed'   => sub { get($_[0]) },
);
for my $handler (@of_server) {
    site_file("/ht-set/$handler/.htaccess", "SetHandler $handler\n");
    site_file("/ht-files/$handler/.htaccess", "<Files here>\nSetHandler $handler\n</Files>\n");
    site_file("/ht-if/$handler/.htaccess", "<If \"true\">\nSetHandler $handler\n</If>\n");
    site_file("/ht-add/$handler/.htaccess", "AddHandler $handler .here\n");
    site_file("/ht-rewrite/$handler/.htaccess", "RewriteEngine On\nRewriteRule . - [H=$handler]\n");
    site_file("/ht-same/$handler/.htaccess", "SetHandler $handler\n");
    site_file("/$_/$handler/here", '') for qw(ht-set ht-files ht-if ht-same ht-rewrite ht-dir);
    site_file("/ht-add/$handler/x.here", '');
}
site_file('/ht-set/vault-poll/.htaccess', "SetHandler vault-poll\n");

my $root = vars('documentroot');
my $directories = join '', map { <<"END" } @of_server;
<Directory "$root/ht-dir/$_">
    <Files here>
        SetHandler $_
    </Files>
</Directory>
<Directory "$root/ht-same/$_">
    SetHandler $_
</Directory>
<Location "/location/$_">
    SetHandler $_
</Location>
<LocationMatch "^/(upper)/$_">
    SetHandler \U$_\E
</LocationMatch>
END
use_server(VaultTest::Server->start('ours', config => <<"END"));
<Directory "$root">
    AllowOverride All
    Options +FollowSymLinks
</Directory>
VaultFeed tests "@{[vars('top_dir')]}/modules/vault_feed_test.so" word=hello
VaultFeedExpose tests echo
$directories
END

for my $handler (@of_server) {
    my $ask = $request{$handler};
    my @where = qw(ht-set ht-files ht-if);
    push @where, 'ht-rewrite' if have_module('rewrite');
    for my $where (@where) {
        my $answer = $ask->("/$where/$handler/here");
        is($answer->{status}, 403, "$handler by /$where/.htaccess");
        unlike($answer->{body}, qr/Pages|held|"error"/, '... which is told nothing');
    }
    is($ask->("/ht-add/$handler/x.here")->{status}, 403, "$handler by AddHandler") if have_module('mime');
    isnt($ask->("/$_/$handler" . (/^ht/ ? '/here' : ''))->{status}, 403, "$handler by the server's configuration: $_") for qw(location ht-dir ht-same);
}
is(get('/location/vault-status?auto')->{status}, 200, 'the status answers');
announce(qr{VLT00307: vault-\w+ of /ht-\S+ has no effect: it answers only where a SetHandler of the server's configuration sets it});
is(get('/ht-set/vault-poll/?page=' . '0' x 40 . '&seq=0')->{status}, 410, 'vault-poll may be anywhere: it knows of no page but by its id');
finish();
