# SPDX-License-Identifier: Apache-2.0
# VaultInterest declares what a method waits for. With a fixed name one run answers for all pages, even of an application that does not know
# mod_vault; with a condition, or a name that is an expression, each page has runs of its own. No notify is lost.
use strict;
use warnings;
use JSON::PP ();
use VaultTest;
use VaultTest::Page qw(texts);
use VaultTest::Site;

needs_parking();

use constant PAGES => 5;

my %declared = (
    fixed => 'VaultInterest fixed',
    two => "VaultInterest two\nVaultInterest more-of-two",
    condition => q(VaultInterest condition "%{REQUEST_METHOD} == 'GET'"),
    expression => 'VaultInterest "%{tolower:EXPRESSION}"',
    mixed => qq(VaultInterest mixed\nVaultInterest other "%{HTTP:X-Other} != ''"),
);
my $config = join '', map { live_folder("/declared/$_") . "<Directory \"@{[site_path(\"/declared/$_\")]}\">\n$declared{$_}\n</Directory>\n" } sort keys %declared;
use_server(VaultTest::Server->start('declared', size => "ThreadLimit 8\nThreadsPerChild 8\nStartServers 2\nServerLimit 8\nMaxRequestWorkers 64\n", config => $config . <<'END'));
<Location "/app/">
    SetHandler vault-test
    VaultLongPoll On
    VaultCache On
    VaultCacheKey "the same for all"
    VaultInterest app
</Location>
END

sub explained { return JSON::PP::decode_json(text_of('/vault/status?page=' . $_[0]->id))->{Methods}[0] }

# Pages that have got what their method says at first, and wait.
sub begin
{
    my ($path) = @_;
    my @pages = map { {page => open_page($path)} } 1 .. PAGES;
    for my $p (@pages) {
        my $poll = $p->{page}->start_poll;
        $p->{shown} = texts($p->{page}->finish_poll($poll));
        $p->{poll} = $p->{page}->start_poll;
    }
    return @pages;
}

# What they get next, joined: each polls again.
sub next_of
{
    return join '|', map { my $text = texts($_->{page}->finish_poll($_->{poll})); $_->{poll} = $_->{page}->start_poll; $text =~ s/\s+//gr } @_;
}

sub leave
{
    $_->{poll}->close for @_;
    wait_waiting(0);
    return;
}

sub costs
{
    my ($code) = @_;
    my $before = status();
    $code->();
    wait_waiting(PAGES);
    my $after = status();
    return join ' ', map { $after->{$_} - $before->{$_} } qw(Runs Shared);
}

for my $name (sort keys %declared) {
    live_shtml("/declared/$name/page.shtml", 'method.shtml');
    site_file("/declared/$name/method.shtml", "[$name]");
}
settle();

for my $case (['fixed', 'fixed'], ['two', 'two'], ['two', 'more-of-two']) {
    my ($name, $interest) = @$case;
    my @pages;
    my $cost = costs(sub { @pages = begin("/declared/$name/page.shtml") });
    like($cost, $name eq $interest ? qr/^1 4$/ : qr/^0 5$/, "$name: the first polls of all pages, by one run");
    is(join('|', map { $_->{shown} =~ s/\s+//gr } @pages), join('|', ("[$name]") x PAGES), '... for each');
    is(costs(sub { text_of("/test/notify?interest=$interest"); is(next_of(@pages), join('|', ("[$name]") x PAGES), "... a notify of $interest reaches each page") }),
        '1 4', '... by one run');
    is(explained($_->{page})->{personal}, undef, '... and no method is personal') for @pages;
    leave(@pages);
}

# An expression, a condition, and one of two lines that has one.
for my $name (qw(condition expression mixed)) {
    my @pages = begin("/declared/$name/page.shtml");
    next_of(@pages);    # it runs twice at first
    wait_waiting(PAGES);
    is(costs(sub { text_of("/test/notify?interest=$name"); is(next_of(@pages), join('|', ("[$name]") x PAGES), "$name: a notify reaches each page") }),
        '5 0', '... by a run for each');
    like(explained($_->{page})->{personal}, qr/interest/, '... as the status says') for @pages;
    leave(@pages);
}

# An application that sends no header of mod_vault. A notify while it runs.
text_of('/test/set?name=c19&value=one');
open_barrier('c19');
my @pages = begin('/app/page?poll=/app/get%3Fname=c19%26after=c19');
is(join('|', map { $_->{shown} } @pages), join('|', ('one') x PAGES), 'an application');
wait_waiting(PAGES);
is(costs(sub { text_of('/test/set?name=c19&value=two&notify=app'); is(next_of(@pages), join('|', ('two') x PAGES), '... is asked once more') }), '1 4', '... for all pages');
text_of('/test/close?name=c19');
text_of('/test/set?name=c19&value=three&notify=app');
wait_arrived('c19', 1);
wait_waiting(PAGES - 1);
is(arrived('c19'), 1, '... one page asks, the others wait');
text_of('/test/set?name=c19&value=four&notify=app');
open_barrier('c19');
my %last = map { $_ => '' } 0 .. $#pages;
wait_until(
    sub {
        for my $n (grep { !$pages[$_]{poll}->is_silent } 0 .. $#pages) {
            $last{$n} .= texts($pages[$n]{page}->finish_poll($pages[$n]{poll}));
            $pages[$n]{poll} = $pages[$n]{page}->start_poll;
        }
        return !grep { !/four$/ } values %last;
    },
    'a notify after the application has read its data reaches each page'
);
is((scalar grep { /three/ } values %last), 1, '... and what was outdated is kept for none');
leave(@pages);
use_server();
finish();
