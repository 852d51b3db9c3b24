# SPDX-License-Identifier: Apache-2.0
# persistent="yes": a user's position is kept in the database, and moves when the browser has acknowledged. A user who comes back is shown
# what happened meanwhile, once; what was sent and never acknowledged comes again; others have positions of their own.
use strict;
use warnings;
use MIME::Base64 ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $NAME = 'f11';

sub login { return (Authorization => 'Basic ' . MIME::Base64::encode("$_[0]:secret", '')) }

# A visit: the page as it is first shown.
sub visit
{
    my ($user) = @_;
    return open_page("/feed/$NAME.shtml", headers => {login($user)});
}

# anna's polls
sub start { return $_[0]->start_poll(undef, login('anna')) }

sub shown { return join '', $_[0]->html =~ /\[[^\]]*\]/g }

sub config_of
{
    my ($db) = @_;
    return $db->feed('kept', 'kept', 'poll=100 timeout=10') . live_folder('/feed') . for_users('^/(feed|vault/poll)');
}

my $tag = qq(<!--#feed name="kept" method="get_new_instances" table="logs" persistent="yes" template="$NAME.html" -->);
site_file("/feed/$NAME.html", '{{#rows}}[{{line}}]{{/rows}}');
live_tag("/feed/$NAME", $tag);

sub writes
{
    my ($db, @lines) = @_;
    $db->does('kept', qq{INSERT INTO logs(line) VALUES('$_')}) for @lines;
    return;
}

# The next poll that brings something: a look of the feed's may be on its way.
sub news
{
    my ($page) = @_;
    return wait_until(sub { VaultTest::Page::text($page->finish_poll(start($page))) }, 'news');
}

sub come_and_go
{
    my ($db) = @_;
    my $driver = $db->driver;
    my $page = visit('anna');
    is(shown($page), '[one]', "$driver: the first visit shows what there is");
    writes($db, 'two');
    is(news($page), '[two]', 'the page gets what is new');
    my $poll = start($page);
    wait_waiting(1);    # it has acknowledged
    $poll->close;
    wait_waiting(0);

    writes($db, 'three');
    is(shown(visit('bert')), '[one][two][three]', 'another user has a position of his own');
    my $later = visit('anna');
    is(shown($later), '[three]', 'she comes back to what happened meanwhile');
    is(shown(visit('anna')), '[three]', '... again, as she has not acknowledged it');
    $poll = start($later);
    wait_waiting(1);    # now she has
    writes($db, 'four');
    is(VaultTest::Page::text($later->read_poll($poll)), '[four]', 'an answer that is lost on the way');
    is(shown(visit('anna')), '[four]', '... is there at the next visit');
    return;
}

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    skip 'mod_auth_basic is missing', 1 unless have_module('auth_basic');
    for my $db (databases(split / /, $ENV{VAULT_DRIVERS} // q{})) {
        $db->make('kept', q{CREATE TABLE logs(id {serial},line {text}); INSERT INTO logs(line) VALUES('one');});
        $db->watch('kept', 'logs');
        use_server(VaultTest::Server->start('kept-' . $db->driver, config => config_of($db)));
        come_and_go($db);
        use_server(undef);
    }
}
finish();
