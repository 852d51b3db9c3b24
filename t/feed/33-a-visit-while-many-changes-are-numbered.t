# SPDX-License-Identifier: Apache-2.0
# Changes of MariaDB are numbered after they were committed. A page that is opened while another process numbers more of them than it could keep
# waits for that, and is told of nothing twice. Where that takes longer than `timeout`, it is told so, and asks again.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $tag = '<!--#feed name="numbered" method="get_new_instances" table="logs" limit="1" template="numbered.html" -->';
site_file('/feed/numbered.html', '{{#rows}}[{{line}}]{{/rows}}');
live_tag('/feed/numbered', $tag);
live_tag('/feed/hasty', $tag =~ s/name="numbered"/name="hasty"/r);

for my $db (has_database() ? databases('mysql') : ()) {
    $db->make('numbered', 'CREATE TABLE logs(id {serial},line {text});');
    $db->watch('numbered', 'logs');
    my $other = $db->session('numbered');
    $other->does(q{SELECT GET_LOCK(CONCAT('mod_vault place ',MD5(DATABASE())),0)});
    my $feeds = $db->feed('numbered', 'numbered', 'timeout=20 poll=100') . $db->feed('hasty', 'numbered', 'timeout=1 poll=0');
    use_server(VaultTest::Server->start('numbered', config => $feeds . live_folder('/feed')));
    $db->does('numbered', q{INSERT INTO logs(line) SELECT CONCAT('bulk ',seq) FROM seq_1_to_3000});
    announce(qr/VLT00040: feed hasty, .*: more changes were committed at once than a position has room for/, qr/VLT00011: .*more changes were committed/);
    like(text_of('/feed/hasty.shtml'), qr{<p>\[an error occurred}, 'a page that waits for a second only is told that it came at a bad moment');
    my $visitor = connect_to();
    $visitor->request(GET => '/feed/numbered.shtml');
    wait_until(sub { ($db->does('numbered', q{SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE='User lock'}))[0] }, 'the visit waits for who numbers');
    $other->does(q{SELECT RELEASE_LOCK(CONCAT('mod_vault place ',MD5(DATABASE())))});
    my $answer = $visitor->response;
    like(text_of('/feed/hasty.shtml'), qr{<p>\[bulk 3000\]</p>}, 'it is shown, too, when it asks again');
    is("$answer->{status} " . ($answer->{body} =~ m{<p>(.*)</p>}s)[0], '200 [bulk 3000]', 'the page is shown');
    my $page = VaultTest::Page->new($answer);
    my $poll = $page->start_poll;
    wait_waiting(1);
    $db->does('numbered', q{INSERT INTO logs(line) VALUES('next')});
    is(VaultTest::Page::text($page->finish_poll($poll)) =~ s/<[^>]*>//gr, '[next]', 'and then what is new, once');
    use_server(undef);
}
finish();
