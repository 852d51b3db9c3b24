# SPDX-License-Identifier: Apache-2.0
# VaultCacheSocache: servers share, through Redis, what depends on a time alone, and what bundles are made of. Nothing that Redis says is believed
# unless it is whole; a Redis that is slow or gone costs no answer.
use strict;
use warnings;
use Time::HiRes ();
use VaultTest;
use VaultTest::Config;
use VaultTest::Redis;
use VaultTest::Site;

my $module = VaultTest::Server::_modules_dir() . '/mod_socache_redis.so';
my $redis = -f $module ? VaultTest::Redis->start('shared') : undef;
my $load = qq(LoadModule socache_redis_module "$module"\n);

refuses("VaultCacheSocache none:127.0.0.1\n", 'VaultCacheSocache none:127.0.0.1: there is no provider "none"', 'another kind of cache');
my $shmcb = VaultTest::Server::_modules_dir() . '/mod_socache_shmcb.so';
refuses(qq(LoadModule socache_shmcb_module "$shmcb"\nVaultCacheSocache shmcb\n), 'VaultCacheSocache shmcb: servers cannot share "shmcb"', 'one of this server alone') if -f $shmcb;
refuses("<Location />\nVaultCacheSocache redis:127.0.0.1\n</Location>\n", qr/^VaultCacheSocache not allowed/, 'in a section');

