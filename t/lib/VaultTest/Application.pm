# SPDX-License-Identifier: Apache-2.0
# Applications behind httpd, each a process of the test's own, stopped by its id at the end: the log page in each of examples/, a
# backend that answers whatever bytes it is told, and scripts (CGI, PHP) that answer such headers and such a body.
#
#     my @all = VaultTest::Application->log_pages;      # those that can run here: {name, base, log}
#     my $raw = VaultTest::Application->raw;            # {port}; GET /b64/BASE64URL answers those bytes and closes
#     my @scripts = VaultTest::Application->scripts;    # those that can run here: {name}; $script->path_for("NAME: VALUE\n…\n\nBODY")
#     my @tellers = VaultTest::Application->environments;    # those that can run here: {name, script}; they answer what they are told
#     VaultTest::Application->config(@all, $raw)        # what httpd needs to reach them
package VaultTest::Application;
use strict;
use warnings;
use VaultTest::Main qw(have_module vars);
use IO::Socket::INET;
use MIME::Base64 ();
use POSIX ();
use Time::HiRes ();

my @started;

sub _folder
{
    my $folder = vars('t_logs') . '/applications';
    mkdir $folder or -d $folder or die "$folder: $!\n";
    return $folder;
}

sub _examples { return vars('top_dir') . '/examples' }

sub _free_port
{
    my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "no port: $!\n";
    return $socket->sockport;
}

sub _program
{
    my ($pattern) = @_;
    my ($found) = grep { -x $_ } map { glob "$_/$pattern" } split /:/, "$ENV{PATH}:/usr/sbin:/usr/bin";
    return $found;
}

# Run `command` with these variables, and wait until it listens.
sub _launch
{
    my ($self, %with) = @_;
    my $pid = fork;
    die "fork: $!\n" unless defined $pid;
    if (!$pid) {
        POSIX::setsid();
        open STDOUT, '>', _folder() . "/$self->{name}.output";
        open STDERR, '>&', \*STDOUT;
        %ENV = (%ENV, LOG => $self->{log} // '', PORT => $self->{port});
        $with{code} ? $with{code}->() : exec @{$with{command}};
        POSIX::_exit(1);
    }
    $self->{pid} = $pid;
    push @started, $self;
    VaultTest::wait_until(
        sub {
            die "the application $self->{name} ended, see t/logs/applications\n" if waitpid($pid, POSIX::WNOHANG()) == $pid;
            return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{port}, Proto => 'tcp');
        },
        "the application $self->{name} runs"
    );
    return $self;
}

sub _new
{
    my ($class, $name, %with) = @_;
    my $log = _folder() . "/$name.log";
    unlink $log;
    return bless {name => $name, log => $log, %with}, $class;
}

# Those of these that can run here. Where all of them have to, it is an error when one cannot.
sub _runnable
{
    my ($class, @kinds) = @_;
    my (@applications, @missing);
    while (my ($name, $start) = splice @kinds, 0, 2) {
        my $application = $start->($class);
        push @{$application ? \@applications : \@missing}, $application // $name;
    }
    die 'these cannot run, and VAULT_ALL_APPLICATIONS says that they should: ' . join(', ', @missing) . "\n"
        if @missing && $ENV{VAULT_ALL_APPLICATIONS};
    return @applications;
}

# ---------------------------------------------------------------- the log pages

sub _cgi
{
    my ($class) = @_;
    return unless have_module('cgid');
    my $self = _new($class, 'cgi', base => '/cgi/log.pl');
    $self->{config} = qq(ScriptAlias "/cgi/" "@{[_examples()]}/cgi/"\n<Location "/cgi/">\nSetEnv LOG "$self->{log}"\n</Location>\n);
    return $self;
}

sub _write
{
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return $path;
}

# PHP-FPM for the scripts of a folder.
sub _fpm
{
    my ($self, $folder) = @_;
    my $fpm = _program('php-fpm*');
    return unless $fpm && have_module('proxy_fcgi');
    $self->{port} = _free_port();
    my $conf = _write(_folder() . "/$self->{name}-fpm.conf",
        "[global]\ndaemonize = no\nerror_log = @{[_folder()]}/$self->{name}-fpm.log\n[www]\nlisten = 127.0.0.1:$self->{port}\n"
            . "pm = static\npm.max_children = 3\n");
    $self->{config} = qq(Alias "/$self->{name}/" "$folder/"\n<Location "/$self->{name}/">\nSetEnv LOG "$self->{log}"\n)
        . qq(SetHandler "proxy:fcgi://127.0.0.1:$self->{port}"\n</Location>\n);
    return $self->_launch(command => [$fpm, '-F', '-n', '-y', $conf]);
}

sub _php
{
    my ($class) = @_;
    return _fpm(_new($class, 'php', base => '/php/log.php'), _examples() . '/php');
}

sub _proxied
{
    my ($self, @command) = @_;
    my $backend = "http://127.0.0.1:$self->{port}/$self->{name}/";
    $self->{config} = qq(<Location "/$self->{name}/">\nProxyPass "$backend"\nProxyPassReverse "$backend"\n</Location>\n);
    return $self->_launch(command => \@command);
}

sub _wsgi
{
    my ($class) = @_;
    my ($python) = grep { -x && system("$_ -c 'import waitress' 2>/dev/null") == 0 } qw(/usr/bin/python3 /usr/local/bin/python3);
    return unless $python && have_module('proxy_http');
    my $self = _new($class, 'wsgi', base => '/wsgi', port => _free_port());
    my $serve = 'import os, sys; sys.path.insert(0, sys.argv[1]); import log, waitress; '
        . 'waitress.serve(log.application, host="127.0.0.1", port=int(os.environ["PORT"]))';
    return $self->_proxied($python, '-B', '-c', $serve, _examples() . '/wsgi');
}

