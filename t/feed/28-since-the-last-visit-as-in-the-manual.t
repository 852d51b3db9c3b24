# SPDX-License-Identifier: Apache-2.0
# The example of docs/feeds.md for persistent="yes" with a collection: a list as it is now, and above it what happened since the last visit,
# elements that went among it.
use strict;
use warnings;
use MIME::Base64 ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $TABLES = <<'END';
CREATE TABLE profiles(id {integer} PRIMARY KEY,full_name {text},status {text});
CREATE TABLE posts(id {integer} PRIMARY KEY,profile_id {integer},body {text});
INSERT INTO profiles VALUES(7,'Ann','here');
INSERT INTO posts VALUES(1,7,'hello'),(2,7,'hi');
END

my $manual = read_file(vars('top_dir') . '/docs/feeds.md');

# The files of a block whose files have their names in comments.
sub files_of
{
    my ($first) = @_;
    my ($block) = $manual =~ /^```html\n(<!-- \Q$first\E -->\n.*?)^```/ms or die "the manual has no $first\n";
    my (undef, %files) = split /^<!-- (\S+) -->\n/m, $block;
    return %files;
}

sub config_of
{
    my ($db) = @_;
    my ($model) = $manual =~ /^```json\n(\{\n.*?)^```/ms or die "the manual has no model\n";
    my $path = model_file('visit', $model);
    return $db->feed('visit', 'visit', "poll=100 timeout=10 model=$path") . live_folder('/visit') . for_users('^/(visit|vault/poll)');
}

my %anna = (Authorization => 'Basic ' . MIME::Base64::encode('anna:secret', ''));

# The two lists of the page, without blanks that count for nothing.
sub lists_of
{
    my ($page) = @_;
    return map { $page->html =~ m{<ul id="$_">(.*?)</ul>}s ? $1 =~ s/\s+</</gr =~ s/\A\s+|\s+\z//gr : undef } qw(since posts);
}

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    skip 'mod_auth_basic is missing', 1 unless have_module('auth_basic');
    my %files = (files_of('wall.shtml'), files_of('added.html'));
    is(join(' ', sort keys %files), 'added.html others.html posts.shtml since.html since.shtml wall.shtml', 'the manual has all files');
    site_file("/visit/$_", $files{$_} =~ s/name="database"/name="visit"/gr) for keys %files;
    for my $db (databases()) {
        note('on ' . $db->driver);
        $db->make('visit', $TABLES);
        $db->watch('visit', qw(profiles posts));
        use_server(VaultTest::Server->start('visit-' . $db->driver, config => config_of($db)));

        my $page = open_page('/visit/wall.shtml', headers => \%anna);
        is_deeply([lists_of($page)], ['<li>new: hello</li><li>new: hi</li>', '<li id="post-1">hello</li><li id="post-2">hi</li>'], 'the first visit: all is new');
        my $poll = $page->start_poll(undef, %anna);
        wait_waiting(1);
        $db->does('visit', q{INSERT INTO posts VALUES(3,7,'now')});
        my %updates;
        for (1 .. 3) {    # the commit may come between the one's run and the other's: then they come one after the other
            my $answer = $page->finish_poll($poll) or last;
            $updates{$_->{method}} = $_->{body} for @{$answer->{updates}};
            $poll = $page->start_poll(undef, %anna);
            last if keys %updates == 2;
        }
        like($updates{'/visit/posts.shtml'}, qr{action="append" target="posts"><template><li id="post-3">now</li>}, 'while the page is open the list grows');
        like($updates{'/visit/since.shtml'}, qr{action="append" target="since"><template>\s*<li>new: now</li>}, '... and it is news');
        wait_waiting(1);
        $poll->close;
        wait_waiting(0);

        $db->does('visit', $_) for q{DELETE FROM posts WHERE id=1}, q{UPDATE posts SET body='hi there' WHERE id=2}, q{INSERT INTO posts VALUES(4,7,'new')};
        for my $since ('<li>new: new</li><li>gone: hello</li><li>changed: hi there</li>', '') {
            $page = open_page('/visit/wall.shtml', headers => \%anna);
            is_deeply([lists_of($page)], [$since, '<li id="post-2">hi there</li><li id="post-3">now</li><li id="post-4">new</li>'],
                $since ? 'the next visit: what happened, what went among it, and the list as it is' : 'the one after it: nothing more');
            $poll = $page->start_poll(undef, %anna);
            wait_waiting(1);
            $poll->close;
            wait_waiting(0);
        }
        use_server(undef);
    }
}
finish();
