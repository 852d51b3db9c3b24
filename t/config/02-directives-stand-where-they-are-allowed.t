# SPDX-License-Identifier: Apache-2.0
# Limits and feeds are the server's as a whole; what is said per location may be said anywhere, .htaccess included.
use strict;
use warnings;
use VaultTest;
use VaultTest::Config;
use VaultTest::Site;

my @global = ('VaultSharedMemory 8M', 'VaultMaxPages 10', 'VaultMaxPagesPerClient 5', 'VaultMaxWaitingPerClient 20', 'VaultMaxUnsentPerClient 1M', 'VaultMaxMemoryPerClient 1M', 'VaultMaxInterestsPerClient 50', 'VaultMaxInterests 100', 'VaultPageTimeout 60', 'VaultMaxPageInterests 8', 'VaultNotifyRate 5', 'VaultMaxWaiting 10',
    'VaultCacheMemory 0', 'VaultCacheMemoryMax 2K', 'VaultCacheRoot "' . vars('t_logs') . '"', 'VaultCacheRootSize 1M', 'VaultLongPollThreads 1', 'VaultLongPollRuns 1', 'VaultFeed tests "' . feed_path('test') . '" word=hello');
for my $line (@global) {
    my ($name) = $line =~ /^(\w+)/;
    accepts("$line\n", "$name in the main server");
    refuses("<VirtualHost *:80>\n$line\n</VirtualHost>\n", qr/^\Q$name\E (?:cannot occur|not allowed) .*<VirtualHost>/, "$name not in a virtual host");
    refuses("<Location /x>\n$line\n</Location>\n", qr/^\Q$name\E not allowed (?:here|in <Location>)/, "$name not in a location");
}

my @local = ('VaultLongPoll On', 'VaultLongPollTimeout 5', 'VaultMaxMethods 3', 'VaultMaxOutput 1M', 'VaultPath /x');
my $lines = join '', map { "$_\n" } @local, 'VaultFeedLog Off', 'VaultFeedExpose Off', 'VaultLongPollOrigin *', 'VaultQosLimit 2',
    'VaultQosPriority 3 "true"', 'VaultQosTimeout 4', 'VaultQosQueue 5', 'VaultQosQueuePerClient 3', 'VaultMaxPollBody 8K', 'VaultMaxAnswer 2M';
accepts($lines, 'per location: in the main server');
accepts("<VirtualHost *:80>\n$lines</VirtualHost>\n", '... in a virtual host');
accepts("<Location /x>\n$lines</Location>\n", '... in a location');
accepts("<Directory /x>\n$lines<Files y>\n$lines</Files>\n</Directory>\n", '... in a folder and its files');
accepts("<If \"true\">\n$lines</If>\n", '... in a condition');

# .htaccess: as httpd asks it, in another server.
my $conf = sub { qq(<Directory "@{[vars('documentroot')]}">\nAllowOverride $_[0]\nOptions +Includes\nAddOutputFilter INCLUDES .shtml\n</Directory>\n) };
my $poll = qq(<!--#vault poll="/test/value" -->\n);
site_file('/hta/.htaccess', join '', map { "$_\n" } @local);
site_file('/hta/index.shtml', $poll);
my @not_there = ('VaultFeedLog Off', 'VaultQosLimit Off', 'VaultQosPriority 9', 'VaultQosTimeout 1', 'VaultQosQueue 1', 'VaultQosQueuePerClient 1', 'VaultMaxPollBody 8K', 'VaultMaxAnswer 2M');
site_file("/htnot$_/.htaccess", "$not_there[$_]\n") for 0 .. $#not_there;
use_server(VaultTest::Server->start('htaccess', config => $conf->('Options')));
like(text_of('/hta/index.shtml'), qr{src="/x/vault\.js"}, '.htaccess with AllowOverride Options');
for my $n (0 .. $#not_there) {
    my ($name) = $not_there[$n] =~ /^(\w+)/;
    announce(qr{/htnot$n/\.htaccess: $name not allowed here});
    is(get("/htnot$n/")->{status}, 500, "$name is not for .htaccess");
}
use_server(VaultTest::Server->start('no-htaccess', config => $conf->('FileInfo')));
announce(qr{/hta/\.htaccess: VaultLongPoll not allowed here});
is(get('/hta/index.shtml')->{status}, 500, '... and none without AllowOverride Options');
use_server();

finish();
