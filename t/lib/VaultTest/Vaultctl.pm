# SPDX-License-Identifier: Apache-2.0
# vaultctl as an administrator calls it, on the server that the test talks to.
#
#     needs_vaultctl();
#     my $said = vaultctl('notify', 'DB-logs');           # {code, out, err}
#     my $often = vaultctl_often();                       # for hundreds of calls: $often->(WORDS) answers as vaultctl(WORDS)
#     my $monitor = vaultctl_start('monitor', '-n', 2, 'x');    # goes on by itself: {pid, out, err}, see vaultctl_end()
package VaultTest::Vaultctl;
use strict;
use warnings;
use Exporter 'import';
use IPC::Open2 qw(open2);
use POSIX ();
use VaultTest;

our @EXPORT = qw(needs_vaultctl vaultctl vaultctl_command vaultctl_end vaultctl_often vaultctl_start);

my $number = 0;

sub _program { return vars('top_dir') . '/vaultctl' }

sub needs_vaultctl
{
    plan(skip_all => 'vaultctl was not built') unless -x _program();
    return;
}

# It as a list to run, on the server that the test talks to.
sub vaultctl_command
{
    my (@words) = @_;
    my @environment = (map { ('-u', $_) } grep { /proxy/i } keys %ENV);
    return ('env', @environment, 'VAULTCTL_URL=http://127.0.0.1:' . VaultTest::port_of() . '/vault/', 'HOME=' . vars('t_logs'), _program(), @words);
}

# Its output goes to files, so that it can be looked at while it runs. An --url among the words counts.
sub vaultctl_start
{
    my (@words) = @_;
    my $name = vars('t_logs') . "/vaultctl-$$-" . $number++;
    my $pid = fork;
    die "fork: $!\n" unless defined $pid;
    if (!$pid) {
        delete @ENV{grep { /proxy/i } keys %ENV};
        $ENV{VAULTCTL_URL} = 'http://127.0.0.1:' . VaultTest::port_of() . '/vault/';
        $ENV{HOME} = vars('t_logs');
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$name.out";
        open STDERR, '>', "$name.err";
        exec _program(), @words or POSIX::_exit(127);
    }
    return {pid => $pid, out => "$name.out", err => "$name.err"};
}

# Wait for its end: {code, out, err}
sub vaultctl_end
{
    my ($running) = @_;
    wait_until(sub { waitpid($running->{pid}, POSIX::WNOHANG()) == $running->{pid} }, 'vaultctl ends');
    my $code = $? & 127 ? "signal $?" : $? >> 8;
    return {code => $code, out => read_file($running->{out}), err => read_file($running->{err})};
}

sub vaultctl { return vaultctl_end(vaultctl_start(@_)) }

# One process has loaded the libraries and forks for each call (t/test_module/preload_often.c). It ends with what is returned.
sub vaultctl_often
{
    my $name = vars('t_logs') . "/vaultctl-$$-" . $number++;
    my $asan = join ':', grep { defined && length } $ENV{ASAN_OPTIONS}, 'verify_asan_link_order=0';
    my ($env, @command) = vaultctl_command();
    my $pid = open2(my $codes, my $calls, $env, 'LD_PRELOAD=' . vars('top_dir') . '/modules/preload_often.so', "ASAN_OPTIONS=$asan", @command);
    $calls->autoflush(1);
    return sub {
        my (@words) = @_;
        print {$calls} join("\t", "$name.out", "$name.err", @words), "\n";
        local $SIG{ALRM} = sub { die "vaultctl does not end: @words\n" };
        alarm 60;
        my $code = readline $codes;
        alarm 0;
        die "vaultctl has ended, and not its run: @words\n" unless defined $code;
        chomp $code;
        return {code => $code, out => read_file("$name.out"), err => read_file("$name.err")};
    };
}

1;
