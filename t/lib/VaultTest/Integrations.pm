# SPDX-License-Identifier: Apache-2.0
# The applications of integrations/ behind httpd, in virtual hosts as docs/applications.md has them: see VaultTest::Application.
#
#     my @comments = VaultTest::Integrations->comments;    # the examples that can run here: {name, host, log}
#     my @odd = VaultTest::Integrations->oddities(NAME => VALUE, …);    # those of t/controller/integrations, with these variables
#     VaultTest::Integrations->virtual_hosts(@comments)    # what httpd needs to reach them; each answers to its host, NAME.test
#     $comments[0]->notify('interest', $url)               # what a program in its language says that notifies
package VaultTest::Integrations;
use strict;
use warnings;
use parent -norequire, 'VaultTest::Application';
use VaultTest::Application;
use VaultTest::Main qw(have_module vars);

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

sub _new
{
    my ($name, %with) = @_;
    my $self = __PACKAGE__->new($name, host => "$name.test", %with);
    VaultTest::Application::write_file($self->{log}, '');
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
sub _php
{
    my ($name, %with) = @_;
    return if grep { !-f } @{$with{requires}};
    $comments_fpm //= __PACKAGE__->new('comments', php_ini => 1)->start_fpm or return;
    my $self = _new($name, notify => [VaultTest::Application::program('php') // return, '-r', $NOTIFY_PHP]);
    my $public = VaultTest::Application::folder() . "/$name-public";
    mkdir $public;
    VaultTest::Application::write_file("$public/index.php", join '', "<?php\n", map { "require '$_';\n" } @{$with{requires}});
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
sub _proxied
{
    my ($name, %with) = @_;
    return if !have_module('proxy_http') || grep { !defined || !-e } @{$with{needs}};
    my $self = _new($name, port => VaultTest::Application::free_port(), notify => $with{notify});
    $self->{config} = _documented(
        $with{heading},
        '*:80'            => '*',
        'www.example.org' => $self->{host},
        "127.0.0.1:$with{port}" => "127.0.0.1:$self->{port}",
    );
    $self->{env} = {%{$with{env} || {}}, COMMENTS => $self->{log}};
    return $self->launch(command => [map { s/\@PORT\@/$self->{port}/r } @{$with{run}}]);
}

sub _node
{
    my ($name, $script, %with) = @_;
    my $node = VaultTest::Application::program('node');
    return _proxied($name, env => $with{env}, heading => 'Node', port => 3000, needs => [$node, @{$with{needs} || []}], run => [$node, $script],
        notify => [$node, '--input-type=module', '-e', $NOTIFY_NODE]);
}

sub _rack
{
    my ($name, $script, %with) = @_;
    my ($ruby, $puma) = map { VaultTest::Application::program($_) } qw(ruby puma);
    return _proxied($name, env => $with{env}, heading => 'Rails', port => 3000, needs => [$ruby, $puma],
        run => [$puma, '-q', '-t', '1:3', '-b', 'tcp://127.0.0.1:@PORT@', $script], notify => [$ruby, '-e', $NOTIFY_RUBY]);
}

# The same page of comments in all of them, in virtual hosts as docs/applications.md has them.
sub comments
{
    my ($class) = @_;
    my $top = vars('top_dir') . '/integrations';
    my ($php, $laravel) = ("$top/php/examples", 'Laravel and Symfony');
    return $class->runnable(
        plain => sub { _php('plain', heading => 'Plain PHP', requires => ["$php/plain.php"]) },
        symfony => sub {
            _php('symfony', heading => $laravel,
                requires => ['/usr/share/php/Symfony/Component/HttpKernel/autoload.php', '/usr/share/php/Symfony/Component/Routing/autoload.php', "$php/symfony.php"]);
        },
        laravel => sub {
            _php('laravel', heading => $laravel,
                requires => ['/usr/share/php/Illuminate/Events/autoload.php', '/usr/share/php/Illuminate/Routing/autoload.php', "$php/laravel.php"]);
        },
        http    => sub { _node('http', "$top/node/examples/plain.mjs") },
        express => sub { _node('express', "$top/node/examples/express.mjs", needs => ["$top/node/node_modules/express"]) },
        rack    => sub { _rack('rack', "$top/rack/examples/config.ru") },
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
    return $class->runnable(
        'odd-php'  => sub { _php('odd-php', heading => 'Laravel and Symfony', requires => ["$top/odd.php"], env => \%env) },
        'odd-node' => sub { _node('odd-node', "$top/odd.mjs", env => \%env) },
        'odd-rack' => sub { _rack('odd-rack', "$top/odd.ru", env => \%env) },
    );
}

1;
