# SPDX-License-Identifier: Apache-2.0
# persistent="yes" on MariaDB: the tailer removes, once a minute, the positions of users who have not come for long. That does not keep a
# visit from moving its own. Here a session removes them all the time.
use strict;
use warnings;
use MIME::Base64 ();
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

use constant VISITS => 30;

site_file('/feed/places.html', '{{#rows}}{{body}} {{/rows}}');
live_tag('/feed/places', '<!--#feed name="places" method="get_new_instances" table="logs" persistent="yes" template="places.html" -->');

my %anna = (Authorization => 'Basic ' . MIME::Base64::encode('anna:secret', ''));

# What a visit shows. It has been acknowledged when its poll waits.
sub shown
{
    my $page = open_page('/feed/places.shtml', headers => \%anna);
    my $poll = $page->start_poll(undef, %anna);
    wait_waiting(1);
    $poll->close;
    wait_waiting(0);
    return $page->html =~ m{<p>(.*)</p>}s ? $1 : undef;
}

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    skip 'mod_auth_basic is missing', 1 unless have_module('auth_basic');
    for my $db (databases('mysql')) {
        $db->make('places', 'CREATE TABLE logs(id {serial},body {text});CREATE TABLE enough(id {integer} PRIMARY KEY);');
        $db->watch('places', 'logs');
        use_server(VaultTest::Server->start('places', config => $db->feed('places', 'places') . live_folder('/feed') . for_users('^/(feed|vault/poll)')));
        is(shown(), '', 'the first visit');

        my $remover = $db->session('places');
        $remover->sends("DELIMITER //\nBEGIN NOT ATOMIC WHILE NOT EXISTS(SELECT 1 FROM enough) DO DELETE FROM vault_subscriptions WHERE used<0;"
                . "END WHILE;END//\nDELIMITER ");
        my @wrong;
        for my $visit (1 .. VISITS) {
            $db->does('places', "INSERT INTO logs(body) VALUES('row $visit')");
            my $shown = shown();
            push @wrong, "visit $visit: $shown" if $shown ne "row $visit ";
        }
        is("@wrong", '', VISITS . ' visits show what came since the one before');
        $db->does('places', 'INSERT INTO enough VALUES(1)');
        $remover->answers;
        use_server(undef);
    }
}
finish();
