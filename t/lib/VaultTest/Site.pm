# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of pages and feeds: files of the site, feeds called through the test module, databases, counts
# of pages.
package VaultTest::Site;
use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(dirname);
use File::Path qw(make_path);
use IPC::Open2 qw(open2);
use JSON::PP ();
use Time::HiRes ();
use VaultTest;

our @EXPORT = qw(calls_feed database_file for_users fresh_table has_database insert_row is_kept keeps live_folder live_shtml live_tag lock_database
    model_file poll_url rows_of settle settle_files site_file site_path take_shown unlock_database wait_tailer);

# ---------------------------------------------------------------- files

# The file of a path of the site.
sub site_path
{
    my ($path) = @_;
    return vars('documentroot') . $path;
}

my $newest;     # the file that the last site_file() wrote
my $settles;    # each site_file() waits, too

# site_file('/view/live.shtml', TEXT): write it as editors do, by renaming; undef removes it
sub site_file
{
    my ($path, $text) = @_;
    my $file = site_path($path);
    if (!defined $text) {
        unlink $file or die "$file: $!\n";
        return $path;
    }
    make_path(dirname($file));
    open my $out, '>:raw', "$file.new" or die "$file.new: $!\n";
    print $out $text;
    close $out or die "$file.new: $!\n";
    rename "$file.new", $file or die "$file: $!\n";
    $newest = $file;
    settle() if $settles;
    return $path;
}

# Wait until the tick of the file system's clock has passed in which the last site_file() was written: outputs that depend
# on a newer file are not kept.
sub settle
{
    my $changed = (Time::HiRes::stat($newest))[10];
    my $tick = $changed == int $changed ? 2 : 0.02;
    Time::HiRes::sleep(0.005) while Time::HiRes::time() <= $changed + $tick + 0.001;
    return;
}

# From here on every site_file() does so.
sub settle_files { return $settles = 1 }

