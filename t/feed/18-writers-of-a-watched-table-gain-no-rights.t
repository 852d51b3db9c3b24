# SPDX-License-Identifier: Apache-2.0
# PostgreSQL records changes with the rights of the user who ran vaultctl. A user who may only write a watched table can neither hide from
# that, nor have code of their own run by it, nor have it record what never happened.
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

for my $db (has_database() ? databases('pgsql') : ()) {
    $db->make('rights', 'CREATE TABLE logs(id {serial},line {text});');
    $db->watch('rights', 'logs');
    # GRANT … ON SCHEMA: as it was by default before PostgreSQL 15.
    $db->does('rights', 'DROP ROLE IF EXISTS mallory; CREATE ROLE mallory; GRANT INSERT ON logs TO mallory; GRANT CREATE ON SCHEMA public TO mallory');
    my $mallory = $db->session('rights');
    my $recorded = sub { return join ' ', $db->does('rights', q{SELECT op||row_key||':'||(new_row->>'line') FROM vault_changes WHERE op<>'W' ORDER BY id}) };

    $mallory->does('SET ROLE mallory');
    $mallory->does('CREATE TEMP TABLE caught(who TEXT)');
    $mallory->does(q{CREATE TEMP TABLE vault_changes(tbl TEXT,op TEXT,row_key TEXT,old_row JSONB,new_row JSONB,who TEXT DEFAULT current_user)});
    $mallory->does(q{INSERT INTO logs(line) VALUES('one')});
    is(join(' ', $mallory->does('SELECT who FROM vault_changes')), '', 'a temporary table of the same name has nothing evaluated with the rights of another user');
    is($recorded->(), 'I1:one', '... and hides no change');

    $mallory->does(q{CREATE FUNCTION public.to_jsonb(logs) RETURNS JSONB LANGUAGE sql AS $f$INSERT INTO caught VALUES(current_user) RETURNING '{"id":9}'::jsonb$f$});
    eval { $mallory->does(q{INSERT INTO logs(line) VALUES('two')}) };
    is($recorded->(), 'I1:one I2:two', 'a function of the same name for this table is not called');

    $mallory = $db->session('rights');
    $mallory->does('SET ROLE mallory; CREATE TEMP TABLE forger(id BIGINT,line TEXT)');
    eval { $mallory->does(q{CREATE TRIGGER forge AFTER INSERT ON forger FOR EACH ROW EXECUTE FUNCTION vault_record('logs','id','')}) };
    like($@, qr/permission denied for function vault_record/, 'no other user has a trigger that records');
    undef $mallory;
    $db->does('rights', 'DROP OWNED BY mallory; DROP ROLE mallory');
}
finish();
