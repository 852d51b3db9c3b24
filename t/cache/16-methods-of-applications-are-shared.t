# SPDX-License-Identifier: Apache-2.0
# An application sends Vault-Shared: yes in the answer of a method, or VaultCacheKey names what it varies by: one run answers for all pages.
# What is personal stays with its visitor, and a notify while the application runs is not lost.
use strict;
use warnings;
use Fcntl;
use JSON::PP ();
use POSIX qw(mkfifo);
use VaultTest;
use VaultTest::Application;
use VaultTest::Page;

needs_parking();

my $folder = vars('t_logs') . '/shared-methods';
mkdir $folder;
chmod 0777, $folder;

# Both read FOLDER/CASE.value and note it in FOLDER/CASE.runs, stop if there is FOLDER/CASE.gate, and answer with FOLDER/CASE.head, and with
# FOLDER/CASE.body unless the page has seen the value. @NAME@ in these is a variable of the request, or the value.
my $CGI = <<"END" . <<'END';
#!/usr/bin/perl
my \$file = "$folder/\$ENV{QUERY_STRING}";
END
sub text_of { local $/; open my $in, '<', $_[0] or die "$_[0]: $!\n"; return scalar readline $in }
sub say_it { return $_[0] =~ s/\@(\w+)\@/$ENV{$1}/gr }
my $value = $ENV{VALUE} = text_of("$file.value");
open my $runs, '>>', "$file.runs" or die "$file.runs: $!\n";
syswrite $runs, "$value\n";
open my $gate, '<', "$file.gate" if -p "$file.gate";
print "Content-Type: text/html\n", say_it(text_of("$file.head")), "\n";
print say_it(text_of("$file.body")) if ($ENV{HTTP_VAULT_PROPERTY_SEEN} // '') ne $value;
END
my $PHP = <<"END" . <<'END';
<?php
\$file = "$folder/{\$_SERVER['QUERY_STRING']}";
END
$value = $_SERVER['VALUE'] = file_get_contents("$file.value");
file_put_contents("$file.runs", "$value\n", FILE_APPEND);
if (file_exists("$file.gate")) {
    fopen("$file.gate", 'r');
}
$say = fn($text) => preg_replace_callback('/@(\w+)@/', fn($m) => $_SERVER[$m[1]] ?? '', $text);
foreach (array_filter(explode("\n", $say(file_get_contents("$file.head")))) as $line) {
    header($line, false);
}
if (($_SERVER['HTTP_VAULT_PROPERTY_SEEN'] ?? '') !== $value) {
    echo $say(file_get_contents("$file.body"));
}
END

my @programs = VaultTest::Application->programs('news', $CGI, $PHP);
plan(skip_all => 'neither mod_cgid nor PHP-FPM') unless @programs;
use_server(VaultTest::Server->start('shared-methods', config => VaultTest::Application->config(@programs) . <<'END'));
<LocationMatch "^/news-">
    VaultCache On
</LocationMatch>
<If "%{QUERY_STRING} =~ /keyed/">
    VaultCacheKey "%{HTTP:Cookie}"
</If>
END

sub write_file
{
    my ($name, $text) = @_;
    open my $file, '>', "$folder/$name.new" or die "$folder/$name.new: $!\n";
    print $file $text;
    close $file or die "$folder/$name.new: $!\n";
    rename "$folder/$name.new", "$folder/$name" or die "$folder/$name: $!\n";
    return;
}

# How often the application has read its data.
sub runs
{
    open my $file, '<', "$folder/$_[0].runs" or return 0;
    return scalar(() = readline $file);
}

sub prepare
{
    my ($case, $head, $body) = @_;
    unlink map { "$folder/$case.$_" } qw(runs gate);
    write_file("$case.value", 'one');
    write_file("$case.head", $head);
    write_file("$case.body", $body);
    return;
}

sub change
{
    my ($case, $value) = @_;
    write_file("$case.value", $value);
    text_of("/test/notify?interest=$case");
    return;
}

# What a page has shown is appended to `shown`, until its poll waits.
sub take
{
    my ($p) = @_;
    while (!$p->{poll}->is_silent) {
        my $answer = $p->{page}->finish_poll($p->{poll});
        die "$answer->{status} $answer->{body}\n" if $answer->{status} !~ m{^20[04]$};
        $p->{shown} .= VaultTest::Page::text($answer) if $answer->{status} == 200;
        $p->{poll}->close;
        $p->{poll} = $p->{page}->start_poll(undef, %{$p->{headers}});
    }
    return $p->{shown};
}

sub begin
{
    my ($path, %headers) = @_;
    my $page = open_page(view_of($path));
    return {page => $page, poll => $page->start_poll(undef, %headers), shown => '', headers => \%headers};
}

# All of these pages show what matches, and then wait.
sub all_show
{
    my ($pages, $pattern, $what) = @_;
    wait_until(
        sub {
            my $wrong = grep { take($_) !~ $pattern } @$pages;
            return !$wrong && status()->{Waiting} == @$pages;
        },
        "$what: all pages show $pattern"
    );
    my ($other) = grep { $_->{shown} !~ $pattern } @$pages;
    ok(!$other, "$what: all pages show $pattern") or diag($other->{shown});
    $_->{shown} = '' for @$pages;
    return;
}

sub explained { return JSON::PP::decode_json(text_of('/vault/status?page=' . $_[0]{page}->id))->{Methods}[0] }

sub leave
{
    $_->{poll}->close for @_;
    wait_waiting(0);
    return;
}

my $SHARED = 'Vault-Shared: yes';

for my $program (@programs) {
    my $name = $program->{name} =~ s/.*-//r;
    my $at = sub { "$program->{script}?$_[0]" };

    # ------------------------------------------------------------ one run for all
    my $case = "all$name";
    prepare($case, "Vault-Shared: yes\nVault-Interest: $case\nVault-Property: seen=\@VALUE\@\n", '[@VALUE@]');
    my $pages = $name eq 'cgi' ? 50 : 10;
    my @pages = (begin($at->($case)));
    all_show(\@pages, qr/^\[one\]$/, "$name, the first page");
    push @pages, map { begin($at->($case)) } 2 .. $pages;
    all_show(\@pages, qr/^(?:\[one\])?$/, "$name, the other pages");
    for my $value (qw(two three)) {
        my ($before, $shared) = (runs($case), status()->{Shared});
        change($case, $value);
        all_show(\@pages, qr/^\[$value\]$/, "$name, a notify");
        is(runs($case) - $before, 1, "$name: $pages pages cost one run of the application");
        is(status()->{Shared} - $shared, $pages - 1, '... which has answered for all of them');
    }
    is((grep { explained($_)->{shared} >= 1 } @pages), $pages, '... as the status says of each page');
    is((grep { explained($_)->{personal} } @pages), 0, '... and of none that it is personal');

    # ------------------------------------------------------------ a notify while it runs
    my $before = runs($case);
    mkfifo("$folder/$case.gate", 0666) or die "$folder/$case.gate: $!\n";
    chmod 0666, "$folder/$case.gate";
    change($case, 'four');
    wait_until(sub { runs($case) > $before }, "$name: one run has read the data");
    wait_waiting($pages - 1);
    is(runs($case) - $before, 1, "$name: one runs, the others wait");
    change($case, 'five');
    sysopen my $gate, "$folder/$case.gate", O_RDWR or die "$folder/$case.gate: $!\n";
    unlink "$folder/$case.gate" or die "$folder/$case.gate: $!\n";
    all_show(\@pages, qr/^(?:\[four\])?\[five\]$/, "$name, a notify after the application has read its data");
    leave(@pages);

    # ------------------------------------------------------------ another interest
    write_file("$case.head", "Vault-Shared: yes\nVault-Interest: $case,new$case\nVault-Property: seen=\@VALUE\@\n");
    @pages = (begin($at->($case)));
    text_of("/test/notify?interest=$case");
    all_show(\@pages, qr/^\[five\]$/, "$name, an interest that is named for the first time");
    push @pages, begin($at->($case));
    all_show(\@pages, qr/^(?:\[five\])?$/, "$name, another page");
    ($before, my $shared) = (runs($case), status()->{Shared});
    write_file("$case.value", 'six');
    text_of("/test/notify?interest=new$case");
    all_show(\@pages, qr/^\[six\]$/, "$name, a notify of the new interest");
    is(join(' ', runs($case) - $before, status()->{Shared} - $shared), '1 1', '... which is shared');
    leave(@pages);

    # ------------------------------------------------------------ what is personal
    my @personal = (
        nothing => 'a handler of another module has not said that its output is shared, or VaultCache is not On', 'Cache-Control: max-age=1000',
        cookie => 'the response sets a cookie, or forbids caches to share it', "$SHARED\nSet-Cookie: a=b",
        private => 'the response sets a cookie, or forbids caches to share it', "$SHARED\nCache-Control: private",
        store => 'the response sets a cookie, or forbids caches to share it', "$SHARED\nCache-Control: no-store",
        vary => 'the response sets a cookie, or forbids caches to share it', "$SHARED\nVary: *",
        some => undef, "$SHARED\nVary: Cookie",
        keyed => undef, 'Cache-Control: max-age=1000',
        page => 'an application calls feeds for the page with a key, or the output names the page', $SHARED, '@HTTP_VAULT_PAGE@',
        said => 'an application calls feeds for the page with a key, or the output names the page', "$SHARED\nVault-Property: id=\@HTTP_VAULT_PAGE\@",
    );
    splice @personal, 6 if $name ne 'cgi';    # the rest does not depend on how the application is reached
    while (@personal) {
        my ($what, $why, $head) = splice @personal, 0, 3;
        my $more = @personal && $personal[0] =~ /^@/ ? shift @personal : '';
        $case = "$what$name";
        prepare($case, "$head\nVault-Interest: $case\n", "[\@HTTP_COOKIE\@]$more");
        @pages = ();
        for my $cookie (qw(ann bob ann bob)) {
            push @pages, begin($at->($case), Cookie => $cookie);
            wait_until(sub { take($pages[-1]); status()->{Waiting} == @pages }, "$name, $what: the page of $cookie");
            like($pages[-1]{shown}, qr/^(?:\[$cookie\][^\[]*)+$/, "$name, $what: $cookie sees what is for $cookie");
        }
        is(explained($pages[-1])->{personal}, $why, '... and the status says why');
        my ($ran, $use) = (runs($case), status()->{Shared});
        $_->{shown} = '' for @pages;
        text_of("/test/notify?interest=$case");
        for my $p (@pages) {
            wait_until(sub { take($p); $p->{shown} }, "$name, $what: after a notify");
            like($p->{shown}, qr/^(?:\[$p->{headers}{Cookie}\][^\[]*)+$/, "$name, $what: after a notify $p->{headers}{Cookie} does, too");
        }
        wait_waiting(scalar @pages);
        is(join(' ', runs($case) - $ran, status()->{Shared} - $use), $why ? '4 0' : '2 2', $why ? '... by a run for each' : '... by a run for each of both');
        leave(@pages);
    }
}
use_server();
finish();
