# SPDX-License-Identifier: Apache-2.0
# Small configurations of their own, checked by `httpd -t` or started; nothing of the running server is touched.
package VaultTest::Config;
use strict;
use warnings;
use Exporter 'import';
use POSIX ();
use VaultTest;

our @EXPORT = qw(accepts checks feed_path refuses starts_not);

my @NEEDED = qw(mpm_event authn_core authz_core authz_host alias dir include unixd);

sub _modules
{
    my $wanted = join '|', @NEEDED;
    open my $file, '<', vars('t_conf') . '/modules.conf' or die "modules.conf: $!\n";
    return join '', grep { /^LoadModule (?:$wanted)_module / } readline $file;
}

sub feed_path { return vars('top_dir') . "/modules/vault_feed_$_[0].so" }

# Write a configuration with these lines; its path.
sub _write
{
    my ($lines) = @_;
    my $dir = vars('t_logs') . '/config';
    mkdir $dir or -d $dir or die "$dir: $!\n";
    unlink "$dir/error_log";
    open my $file, '>', "$dir/httpd.conf" or die "$dir/httpd.conf: $!\n";
    print $file _modules(), <<"END", $lines;
ServerRoot "$dir"
ServerName localhost
Listen 127.0.0.1:@{[VaultTest::port_of() + 900]}
DocumentRoot "@{[vars('documentroot')]}"
DefaultRuntimeDir "$dir"
PidFile "$dir/httpd.pid"
ErrorLog "$dir/error_log"
LoadModule vault_module "@{[vars('top_dir')]}/modules/mod_vault.so"
END
    close $file or die "$dir/httpd.conf: $!\n";
    return "$dir/httpd.conf";
}

# Run httpd with these arguments; its exit code and all that it says. It must end by itself.
sub _run
{
    my (@arguments) = @_;
    my $pid = open my $out, '-|';
    die "fork: $!\n" unless defined $pid;
    if (!$pid) {
        open STDERR, '>&', \*STDOUT;
        exec $ENV{VAULT_HTTPD}, @arguments or POSIX::_exit(127);
    }
    my $said = eval { with_deadline(60, sub { local $/; scalar readline $out }) };
    if ($@) {
        kill KILL => $pid;
        die "httpd @arguments: $@";
    }
    close $out;
    return ($? >> 8, $said // '');
}

# What `httpd -t` says of these lines: exit code and text
sub checks
{
    my ($lines) = @_;
    return _run('-t', '-f', _write($lines));
}

# accepts(LINES, why)
sub accepts
{
    my ($lines, $why) = @_;
    my ($code, $said) = checks($lines);
    return ok($code == 0 && $said =~ /^Syntax OK$/m, $why) || diag("exit code $code: $said");
}

# refuses(LINES, SENTENCE, why): a string must be there as it is; a regular expression must match
sub refuses
{
    my ($lines, $sentence, $why) = @_;
    my ($code, $said) = checks($lines);
    my $wanted = ref $sentence ? $sentence : qr/\Q$sentence\E/;
    # httpd's own line says the place, then one line is ours.
    my ($ours) = $said =~ /^AH00526: Syntax error on line \d+ of \S+:\n(.*)$/m;
    my $good = $code == 1 && defined $ours && $ours =~ $wanted;
    return ok($good, $why) || diag("exit code $code; wanted: $sentence\ngot: $said");
}

# starts_not(LINES, LINE OF THE LOG, why): the configuration is accepted, but the start fails
sub starts_not
{
    my ($lines, $wanted, $why) = @_;
    my $conf = _write($lines);
    my ($code) = _run('-DFOREGROUND', '-f', $conf);
    open my $file, '<', vars('t_logs') . '/config/error_log' or die "there is no error log: $!\n";
    my $log = join '', readline $file;
    return ok($code == 1 && $log =~ $wanted, $why) || diag("exit code $code: $log");
}

1;
