# SPDX-License-Identifier: Apache-2.0
# Applications behind httpd, each a process of the test's own, stopped by its id at the end: the log page in each of examples/, a
# backend that answers the bytes that it is given, and scripts (CGI, PHP) that answer such headers and such a body.
#
#     my @all = VaultTest::Application->log_pages;      # those that can run here: {name, base, log}
#     my $raw = VaultTest::Application->raw;            # {port}; GET /b64/BASE64URL answers those bytes and closes
#     my @scripts = VaultTest::Application->scripts;    # those that can run here: {name}; $script->path_for("NAME: VALUE\n…\n\nBODY")
#     my $cgi = VaultTest::Application->cgi(NAME, TEXT);    # {script}, its path
#     my @both = VaultTest::Application->programs(NAME, TEXT, TEXT);    # those of a CGI program and a PHP script that can run here: {name, script}
#     my $asking = VaultTest::Application->asking($key);    # {key}; it calls feeds: $asking->path('call:/vault/feed/…', …), $asking->told
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

sub folder
{
    my $folder = vars('t_logs') . '/applications';
    mkdir $folder or -d $folder or die "$folder: $!\n";
    return $folder;
}

sub _examples { return vars('top_dir') . '/examples' }

sub free_port
{
    my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "no port: $!\n";
    return $socket->sockport;
}

# The path of the first program of this name, or undef.
sub program
{
    my ($pattern) = @_;
    my ($found) = grep { -x $_ } map { glob "$_/$pattern" } split /:/, "$ENV{PATH}:/usr/sbin:/usr/bin";
    return $found;
}