# A page of SSI that polls this method and shows that text.
sub live_shtml
{
    my ($path, $method, $text) = @_;
    return site_file($path, qq(<!DOCTYPE html>\n<title>live</title>\n<!--#vault poll="$method" -->\n) . ($text // "<p>live</p>\n"));
}

# The page PATH.shtml with this tag, which its polls run again. `text`: %s stands for the tag; it has no other %.
sub live_tag
{
    my ($path, $tag, $text) = @_;
    site_file("$path-new.shtml", $tag);
    return live_shtml("$path.shtml", "$path-new.shtml", sprintf(($text // '<p>%s</p>') . "\n", $tag));
}

# The configuration of a folder with live pages of SSI.
sub live_folder
{
    my ($path) = @_;
    return <<"END";
<Directory "@{[site_path($path)]}">
    Options +Includes
    AddType text/html .shtml .html
    AddOutputFilter INCLUDES .shtml
    VaultLongPoll On
</Directory>
END
}

# The configuration that requires a login for paths of this pattern; users are those of t/conf/site.users, or of
# another file.
sub for_users
{
    my ($pattern, $users) = @_;
    $users //= vars('top_dir') . '/t/conf/site.users';
    return <<"END";
<LocationMatch "$pattern">
    AuthType Basic
    AuthName tests
    AuthUserFile "$users"
    Require valid-user
</LocationMatch>
END
}

# ---------------------------------------------------------------- pages

# The id in this HTML, or undef.
sub _id_in
{
    my ($html) = @_;
    return $html =~ /data-vault-page="([^"]+)"/ ? $1 : undef;
}

sub poll_url
{
    my ($html) = @_;
    return '/vault/poll?seq=0&page=' . (_id_in($html) // die "no page in: $html\n");
}

# Does the server know the page in this HTML? Asked by an acknowledgement, which takes nothing over and runs
# nothing.
sub is_kept
{
    my ($html) = @_;
    my $answer = get(poll_url($html) . '&ack=1');
    die "an acknowledgement is answered with $answer->{status}\n" unless $answer->{status} =~ /^(?:204|410)$/;
    return $answer->{status} == 204;
}

# The number of pages that exist or have expired.
sub _pages
{
    my $s = status();
    return $s->{Pages} + $s->{PagesExpired};
}

# keeps(N, sub { … views … }, why): so many pages remain. A dropped page is removed a little after its answer.
sub keeps
{
    my ($n, $code, $why) = @_;
    my $before = _pages();
    my @answers = $code->();
    wait_until(sub { _pages() - $before == $n }, "pages kept are $n: $why");
    pass($why);
    return wantarray ? @answers : $answers[0];
}

# ---------------------------------------------------------------- feeds

sub has_database { return -f vars('top_dir') . '/modules/vault_feed_database.so' }

# Writes a file with a feed's model or queries; returns its path.
sub model_file
{
    my ($name, $json) = @_;
    my $path = vars('t_logs') . "/$name.json";
    open my $file, '>', $path or die "$path: $!\n";
    print $file $json;
    close $file or die "$path: $!\n";
    return $path;
}

sub _escape
{
    my ($bytes) = @_;
    $bytes =~ s/([^A-Za-z0-9_.~-])/sprintf '%%%02X', ord $1/ge;
    return $bytes;
}

# calls_feed(FEED, METHOD, {ARGUMENT => VALUE}, on => CONNECTION): {pid, status, rows, error}. Not for a page.
sub calls_feed
{
    my ($feed, $method, $args, %with) = @_;
    my $path = "/closed/call?feed=$feed&method=$method&args=" . _escape(JSON::PP->new->utf8->canonical->encode($args));
    my $answer = $with{on} ? $with{on}->request(GET => $path)->response : get($path);
    die "$path: $answer->{status} $answer->{body}\n" if $answer->{status} != 200;
    return JSON::PP->new->utf8->decode($answer->{body});
}

# Insert a row through the feed, so that pages are notified; returns its key.
sub insert_row
{
    my ($table, $line, %with) = @_;
    my $answer = calls_feed($with{feed} || 'database', 'save',
        {table => $table, values => {line => $line, ($with{writer} ? (writer => $with{writer}) : ())}}, %with);
    die "the row \"$line\" was not saved: $answer->{error}\n" unless $answer->{rows};
    return $answer->{rows}[0]{id};
}

sub rows_of
{
    my ($table, $feed) = @_;
    my $answer = calls_feed($feed || 'database', 'all', {table => $table});
    die "$table cannot be read: $answer->{error}\n" if $answer->{error};
    return @{$answer->{rows}};
}

# The child that reads the changes for this feed, when it has read them once: until then pages are notified of its first read, and writers do not
# wait for it.
sub wait_tailer
{
    my ($name) = @_;
    return wait_until(
        sub {
            my ($feed) = grep { $_->{Name} eq $name } @{status_of_children()->{Feeds}};
            return $feed && $feed->{State} eq 'the tailer reads the changes' && $feed->{TailerPid};
        },
        "the tailer of $name reads"
    );
}

# ---------------------------------------------------------------- databases, as another program uses them

sub database_file
{
    my ($name) = @_;
    return vars('t_logs') . "/$name.db";
}

# Start the sqlite3 program on a file. A command is complete when the program has echoed the mark.
sub _sqlite
{
    my ($name, $sql) = @_;
    my $pid = open2(my $out, my $in, 'sqlite3', '-batch', '-bail', '-cmd', '.timeout 20000', database_file($name));
    $in->autoflush(1);
    print $in "$sql\n.print done\n";
    my $said = readline $out;
    die "sqlite3 says of $name: " . ($said // 'nothing') . "\n" unless defined $said && $said eq "done\n";
    return {pid => $pid, in => $in, out => $out};
}

sub _end
{
    my ($sqlite, $sql) = @_;
    print {$sqlite->{in}} "$sql\n";
    close $sqlite->{in};
    readline $sqlite->{out};
    waitpid $sqlite->{pid}, 0;
    die "sqlite3 ended with $?\n" if $?;
    return;
}

# Hold the write lock (or every lock) of a database until unlock_database().
sub lock_database
{
    my ($name) = @_;
    return _sqlite($name, 'BEGIN EXCLUSIVE;');
}

sub unlock_database
{
    my ($lock) = @_;
    return _end($lock, 'COMMIT;');
}

# The table `logs`, empty, in a file that belongs to the test.
sub fresh_table
{
    my ($name) = @_;
    my $file = database_file($name);
    unlink map { "$file$_" } '', '-wal', '-shm';
    return _end(_sqlite($name, 'CREATE TABLE logs (id INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT, writer INTEGER);'), '');
}

# What has come so far for a page that polls, without waiting: {page, poll, server, shown, what}. Appends to `shown` the texts in square brackets.
sub take_shown
{
    my ($at) = @_;
    use_server($at->{server});
    while (!$at->{poll}->is_silent) {
        my $answer = $at->{page}->finish_poll($at->{poll});
        die "$at->{what}: $answer->{status} $answer->{body}\n" if $answer->{status} !~ /^20[04]$/;
        push @{$at->{shown}}, VaultTest::Page::text($answer) =~ /\[(.*?)\]/g;
        $at->{poll} = $at->{page}->start_poll;
    }
    return;
}

1;
