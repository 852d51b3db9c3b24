# SPDX-License-Identifier: Apache-2.0
# The programs of the manual (controllers.md, "Ask a feed for the page"), each run as a method by its own interpreter; those of integrations/ have
# tests of their own.
use strict;
use warnings;
use VaultTest;
use VaultTest::Application;
use VaultTest::Config;
use VaultTest::Page qw(texts);

my ($section) = VaultTest::read_file(vars('top_dir') . '/docs/controllers.md') =~ /^### Ask a feed for the page\n(.*?)^### /ms
    or die "docs/controllers.md has no such section\n";
my %block;
while ($section =~ /^```(\w+)\n(.*?)^```/msg) {
    $block{$1} //= $2;
}
my $key_file = vars('t_logs') . '/manual-key';
my $KEY = 'k' x 40;
my $port = VaultTest::Server::free_port();    # only of the programs; httpd listens on it below

# What makes a whole program of the function: it answers the rows, or an empty body.
my %program = (
    sh => [curl => sub { $_[0] }],
    python => ['/usr/bin/python3' => sub { "#!$_[1]\nimport json, os, urllib.request\nKEY = '$KEY'\n$_[0]" . <<'END' }],
rows = feed({"Vault-Page": os.environ.get("HTTP_VAULT_PAGE"), "Vault-New-Page": os.environ.get("HTTP_VAULT_NEW_PAGE")}, "CALL")
print("Content-Type: application/json\n")
if rows is not None:
    print(json.dumps(rows))
END
);
my @scripts;
for my $language (sort keys %program) {
    my ($name, $whole) = @{$program{$language}};
    my ($path) = $name =~ m{^/} ? grep { -x } $name : VaultTest::Application::program($name);
    ok($block{$language}, "the manual shows it in $language");
    if (!$path) {
        die "$name cannot run, and VAULT_ALL_APPLICATIONS says that it should\n" if $ENV{VAULT_ALL_APPLICATIONS};
        next;
    }
    my $text = $whole->($block{$language}, $path);
    my $call = "tests/count?interest=c30-$language";
    $text =~ s{http://localhost/}{http://127.0.0.1:$port/}g;
    $text =~ s{database/get_new_instances\?table=logs|CALL}{$call}g;
    $text =~ s{/etc/mod_vault/feed\.key}{$key_file}g;
    push @scripts, [$language, VaultTest::Application->cgi("manual-$language", $text)];
}

open my $file, '>', $key_file or die "$key_file: $!\n";
print $file "$KEY\n";
close $file;
chmod 0600, $key_file;
SKIP: {
    skip 'no CGI here', 1 if grep { !$_->[1] } @scripts;
    use_server(VaultTest::Server->start('manual-feeds', config => <<"END" . VaultTest::Application->config(map { $_->[1] } @scripts)));
Listen 127.0.0.1:$port
VaultFeedKeyFile "$key_file"
VaultFeed tests "@{[feed_path('test')]}" word=hello
<Location "/vault/feed">
    SetHandler vault-feed
</Location>
END
    for my $script (@scripts) {
        my ($language, $application) = @$script;
        my $rows = sub { texts($_[0]) =~ s/\s//gr };
        my $page = live_page([$application->{script}]);
        is($rows->($page->poll), '[{"count":"1"}]', "$language: the first rows");
        text_of("/test/notify?interest=c30-$language");
        is($rows->($page->poll), '[{"count":"2"}]', '... then what is new');
        my $poll = $page->start_poll;
        wait_waiting(1);
        is(text_of($application->{script}) =~ s/\s//gr, '[{"count":"1"}]', '... and in a page a first view');
        text_of("/test/notify?interest=c30-$language");
        is($rows->($page->finish_poll($poll)), '[{"count":"3"}]', '... beside a poll that waits');
    }
}

finish();
