# SPDX-License-Identifier: Apache-2.0
# Databases that are reached by TCP, with a password and by TLS only: pages, writes, the tailer, vaultctl. A wrong password is
# said, and never shown; a server whose certificate is not of the authority is not spoken to.
use strict;
use warnings;
use POSIX ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $PASSWORD = q{s3cret'"of};
my $tag = '<!--#feed name="remote" method="get_new_instances" table="logs" template="remote.html" append="list" -->';
site_file('/feed/remote.html', '{{#rows}}[{{line}}]{{/rows}}');
(my $other = $tag) =~ s/"remote"/"stranger"/;
site_file('/feed/stranger.shtml', "<p>$other</p>");
live_tag('/feed/remote', $tag);

sub password_file
{
    my ($name, $password) = @_;
    my $path = vars('t_logs') . "/$name.password";
    unlink $path;
    sysopen my $file, $path, POSIX::O_WRONLY() | POSIX::O_CREAT(), 0600 or die "$path: $!\n";
    print $file "$password\n";
    close $file;
    return $path;
}

sub config_of
{
    my ($right, $wrong, $stranger, $plain) = @_;
    my $feed = vars('top_dir') . '/modules/vault_feed_database.so';
    return <<"END";
VaultFeed remote "$feed" $right poll=100 timeout=5
VaultFeed wrong "$feed" $wrong poll=0 timeout=5
VaultFeed stranger "$feed" $stranger poll=0 timeout=5
VaultFeed plain "$feed" $plain poll=0 timeout=5
SSIErrorMsg "[ssi error]"
@{[live_folder('/feed')]}
END
}

for my $db (has_database() ? databases(qw(pgsql mysql)) : ()) {
    my $driver = $db->driver;
    (my $quoted = $PASSWORD) =~ s/'/''/g;
    $db->listen($quoted);
    $db->make('remote', 'CREATE TABLE logs(id {serial},line {text})');
    # Neither asks for TLS by itself; libpq does where it can.
    local $ENV{PGSSLMODE} = 'disable';
    my $where = "driver=$driver database=remote host=127.0.0.1 port=$db->{port} user=remote";
    my $password = 'password-file=' . password_file("remote-$driver", $PASSWORD);
    my $right = "$where $password tls-ca=" . $db->certificate;
    my @command = (vars('top_dir') . '/vaultctl', 'watch', '--yes', split(/ /, $right), 'logs');
    my $said = qx(@command 2>&1);
    is($?, 0, "$driver: vaultctl") || diag($said);
    my $server = VaultTest::Server->start("remote-$driver", 
        config => config_of($right, "$where password=wr0ng tls-ca=" . $db->certificate, "$where $password tls-ca=" . $db->certificate_of_another, "$where $password"));
    use_server($server);

    my $page = open_page('/feed/remote.shtml');
    my $poll = $page->start_poll;
    wait_waiting(1);
    calls_feed('remote', 'save', {table => 'logs', values => {line => 'inside'}});
    like(VaultTest::Page::text($page->finish_poll($poll)), qr/\[inside\]/, "$driver: what the feed writes");
    $poll = $page->start_poll;
    wait_waiting(1);
    $db->does('remote', q{INSERT INTO logs(line) VALUES('outside')});
    like(VaultTest::Page::text($page->finish_poll($poll)), qr/\[outside\]/, '... and what others write');
    if ($driver eq 'pgsql') {
        my @all = $db->does('remote', q{SELECT DISTINCT s.ssl FROM pg_stat_activity a JOIN pg_stat_ssl s USING(pid) WHERE a.usename='remote'});
        is("@all", 't', '... by TLS, all of it');
    }
    my $answer = calls_feed('wrong', 'all', {table => 'logs'});
    is($answer->{status}, 11, "$driver: with a wrong password a call is told to come again");
    like($answer->{error}, qr/^the database "remote" cannot be opened: .*(?:password|denied)/, '... and why');
    unlike($answer->{error}, qr/wr0ng/, '... but not by which');
    $answer = calls_feed('plain', 'all', {table => 'logs'});
    is($answer->{status}, 11, "$driver: without TLS a call is told to come again");
    like($answer->{error}, qr/^the database "remote" cannot be opened: .*(?:reject|denied)/, '... and that the server lets no client in so');
    $answer = calls_feed('stranger', 'all', {table => 'logs'});
    is($answer->{status}, 11, "$driver: with a server that the authority does not know a call is told to come again");
    like($answer->{error}, qr/^the database "remote" cannot be opened: .*certificate/, '... and why');
    announce(qr/VLT00040: feed stranger, method get_new_instances: the database "remote" cannot be opened: .*certificate.* in \S+stranger\.shtml/);
    like(text_of('/feed/stranger.shtml'), qr{<p>\[ssi error\]</p>}, '... and so is the log');
    use_server(undef);
    $server->stop;
    $db->deafen;
}
finish();
