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
use Time::HiRes ();

our @EXPORT_OK = qw(freeze have_module port vars);

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

# Stops these processes, and returns when each of their threads has stopped. kill() alone returns earlier: one thread learns
# of the signal and stops the others, which run until then.
sub freeze
{
    my (@pids) = @_;
    my $deadline = time + 60;
    kill STOP => @pids;
    for my $thread (map { glob "/proc/$_/task/*" } @pids) {
        while (state_of($thread) !~ /^[TZX]/) {
            die "$thread does not stop\n" if time > $deadline;
            Time::HiRes::sleep(0.01);    # between two looks at the thread
        }
    }
    return;
}

# The state of a process or thread, as proc(5) has it; X: there is none.
sub state_of
{
    my ($process) = @_;
    open my $file, '<', "$process/stat" or return 'X';
    return (readline($file) // '') =~ /\) (\S) / ? $1 : 'X';
}

1;
