# SPDX-License-Identifier: Apache-2.0
# A database that is locked by another program, or not there: the page says so, the log says why, a poll waits and goes on when it is
# there again; nothing is lost, nothing else breaks.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;

SKIP: {
    skip 'the database feed was not built', 1 unless has_database();
    my $tag = '<!--#feed name="hasty" method="get_new_instances" table="logs" template="hasty.html" append="list" -->';
    site_file('/feed/hasty.html', '{{#rows}}[{{line}}]{{/rows}}');
    live_tag('/feed/hasty', $tag);

    # Not there.
    announce(qr/VLT00040: feed hasty, method get_new_instances: the database "\S+hasty\.db" does not exist in \S+hasty\.shtml/,
        qr/VLT00011: the page cannot be kept live: the database "\S+" does not exist/);
    my $answer = get('/feed/hasty.shtml');
    is($answer->{status}, 200, 'a page without its database is shown');
    like($answer->{body}, qr{<p>\[ssi error\]</p>}, '... with an error in the place of its rows');
    wait_until(sub { !is_kept($answer->{body}) }, 'it is not live: the browser loads it again');

    # Locked before the first connection: readers wait as well.
    fresh_table('hasty');
    my $lock = lock_database('hasty');
    announce(qr/VLT00040: feed hasty, method get_new_instances: the database is locked: waited 1 s/, qr/VLT00011: .*the database is locked/);
    like(text_of('/feed/hasty.shtml'), qr{<p>\[ssi error\]</p>}, 'a locked database');
    unlock_database($lock);
    my $page = open_page('/feed/hasty.shtml');
    like($page->html, qr{<p></p>}, '... is read when it is free');

    # Locked for writers.
    insert_row('logs', 'one', feed => 'hasty');
    $lock = lock_database('hasty');
    like(calls_feed('hasty', 'save', {table => 'logs', values => {line => 'two'}})->{error}, qr/^the database is locked: waited 1 s/, 'a writer is told');
    is(VaultTest::Page::text($page->poll), '<turbo-stream action="append" target="list"><template>[one]</template></turbo-stream>', 'readers go on');
    unlock_database($lock);
    is(scalar(rows_of('logs', 'hasty')), 1, 'what was not saved is not there');

    # Gone while a page lives.
    my $file = database_file('hasty');
    my $poll = $page->start_poll;
    wait_waiting(1);
    announce(qr/VLT00030: method \/feed\/hasty-new\.shtml failed: .*does not exist; it is tried again in 1 s/,
        qr/VLT00040: .*does not exist in \S+hasty-new\.shtml/);
    rename $file, "$file.away" or die "$file: $!\n";
    my $before = status();
    text_of('/test/notify?interest=DB-logs');
    wait_counter('Failures', $before, 1);
    wait_waiting(1);
    ok($poll->is_silent, 'the page waits');
    rename "$file.away", $file or die "$file: $!\n";
    insert_row('logs', 'three', feed => 'hasty');
    is(VaultTest::Page::text($page->finish_poll($poll)), '<turbo-stream action="append" target="list"><template>[three]</template></turbo-stream>',
        'and goes on where it was when the database is there again');

    # The other feed of the same kind was never touched by any of this.
    ok(insert_row('logs', 'elsewhere'), 'another database works all the time');
}
finish();
