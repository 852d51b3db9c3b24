# SPDX-License-Identifier: Apache-2.0
# What the feeds and vaultctl make of SQLite can be read by its owner alone, whatever the umask is; a file that is there keeps its mode.
use strict;
use warnings;
use VaultTest;
use VaultTest::Site;
use VaultTest::Vaultctl;

plan(skip_all => 'there is no database feed') unless has_database();
my ($top, $folder) = (vars('top_dir'), vars('t_logs') . '/closed');
my $program = "$top/vaultctl";
my $umask = umask 0;

sub mode { my ($file) = @_; return -e $file ? sprintf '%04o', (stat _)[2] & 07777 : 'not there' }

my $init = vars('t_logs') . '/closed.sql';
open my $sql, '>', $init or die "$init: $!\n";
print $sql "CREATE TABLE items(id INTEGER PRIMARY KEY AUTOINCREMENT,name TEXT);\n";
close $sql or die "$init: $!\n";
mkdir $folder or -d $folder or die "$folder: $!\n";
unlink glob "$folder/*";
chmod 0777, $folder;    # for httpd's children, whatever their user is
open my $old, '>', "$folder/old.db" or die "$folder/old.db: $!\n";
close $old;
chmod 0666, "$folder/old.db";

use_server(VaultTest::Server->start('closed-files', config => <<"END"));
VaultFeed database "$top/modules/vault_feed_database.so" database=$folder/new.db init=$init
VaultFeed old "$top/modules/vault_feed_database.so" database=$folder/old.db init=$init
<IfFile "$top/modules/vault_feed_messages.so">
    VaultFeed messages "$top/modules/vault_feed_messages.so" database=$folder/messages.db anonymous=yes
</IfFile>
END
for my $feed (qw(database old)) {
    ok(calls_feed($feed, 'save', {table => 'items', values => {name => 'x'}})->{rows}, "a row is saved by the feed $feed");
}
is(mode("$folder/new.db$_"), '0600', "the feed's file new.db$_") for '', '-wal', '-shm';
is(mode("$folder/old.db$_"), '0666', "a file that was there, old.db$_") for '', '-wal', '-shm';
SKIP: {
    skip 'there is no messages feed', 4 unless -f "$top/modules/vault_feed_messages.so";
    ok(calls_feed('messages', 'create_channel', {channel => 'c', user => 'u'})->{rows}, 'a channel is made');
    is(mode("$folder/messages.db$_"), '0600', "the feed's file messages.db$_") for '', '-wal', '-shm';
}
SKIP: {
    skip 'vaultctl was not built', 3 unless -x $program;
    is(vaultctl('watch', '-y', "database=$folder/made.db", "init=$init", 'items')->{code}, 0, 'vaultctl makes a file');
    is(mode("$folder/made.db"), '0600', '... with that mode');
    my @owners = map { (stat $_)[4] } $folder, "$folder/made.db";
    is($owners[1], $owners[0], '... for the owner of the folder');
}
umask $umask;

finish();
