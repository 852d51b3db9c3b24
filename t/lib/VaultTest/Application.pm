# SPDX-License-Identifier: Apache-2.0
# Applications behind httpd, each a process of the test's own, stopped by its id at the end: the log page in each of examples/, a
# backend that answers whatever bytes it is told, and scripts (CGI, PHP) that answer such headers and such a body.
#
#     my @all = VaultTest::Application->log_pages;      # those that can run here: {name, base, log}
#     my $raw = VaultTest::Application->raw;            # {port}; GET /b64/BASE64URL answers those bytes and closes
#     my @scripts = VaultTest::Application->scripts;    # those that can run here: {name}; $script->path_for("NAME: VALUE\n…\n\nBODY")
#     my $asking = VaultTest::Application->asking($key);    # {key}; it calls feeds: $asking->path('call:/vault/feed/…', …), $asking->told
#     my @tellers = VaultTest::Application->environments;    # those that can run here: {name, script}; they answer what they are told
#     my @comments = VaultTest::Application->comments;  # the examples of integrations/ that can run here: {name, log, command, …}
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

# The path of the first program of this name, or undef.
sub program
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

# PHP-FPM, with Debian's extensions if `php_ini` says so.
sub _start_fpm
{
    my ($self) = @_;
    my $fpm = program('php-fpm*');
    return unless $fpm && have_module('proxy_fcgi');
    $self->{port} = _free_port();
    my $conf = _write(_folder() . "/$self->{name}-fpm.conf",
        "[global]\ndaemonize = no\nerror_log = @{[_folder()]}/$self->{name}-fpm.log\n[www]\nlisten = 127.0.0.1:$self->{port}\n"
            . "pm = static\npm.max_children = 3\n");
    return $self->_launch(command => [$fpm, '-F', $self->{php_ini} ? () : '-n', '-y', $conf]);
}