sub _node
{
    my ($class) = @_;
    my $node = _program('node');
    return unless $node && have_module('proxy_http');
    my $self = _new($class, 'node', base => '/node', port => _free_port());
    return $self->_proxied($node, _examples() . '/node/log.mjs');
}

sub log_pages { return _runnable(@_, cgi => \&_cgi, php => \&_php, wsgi => \&_wsgi, node => \&_node) }

# ---------------------------------------------------------------- any bytes

# The path that has the backend answer these bytes. With `endless`, it then neither goes on nor closes.
sub path_for
{
    my ($self, $bytes, %with) = @_;
    my $base = $self->{script} ? "$self->{script}?" : $with{endless} ? '/raw/endless/' : '/raw/bytes/';
    return $base . MIME::Base64::encode_base64url($bytes);
}

sub _answer
{
    my ($client) = @_;
    local $/ = "\r\n\r\n";
    my $head = readline $client // '';
    my ($endless, $bytes) = $head =~ m{^\S+ /raw/(endless|bytes)/([^ ?]*)};
    return unless defined $bytes;
    my $text = MIME::Base64::decode_base64url($bytes);
    $text =~ s/\@HEAD\@/$head/;
    print $client $text;
    $client->flush;
    sysread $client, my $rest, 1 if $endless eq 'endless';    # until httpd gives up
    return;
}

sub raw
{
    my ($class) = @_;
    my $listener = IO::Socket::INET->new(Listen => 16, LocalAddr => '127.0.0.1', Proto => 'tcp', ReuseAddr => 1) or die "no port: $!\n";
    my $self = _new($class, 'raw', port => $listener->sockport);
    my $backend = "http://127.0.0.1:$self->{port}/raw/";
    $self->{config} = qq(<Location "/raw/">\nProxyPass "$backend" disablereuse=On timeout=2\n</Location>\n);
    $SIG{CHLD} = 'DEFAULT';
    return $self->_launch(
        code => sub {
            local $SIG{CHLD} = 'IGNORE';
            while (my $client = $listener->accept) {
                my $pid = fork;
                next if $pid;
                _answer($client);
                POSIX::_exit(0);
            }
        }
    );
}

# ---------------------------------------------------------------- any headers, by scripts

my $CGI_SCRIPT = <<'END';
#!/usr/bin/perl
use MIME::Base64 ();
print MIME::Base64::decode_base64url($ENV{QUERY_STRING});
END

my $PHP_SCRIPT = <<'END';
<?php
[$head, $body] = explode("\n\n", base64_decode(strtr($_SERVER['QUERY_STRING'], '-_', '+/')), 2);
array_map('header', explode("\n", $head));
echo $body;
END

# What the application is told of a request, one variable a line; as an update of the element "env" where it runs as a method.
my $CGI_ENVIRONMENT = <<'END';
#!/usr/bin/perl
print "Content-Type: text/vnd.turbo-stream.html\nVault-Interest: env\n\n", map { "$_=$ENV{$_}\n" } sort keys %ENV;
END

my $PHP_ENVIRONMENT = <<'END';
<?php
header('Content-Type: text/vnd.turbo-stream.html');
header('Vault-Interest: env');
ksort($_SERVER);
foreach ($_SERVER as $name => $value) {
    if (is_string($value)) {
        echo "$name=$value\n";
    }
}
END

# A script of each kind, below /NAME-cgi/ and /NAME-php/.
sub _cgi_script
{
    my ($class, $name, $text) = @_;
    return unless have_module('cgid');
    my $self = _new($class, "$name-cgi", script => "/$name-cgi/$name.pl");
    mkdir my $folder = _folder() . "/$name-cgi";
    chmod 0755, _write("$folder/$name.pl", $text);
    $self->{config} = qq(ScriptAlias "/$name-cgi/" "$folder/"\n);
    return $self;
}

sub _php_script
{
    my ($class, $name, $text) = @_;
    mkdir my $folder = _folder() . "/$name-php";
    _write("$folder/$name.php", $text);
    return _fpm(_new($class, "$name-php", script => "/$name-php/$name.php"), $folder);
}

sub scripts
{
    return _runnable(@_, cgi => sub { _cgi_script(@_, 'says', $CGI_SCRIPT) }, php => sub { _php_script(@_, 'says', $PHP_SCRIPT) });
}

sub environments
{
    return _runnable(@_, cgi => sub { _cgi_script(@_, 'env', $CGI_ENVIRONMENT) }, php => sub { _php_script(@_, 'env', $PHP_ENVIRONMENT) });
}

sub config
{
    my ($class, @all) = @_;
    return join '', map { $_->{config} . qq(<Location "/$_->{name}/">\nVaultLongPoll On\nVaultSameOrigin On\nRequire all granted\n</Location>\n) } @all;
}

# A test that died leaves nothing running. Those that a process has started go with its session.
END {
    my $code = $?;
    for my $self (@started) {
        kill TERM => -$self->{pid};
        for (1 .. 500) {
            last if waitpid($self->{pid}, POSIX::WNOHANG()) != 0;
            Time::HiRes::sleep(0.02);
        }
        kill KILL => -$self->{pid};
    }
    $? = $code;
}

1;
