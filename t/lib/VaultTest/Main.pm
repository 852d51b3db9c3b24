# SPDX-License-Identifier: Apache-2.0
# The server that Apache::Test has started, from what it wrote down then.
#
#     use VaultTest::Main qw(have_module port vars);
#     vars('t_logs'), port(), port('vault_tls'), have_module('ssl')
#
# Apache::Test itself asks httpd, apxs and apr-1-config again, more than a hundred times, in each process that wants to know such things.
package VaultTest::Main;
use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(dirname);

our @EXPORT_OK = qw(have_module port vars);

my $written = dirname(__FILE__) . '/../../conf/apache_test_config.pm';
my $config;

sub _config
{
    return $config //= do { require $written; apache_test_config->new };
}

sub vars
{
    my ($name) = @_;
    return _config()->{vars}{$name};
}

# Of the virtual host of this name in t/conf/*.conf.in, or undef; without a name, of the server
sub port
{
    my ($vhost) = @_;
    return defined $vhost ? _config()->{vhosts}{$vhost}{port} : vars('port');
}

sub have_module
{
    my ($name) = @_;
    return exists _config()->{modules}{"mod_$name.c"};
}

1;