# The scripts of a folder.
sub _fpm
{
    my ($self, $folder) = @_;
    _start_fpm($self) or return;
    $self->{config} = qq(Alias "/$self->{name}/" "$folder/"\n<Location "/$self->{name}/">\nSetEnv LOG "$self->{log}"\n)
        . qq(SetHandler "proxy:fcgi://127.0.0.1:$self->{port}"\n</Location>\n);
    return $self;
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
    my $node = program('node');
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

# ---------------------------------------------------------------- the examples of integrations/

# The directives of docs/applications.md below this heading, as virtual hosts that this server has: `changes` replace paths and ports.
sub _documented
{
    my ($heading, %changes) = @_;
    my $page = VaultTest::read_file(vars('top_dir') . '/docs/applications.md');
    my ($section) = $page =~ /^## \Q$heading\E\n(.*?)(?=^## |\z)/ms or die "docs/applications.md has no section \"$heading\"\n";
    my ($config) = $section =~ /^```apache\n(.*?)^```/ms or die "the section \"$heading\" of docs/applications.md has no directives\n";
    for my $from (sort keys %changes) {
        $config =~ s/\Q$from\E/$changes{$from}/g or die "the section \"$heading\" of docs/applications.md does not say $from\n";
    }
    return $config;
}

sub _comments
{
    my ($class, $name, %with) = @_;
    my $self = _new($class, $name, host => "$name.test", %with);
    _write($self->{log}, '');
    return $self;
}

# Programs that answer no request and notify: their arguments are the integration, an interest and a URL.
my $NOTIFY_PHP = <<'END';
[, $integrations, $name, $url] = $argv;
require "$integrations/php/Vault.php";
try {
    echo json_encode(ModVault\Vault::notifyNow($name, $url));
} catch (Exception $e) {
    echo $e->getMessage();
}
END

my $NOTIFY_NODE = <<'END';
const [, integrations, name, url] = process.argv;
const {Vault} = await import(`${integrations}/node/vault.mjs`);
process.stdout.write(await Vault.notifyNow(name, {url}).then(String, error => error.message));
END

my $NOTIFY_RUBY = <<'END';
integrations, name, url = ARGV
require "#{integrations}/rack/mod_vault"
begin
  print ModVault.notify(name, url: url)
rescue StandardError => e
  print e.message
end
END

# What such a program says: true, false, or why it could not.
sub notify
{
    my ($self, $name, $url) = @_;
    open my $program, '-|', @{$self->{notify}}, vars('top_dir') . '/integrations', $name, $url or die "$self->{name}: $!\n";
    local $/;
    return readline($program) // '';
}

# All of them are behind one PHP-FPM, which the first one starts.
my $comments_fpm;

# An application in PHP: public/index.php requires these files.
sub _comments_php
{
    my ($class, $name, %with) = @_;
    return if grep { !-f } @{$with{requires}};
    $comments_fpm //= _start_fpm(_new($class, 'comments', php_ini => 1)) or return;
    my $self = _comments($class, $name, notify => [program('php') // return, '-r', $NOTIFY_PHP]);
    my $public = _folder() . "/$name-public";
    mkdir $public;
    _write("$public/index.php", join '', "<?php\n", map { "require '$_';\n" } @{$with{requires}});
    $self->{config} = _documented(
        $with{heading},
        '*:80'                             => '*',
        'www.example.org'                  => $self->{host},
        '/srv/app/public'                  => $public,
        'unix:/run/php/php8.2-fpm.sock|fcgi://localhost' => "fcgi://127.0.0.1:$comments_fpm->{port}",
        '</VirtualHost>'                   => join('', map({ qq(    SetEnv $_ "$with{env}{$_}"\n) } sort keys %{$with{env}}), qq(    SetEnv COMMENTS "$self->{log}"\n</VirtualHost>)),
    );
    return $self;
}

# An application behind a proxy.
sub _comments_proxied
{
    my ($class, $name, %with) = @_;
    return if !have_module('proxy_http') || grep { !defined || !-e } @{$with{needs}};
    my $self = _comments($class, $name, port => _free_port(), notify => $with{notify});
    $self->{config} = _documented(
        $with{heading},
        '*:80'            => '*',
        'www.example.org' => $self->{host},
        "127.0.0.1:$with{port}" => "127.0.0.1:$self->{port}",
    );
    $self->{env} = {%{$with{env} || {}}, COMMENTS => $self->{log}};
    return $self->_launch(command => [map { s/\@PORT\@/$self->{port}/r } @{$with{run}}]);
}

sub _comments_node
{
    my ($class, $name, $script, %with) = @_;
    my $node = program('node');
    return _comments_proxied($class, $name, env => $with{env}, heading => 'Node', port => 3000, needs => [$node, @{$with{needs} || []}], run => [$node, $script],
        notify => [$node, '--input-type=module', '-e', $NOTIFY_NODE]);
}

sub _comments_rack
{
    my ($class, $name, $script, %with) = @_;
    my ($ruby, $puma) = map { program($_) } qw(ruby puma);
    return _comments_proxied($class, $name, env => $with{env}, heading => 'Rails', port => 3000, needs => [$ruby, $puma],
        run => [$puma, '-q', '-t', '1:3', '-b', 'tcp://127.0.0.1:@PORT@', $script], notify => [$ruby, '-e', $NOTIFY_RUBY]);
}

# The same page of comments in all of them, in virtual hosts as docs/applications.md has them.
sub comments
{
    my ($class) = @_;
    my $top = vars('top_dir') . '/integrations';
    my ($php, $laravel) = ("$top/php/examples", 'Laravel and Symfony');
    return _runnable(
        $class,
        plain => sub { _comments_php(@_, 'plain', heading => 'Plain PHP', requires => ["$php/plain.php"]) },
        symfony => sub {
            _comments_php(@_, 'symfony', heading => $laravel,
                requires => ['/usr/share/php/Symfony/Component/HttpKernel/autoload.php', '/usr/share/php/Symfony/Component/Routing/autoload.php', "$php/symfony.php"]);
        },
        laravel => sub {
            _comments_php(@_, 'laravel', heading => $laravel, requires => ['/usr/share/php/Illuminate/Routing/autoload.php', "$php/laravel.php"]);
        },
        http    => sub { _comments_node(@_, 'http', "$top/node/examples/plain.mjs") },
        express => sub { _comments_node(@_, 'express', "$top/node/examples/express.mjs", needs => ["$top/node/node_modules/express"]) },
        rack    => sub { _comments_rack(@_, 'rack', "$top/rack/examples/config.ru") },
    );
}

# Those of these applications, behind one that is asked by any other name. vault.conf keeps its own URLs from them.
sub virtual_hosts
{
    my ($class, @all) = @_;
    my ($own_urls) = VaultTest::read_file(vars('top_dir') . '/vault.conf') =~ m{^(<Location "/vault">\n.*?^</Location>\n)}ms;
    return join '', $own_urls // die("vault.conf has no <Location \"/vault\">\n"), "<VirtualHost *>\nServerName localhost\n</VirtualHost>\n",
        map { $_->{config} } @all;
}

# What integrations/ makes of odd names and values and of feeds, once for each language, with these variables.
sub oddities
{
    my ($class, %env) = @_;
    my $top = vars('top_dir') . '/t/controller/integrations';
    return _runnable(
        $class,
        'odd-php'  => sub { _comments_php(@_, 'odd-php', heading => 'Laravel and Symfony', requires => ["$top/odd.php"], env => \%env) },
        'odd-node' => sub { _comments_node(@_, 'odd-node', "$top/odd.mjs", env => \%env) },
        'odd-rack' => sub { _comments_rack(@_, 'odd-rack', "$top/odd.ru", env => \%env) },
    );
}

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
    my $self = _new($class, 'asking', port => $listener->sockport, key => $key);
    my $backend = "http://127.0.0.1:$self->{port}/asking/";
    $self->{config} = qq(<Location "/asking/">\nProxyPass "$backend" disablereuse=On timeout=20\n</Location>\n);
    return $self->_launch(
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