# Run `command` with these variables, and wait until it listens.
sub launch
{
    my ($self, %with) = @_;
    my $pid = fork;
    die "fork: $!\n" unless defined $pid;
    if (!$pid) {
        POSIX::setsid();
        open STDOUT, '>', folder() . "/$self->{name}.output";
        open STDERR, '>&', \*STDOUT;
        %ENV = (%ENV, LOG => $self->{log} // '', PORT => $self->{port}, %{$self->{env} || {}});
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

sub new
{
    my ($class, $name, %with) = @_;
    my $log = folder() . "/$name.log";
    unlink $log;
    return bless {name => $name, log => $log, %with}, $class;
}

# Those of these that can run here. Where all of them have to, it is an error when one cannot.
sub runnable
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
    my $self = $class->new('cgi', base => '/cgi/log.pl');
    $self->{config} = qq(ScriptAlias "/cgi/" "@{[_examples()]}/cgi/"\n<Location "/cgi/">\nSetEnv LOG "$self->{log}"\n</Location>\n);
    return $self;
}

sub write_file
{
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return $path;
}

# PHP-FPM, with Debian's extensions if `php_ini` says so.
sub start_fpm
{
    my ($self) = @_;
    my $fpm = program('php-fpm*');
    return unless $fpm && have_module('proxy_fcgi');
    $self->{port} = free_port();
    my $conf = write_file(folder() . "/$self->{name}-fpm.conf",
        "[global]\ndaemonize = no\nerror_log = @{[folder()]}/$self->{name}-fpm.log\n[www]\nlisten = 127.0.0.1:$self->{port}\n"
            . "pm = static\npm.max_children = 3\n");
    return $self->launch(command => [$fpm, '-F', $self->{php_ini} ? () : '-n', '-y', $conf]);
}

# The scripts of a folder.
sub _fpm
{
    my ($self, $folder) = @_;
    start_fpm($self) or return;
    $self->{config} = qq(Alias "/$self->{name}/" "$folder/"\n<Location "/$self->{name}/">\nSetEnv LOG "$self->{log}"\n)
        . qq(SetHandler "proxy:fcgi://127.0.0.1:$self->{port}"\n</Location>\n);
    return $self;
}

sub _php
{
    my ($class) = @_;
    return _fpm($class->new('php', base => '/php/log.php'), _examples() . '/php');
}

sub _proxied
{
    my ($self, @command) = @_;
    my $backend = "http://127.0.0.1:$self->{port}/$self->{name}/";
    $self->{config} = qq(<Location "/$self->{name}/">\nProxyPass "$backend"\nProxyPassReverse "$backend"\n</Location>\n);
    return $self->launch(command => \@command);
}

sub _wsgi
{
    my ($class) = @_;
    my ($python) = grep { -x && system("$_ -c 'import waitress' 2>/dev/null") == 0 } qw(/usr/bin/python3 /usr/local/bin/python3);
    return unless $python && have_module('proxy_http');
    my $self = $class->new('wsgi', base => '/wsgi', port => free_port());
    my $serve = 'import os, sys; sys.path.insert(0, sys.argv[1]); import log, waitress; '
        . 'waitress.serve(log.application, host="127.0.0.1", port=int(os.environ["PORT"]))';
    return $self->_proxied($python, '-B', '-c', $serve, _examples() . '/wsgi');
}

sub _node
{
    my ($class) = @_;
    my $node = program('node');
    return unless $node && have_module('proxy_http');
    my $self = $class->new('node', base => '/node', port => free_port());
    return $self->_proxied($node, _examples() . '/node/log.mjs');
}

sub log_pages { return runnable(@_, cgi => \&_cgi, php => \&_php, wsgi => \&_wsgi, node => \&_node) }

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
    my $self = $class->new('raw', port => $listener->sockport);
    my $backend = "http://127.0.0.1:$self->{port}/raw/";
    $self->{config} = qq(<Location "/raw/">\nProxyPass "$backend" disablereuse=On timeout=2\n</Location>\n);
    $SIG{CHLD} = 'DEFAULT';
    return $self->launch(
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
    my $self = $class->new("$name-cgi", script => "/$name-cgi/$name.pl");
    mkdir my $folder = folder() . "/$name-cgi";
    chmod 0755, write_file("$folder/$name.pl", $text);
    $self->{config} = qq(ScriptAlias "/$name-cgi/" "$folder/"\n);
    return $self;
}

sub _php_script
{
    my ($class, $name, $text) = @_;
    mkdir my $folder = folder() . "/$name-php";
    write_file("$folder/$name.php", $text);
    return _fpm($class->new("$name-php", script => "/$name-php/$name.php"), $folder);
}

# This script, in the language of its first line; undef: httpd has no CGI here.
sub cgi { return _cgi_script(@_) }

# One program in both languages.
sub programs
{
    my ($class, $name, $cgi, $php) = @_;
    return runnable($class, cgi => sub { _cgi_script(@_, $name, $cgi) }, php => sub { _php_script(@_, $name, $php) });
}

sub scripts { return programs(@_, 'says', $CGI_SCRIPT, $PHP_SCRIPT) }

sub environments { return programs(@_, 'env', $CGI_ENVIRONMENT, $PHP_ENVIRONMENT) }

# ---------------------------------------------------------------- an application that asks feeds for its page

# What it does for a request, one step after another:
#     call:PATH    ask httpd with the key, for the page that it was told; its status is noted, rows become text of the answer; an error ends it with 500
#     get:PATH     ask httpd for something else, as to wait at a barrier
#     say:TEXT     more text; head:NAME: VALUE  a header of the answer
sub path
{
    my ($self, @steps) = @_;
    return '/asking/?' . join '&', map { s/([^A-Za-z0-9_.~-])/sprintf '%%%02X', ord $1/ger } @steps;
}

# What its requests have been told so far: the value of Vault-Page or Vault-New-Page, then the statuses of its calls; as lines.
sub told
{
    my ($self) = @_;
    open my $file, '<', $self->{log} or return;
    return map { chomp; $_ } readline $file;
}

sub _note
{
    my ($self, $line) = @_;
    open my $file, '>>', $self->{log} or die "$self->{log}: $!\n";
    print $file "$line\n";
    return;
}

sub _do
{
    my ($self, $head, $steps) = @_;
    my ($server) = $head =~ /^X-Forwarded-Host: (\S+)\r$/m;
    my ($page) = $head =~ /^Vault-(?:New-)?Page: (\S+)\r$/m;
    my ($text, $headers) = ('', '');
    _note($self, 'page ' . ($page // ''));
    for my $step (@$steps) {
        my ($verb, $what) = $step =~ /^(\w+):(.*)/s;
        if ($verb eq 'say') { $text .= $what }
        elsif ($verb eq 'head') { $headers .= "$what\r\n" }
        elsif ($verb eq 'get') { HTTP::Tiny->new->get("http://$server$what") }
        else {
            my $answer = HTTP::Tiny->new->get("http://$server$what", {headers => {Authorization => "Bearer $self->{key}", $page ? ('Vault-Page' => $page) : ()}});
            _note($self, join ' ', $answer->{status}, $answer->{headers}{'vault-rows'} // ());
            return (500, '', $answer->{content}) if $answer->{status} >= 400;
            $text .= $answer->{content} // '';
        }
    }
    return (200, $headers, $text);
}

sub asking
{
    my ($class, $key) = @_;
    my $listener = IO::Socket::INET->new(Listen => 16, LocalAddr => '127.0.0.1', Proto => 'tcp', ReuseAddr => 1) or die "no port: $!\n";
    my $self = $class->new('asking', port => $listener->sockport, key => $key);
    my $backend = "http://127.0.0.1:$self->{port}/asking/";
    $self->{config} = qq(<Location "/asking/">\nProxyPass "$backend" disablereuse=On timeout=20\n</Location>\n);
    return $self->launch(
        code => sub {
            require HTTP::Tiny;
            local $SIG{CHLD} = 'IGNORE';
            while (my $client = $listener->accept) {
                next if fork;
                local $/ = "\r\n\r\n";
                my $head = readline $client // '';
                my ($query) = $head =~ m{^\S+ /asking/\?(\S*)} or POSIX::_exit(0);
                my @steps = map { s/%(..)/chr hex $1/ger } split /&/, $query;
                my ($status, $headers, $text) = _do($self, $head, \@steps);
                print $client "HTTP/1.1 $status Said\r\nContent-Type: text/html\r\n${headers}Content-Length: ", length $text, "\r\nConnection: close\r\n\r\n$text";
                $client->flush;
                POSIX::_exit(0);
            }
        }
    );
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