SKIP: {
    skip 'redis-server or mod_socache_redis is not installed', 1 unless $redis;
    refuses("${load}VaultCacheSocache redis\n", 'VaultCacheSocache redis: List of server names required', 'no server');

    my $dir = vars('t_logs') . '/socache';
    mkdir $dir or -d $dir or die "$dir: $!\n";
    unlink "$dir/runs";
    open my $tool, '>', "$dir/tool" or die "$dir/tool: $!\n";
    print $tool "#!/bin/sh\necho run >>'$dir/runs'\nexec tr -d '\\n'\n";
    close $tool;
    chmod 0755, "$dir/tool";
    site_file('/socache/a.css', "a {\n}\n");
    my $runs = sub { return scalar(() = (-f "$dir/runs" ? read_file("$dir/runs") : '') =~ /run/g) };

    # Two servers of one site. What each renders has its name.
    my $config = sub {
        my ($secret) = @_;
        return <<"END";
ServerName localhost:80
${load}VaultCacheSocache redis:127.0.0.1:@{[$redis->port]} $secret
VaultBundle /socache/site.css socache/a.css
VaultBundleFilter css "$dir/tool"
<Location "/kept/">
    SetHandler vault-test
    VaultCache On
</Location>
END
    };
    my %server = map { $_ => VaultTest::Server->start("socache-$_", config => $config->('secret')) } qw(a b);
    my $on = sub { return use_server($server{$_[0]}) };
    for my $name (qw(a b)) {
        $on->($name);
        text_of("/test/set?name=v&value=from-$name");
    }
    my $n = 0;
    my $long = 'header=Vault-Shared:yes&header=Cache-Control:max-age=1000';
    my $fresh = sub { return '/kept/value?name=v&n=' . ++$n . "&$long" };
    # Makes an output on a until Redis has it (a server that finds Redis slow does without it for some seconds): its key
    my $given = sub {
        my ($path, %with) = @_;
        my %before = map { $_ => 1 } $redis->keys;
        my @new;
        wait_until(
            sub {
                $on->('a');
                get($path, headers => {'Cache-Control' => 'no-cache'});
                @new = grep { !$before{$_} } $redis->keys;
            },
            'the other servers may have it'
        );
        return $new[0];
    };

    # ------------------------------------------------------------ shared
    my ($path, $own, $answer, $fetched);
    wait_until(
        sub {
            $path = $fresh->();
            $given->($path);
            $own = get($path);
            $on->('b');
            $fetched = status()->{Fetched};
            $answer = get($path);
            $answer->{body} eq 'from-a';
        },
        'a server answers with what another one has rendered'
    );
    is(status()->{Fetched} - $fetched, 1, '  which it has fetched');
    my $cached = status()->{Cached};
    get($path) for 1 .. 2;
    is(status()->{Fetched} - $fetched . ' ' . (status()->{Cached} - $cached), '1 2', '  once, and keeps');
    is($answer->{headers}{$_}, $own->{headers}{$_}, "  with the same $_") for qw(etag content-type cache-control);
    like($answer->{headers}{age}, qr/^\d+$/, '  and its age');
    is(get($path, headers => {'Cache-Control' => 'no-cache'})->{body}, 'from-b', 'a client may ask for a new one');

    my ($url, $rules) = ('/socache/site.css', 0);
    wait_until(
        sub {
            site_file('/socache/a.css', "a {\n}\n" x ++$rules);
            unlink "$dir/runs";
            my @keys = $redis->keys;
            $on->('a');
            die "the bundle is not minified\n" if text_of($url) ne 'a {}' x $rules;
            for (1 .. 100) {
                my @now = $redis->keys;
                last if @now > @keys;
                Time::HiRes::sleep(0.01);    # between two looks at a fact
            }
            $on->('b');
            text_of($url) eq 'a {}' x $rules && $runs->() == 1;
        },
        'the command of a bundle runs once for all servers'
    );

    # ------------------------------------------------------------ not shared
    $on->('a');
    my @keys = $redis->keys;
    get('/kept/value?name=v&header=Vault-Shared:yes&header=Vault-Interest:socache') for 1 .. 3;
    get("/kept/value?name=v&vary&$long&header=Vary:Accept-Language") for 1 .. 3;
    get('/kept/value?name=v&short&header=Vault-Shared:yes&header=Cache-Control:max-age=1') for 1 .. 2;
    get("/kept/value?name=v&personal&header=Cache-Control:max-age=1000") for 1 .. 2;
    $given->($fresh->());
    is(scalar(@{[$redis->keys]}), @keys + 1, 'what has an interest, varies by a header, lives for a second or is personal is not shared');

    # ------------------------------------------------------------ a restart
    wait_until(
        sub {
            $path = $fresh->();
            $given->($path);
            $on->('b');
            $server{b}->reconfigure($config->('secret'));
            text_of($path) eq 'from-a';
        },
        'after a restart outputs are there'
    );
    $server{b}->reconfigure($config->('another'));
    is(text_of($path), 'from-b', 'a server with another secret does not see them');
    $server{b}->reconfigure($config->('secret'));

    # ------------------------------------------------------------ lies
    my $other = $redis->ask(GET => $given->($fresh->()));
    my %lies = (
        'it is cut' => sub { return substr $_[0], 0, length($_[0]) / 2 },
        'nothing is left' => sub { return '' },
        'a character of the body is another one' => sub { return $_[0] =~ s/from-a\z/from-x/r },
        'an older version wrote it' => sub { return "0" . substr $_[0], 1 },
        'it belongs to another URL' => sub { return $other },
    );
    for my $lie (sort keys %lies) {
        my $path = $fresh->();
        my $key = $given->($path);
        my $whole = $redis->ask(GET => $key);
        my $wrong = $lies{$lie}->($whole);
        die "$lie: nothing was changed\n" if $wrong eq $whole;
        $redis->ask(SET => $key, $wrong);
        $on->('b');
        is(text_of($path), 'from-b', "$lie: the server renders for itself");
        is(text_of($path), 'from-b', '  and keeps that');
    }
    announce(qr/VLT00443: an output of VaultCacheSocache redis:127\.0\.0\.1:\d+ is not used: /);

    # ------------------------------------------------------------ slow, and gone
    tolerate(qr/AH0347[89]:|AH03480:/);    # mod_socache_redis says so itself
    $on->('b');
    $redis->freeze;
    is(text_of($fresh->()), 'from-b', 'Redis does not answer: the server renders') for 1 .. 3;
    announce(qr/VLT00442: VaultCacheSocache redis:127\.0\.0\.1:\d+ failed or was slow \(\d+ ms\): for 5 s outputs are rendered without it/);
    my %said;
    for my $line ($server{b}->lines) {
        $said{$1}++ if $line =~ /\[vault:warn\] \[pid (\d+).*VLT00442/;
    }
    cmp_ok(scalar(keys %said), '>', 0, '  and says so');
    is(scalar(grep { $_ > 1 } values %said), 0, '  once in each child');
    $redis->thaw;
    $redis->stop;
    $server{b}->reconfigure($config->('secret'));
    is(text_of($fresh->()), 'from-b', 'Redis is gone: the server renders') for 1 .. 3;
    is(text_of($url), 'a {}' x $rules, '  and makes bundles');
}
use_server();
finish();
