# SPDX-License-Identifier: Apache-2.0
# vaultctl asks a server that answers what it likes: nothing of it is a command to the terminal or a line of its own, no type of JSON is
# a crash, and what is no answer of mod_vault's is said to be none.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Stub;
use VaultTest::Vaultctl;

needs_vaultctl();
my $stub = VaultTest::Stub->new;
my $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub answers
{
    my ($body, $head) = @_;
    $head //= '200 OK';
    $stub->answers("HTTP/1.1 $head\r\nContent-Type: application/json\r\nContent-Length: " . length($body) . "\r\nConnection: close\r\n\r\n$body");
    return;
}

my $often = vaultctl_often();

sub asked { return $often->(@_, '--url', $stub->url) }

# What a terminal may be sent: lines of text, and of those characters none that turns the direction or begins a command.
sub is_harmless
{
    my ($said, $name) = @_;
    my $text = "$said->{out}$said->{err}";
    my $ok = utf8::decode($text) && $text !~ /[\x00-\x09\x0b-\x1f\x7f-\x9f\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]/;
    return ok($ok, $name) || diag($json->encode($text));
}

my $esc = "\e[2J\e]0;owned\a\x{9b}31m\x{9d}0;owned\x{9c}\x{202e}gpj\x{2066}\x{7f}\r\nPage            fake\n\x{fc}";
my $id = 'a' x 40;
my $page = {
    Page => $id, State => $esc, IdleSeconds => 1, Owner => $esc, Client => $esc, Seq => 1, Unacknowledged => [2],
    Methods => [{url => $esc, state => $esc, interests => [{name => $esc, seen => 1, stamp => 2, moved => JSON::PP::true}]}],
    LastWake => {seconds => 1, why => $esc}, LastRound => {seconds => 1, methods => 1, wrote => 1, failed => 0},
    Cursors => [{call => $esc, place => $esc}], Properties => {$esc => $esc},
};
my $status = {
    $esc => 1, Pages => 1, PagesMax => 2, Children => [{Slot => 1, Pid => 2, Polls => 3}], Qos => [{Location => $esc, Limit => 1}],
};
my $pages = {Pages => [{Page => $id, State => $esc, IdleSeconds => 1, Owner => undef, Client => $esc, Methods => [$esc], Interests => [$esc]},
                       {Page => $esc, State => $esc, IdleSeconds => 1, Owner => $esc, Methods => [$esc, $esc], Interests => []}]};
my $check = {Wrong => [$esc], Warnings => [$esc]};
my $updates = {page => $id, seq => 1, updates => [{body => JSON::PP->new->encode({interests => [$esc]})}]};
my %commands = (
    status => [$status, 'status'], top => [$status, 'top', '-n', 1], pages => [$pages, 'pages'], page => [$page, 'pages', $id],
    check => [$check, 'check'], monitor => [$updates, 'monitor', '-n', 1, 'x'], notify => [{held => JSON::PP::false}, 'notify', 'x'],
    error => [{error => $esc}, 'status'],
);

for my $name (sort keys %commands) {
    my ($answer, @words) = @{$commands{$name}};
    answers($json->encode($answer), $name eq 'error' ? '403 Forbidden' : '200 OK');
    my $said = asked(@words);
    is_harmless($said, "$name: what it prints");
    like("$said->{out}$said->{err}", qr/\?\[2J\?\]0;owned\?\?31m\?0;owned\??\?gpj\?+Page +fake\?\x{c3}\x{bc}/, '... says what was there, in one line') if $name ne 'notify';
    unlike("$said->{out}$said->{err}", qr/^Page +fake/m, '... and no line that is not its own');
    next if grep { $name eq $_ } qw(top error);
    $said = asked(@words, '--json');
    is_harmless($said, "$name --json");
    unlike("$said->{out}$said->{err}", qr/[^\n -~]/, '... is ASCII');
    is_deeply($json->decode($said->{out}), $name eq 'pages' ? $answer->{Pages} : $answer, '... and the same JSON') if $name =~ /^(?:status|pages?|check)$/;
}

# Every value of every answer, in turn, as every other type.
sub variants
{
    my ($value) = @_;
    my @all = map { my $odd = $_; sub { $odd } } undef, -9223372036854775807, 1e308, "x", [], [undef], {}, {x => undef}, [[[]]], JSON::PP::true;
    if (ref $value eq 'HASH') {
        for my $key (keys %$value) {
            push @all, map { my $v = $_; sub { return {%$value, $key => $v->()} } } variants($value->{$key});
            push @all, sub { my %less = %$value; delete $less{$key}; return \%less };
        }
    }
    elsif (ref $value eq 'ARRAY' && @$value) {
        push @all, map { my $v = $_; sub { return [$v->(), @$value[1 .. $#$value]] } } variants($value->[0]);
    }
    return @all;
}

for my $name (grep { $_ ne 'top' } sort keys %commands) {
    my ($answer, @words) = @{$commands{$name}};
    my ($count, @wrong) = (0);
    for my $variant (variants($answer)) {
        my $body = $json->encode($variant->());
        # Of monitor the first answer is a page, and the second what was notified.
        next if $name eq 'monitor' && ref $variant->() eq 'HASH' && !eval { @{JSON::PP->new->decode($variant->()->{updates}[0]{body})->{interests}} };
        answers($body);
        my $said = asked(@words);
        $count++;
        push @wrong, "$said->{code}: $body" if $said->{code} !~ /^[012]$/ || "$said->{out}$said->{err}" =~ /\(null\)|\e/;
    }
    is("@wrong", '', "$name: values of other types ($count answers)");
    cmp_ok($count, '>', 10, '... were tried');
}

# Text that is no JSON, or no text.
my %not = (
    'nothing' => '', 'no JSON' => "\e[2J", 'a list' => '["Pages"]', 'a number' => '1', 'null' => 'null',
    'a NUL' => '{"Pages":["\u0000"]}', 'half a surrogate' => '{"Pages":["\ud800"]}', 'the other half' => '{"Pages":["\udc9b"]}',
    'overlong UTF-8' => qq({"Pages":["\xc0\x9b"]}), 'a byte of Latin-1' => qq({"Pages":["\x9b2J"]}), 'too deep' => '[' x 100_000,
    'a list that is none' => '{"Pages":null}',
);
for my $name (sort keys %not) {
    answers($not{$name});
    my $said = asked('pages');
    is($said->{code}, 2, "pages: $name") or diag($said->{out});
    like($said->{err}, qr{^vaultctl: \Q@{[$stub->url]}\Estatus\?pages: .*this is not what mod_vault answers[^\n]*\n$}, '... is said to be no answer');
    is_harmless($said, '... in harmless words');
}

# A page whose id is no id.
answers($json->encode({page => "x&y=1 \r\nX: y", seq => 1, updates => [{body => $json->encode({interests => ['n']})}]}));
is(asked('monitor', '-n', 1, '-q', 'x')->{code}, 0, 'an id is no part of the request line');

finish();
