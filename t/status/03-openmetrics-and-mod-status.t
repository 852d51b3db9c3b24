# SPDX-License-Identifier: Apache-2.0
# The counters for Prometheus, as OpenMetrics text, and as a part of mod_status's page.
use strict;
use warnings;
use VaultTest;

my $metrics = get('/vault/status?metrics');
is($metrics->{status}, 200, '?metrics');
is($metrics->{headers}{'content-type'}, 'application/openmetrics-text; version=1.0.0; charset=utf-8', '... is OpenMetrics');
is($metrics->{headers}{'cache-control'}, 'no-store', '... that no cache keeps');
like($metrics->{body}, qr/\n# EOF\n\z/, '... and ends as it must');

# Each figure is three lines: type, help, one sample, whose name ends in _total exactly if it is a counter.
# (Those of single locations are in t/qos, those of feeds in 07.)
my $located = join '|', $metrics->{body} =~ /^(vault_(?:qos_\w+?|feed_\w+?|personal))(?:_total)?\{/mg;
my @lines = grep { !/\b(?:$located)(?:_total)?\b/ } split /\n/, $metrics->{body};
pop @lines;
is(@lines % 3, 0, 'three lines a figure');
my (%value, @bad);
while (my ($type, $help, $sample) = splice @lines, 0, 3) {
    my ($name, $kind) = $type =~ /^# TYPE (vault(?:_[a-z]+)+) (counter|gauge)$/ or push @bad, $type;
    $help =~ /^# HELP \Q$name\E \S/ or push @bad, $help;
    my ($sampled, $value) = $sample =~ /^(\w+) (\d+)$/ or push @bad, $sample;
    $sampled eq $name . ($kind eq 'counter' ? '_total' : '') or push @bad, $sample;
    $value{$name} = $value;
}
is_deeply(\@bad, [], 'all of them are well formed');

my %auto = get('/vault/status?auto')->{body} =~ /^(\w+): (\d+)$/mg;
for my $name (grep { !/^(?:Child|Qos\d|Feed\d|Personal)/ } sort keys %auto) {
    my $metric = 'vault' . $name =~ s/([A-Z])/_\l$1/gr;
    ok(exists $value{$metric}, "$name is there as $metric");
}
is($value{vault_pages_max}, $auto{PagesMax}, 'with the same value');

my $accept = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1';
like(get('/vault/status', headers => {Accept => $accept})->{headers}{'content-type'}, qr{^application/openmetrics-text}, 'asked as Prometheus asks');

my $before = status()->{Answers};
my $page = live_page(['/test/rows?name=s03&interest=s03']);
text_of('/test/add?name=s03&notify=s03');
$page->poll;
my ($answers) = get('/vault/status?metrics')->{body} =~ /^vault_answers_total (\d+)$/m;
cmp_ok($answers, '>', $before, 'a counter counts');

my $short = get('/server-status?auto')->{body};
like($short, qr/^VaultWaiting: \d+$/m, 'mod_status shows the figures in ?auto');
like($short, qr/^VaultAnswers: $answers$/m, '... with the same value');
like(get('/server-status')->{body}, qr{<h2>mod_vault</h2>\n<p>\d+ pages now, }, '... and in its page');

finish();
