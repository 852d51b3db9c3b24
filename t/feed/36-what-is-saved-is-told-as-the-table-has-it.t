# SPDX-License-Identifier: Apache-2.0
# A page that is told of a row by the feed that has saved it is shown what a page sees that is opened now, and what it is shown of another
# program's row: values of all kinds, those that a trigger has put there, and those that the database makes. (Not of json, of which an image has what
# it says, without blanks, and in another order.)
use strict;
use warnings;
use VaultTest;
use VaultTest::Database;
use VaultTest::Site;

my $TABLES = <<'END';
CREATE DOMAIN percent AS integer CHECK(VALUE BETWEEN 0 AND 100);
CREATE TYPE mood AS ENUM('good','"bad"');
CREATE TABLE shelves(id integer PRIMARY KEY,name text);
CREATE TABLE things(id serial PRIMARY KEY,shelf integer,n numeric(10,3),f float8,r real,b boolean,t text,c char(6),d date,ts timestamptz,i interval,
  u uuid,jb jsonb,a integer[],at text[],by bytea,m mood,p percent,big bigint,x text,g integer GENERATED ALWAYS AS (shelf*2) STORED,"odd ""name" text);
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.x:='filled '||NEW.shelf; RETURN NEW; END$$;
CREATE TRIGGER fill BEFORE INSERT ON things FOR EACH ROW EXECUTE FUNCTION fill();
INSERT INTO shelves VALUES(1,'first');
END

my @columns = qw(n f r b t c d ts i u jb a at by m p big x g odd);
my %properties = map { $_ => $_ } @columns;
$properties{odd} = 'odd \\"name';
my $model_text = sprintf '{"entities": {"Shelf": {"table": "shelves", "properties": {"name": "name"}, "collections": {"things": {"entity": "Thing", "column": "shelf"}}},'
    . '"Thing": {"table": "things", "properties": {%s}}}}', join ',', map { qq("$_": "$properties{$_}") } @columns;

my @values = (
    {n => '1.500', f => '0.1', r => '0.1', b => 'true', t => "a\"b\\c\n<i>\x{e9}\x{1F600}", c => 'ab', d => '2026-11-22', ts => '2026-11-22 10:00:00.5+02', i => '1 day 02:00',
        u => 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', jb => '{"b": 1,  "a":[1, 2]}', a => '{1,NULL,3}', at => '{a,"b c"}', m => '"bad"',
        p => 50, big => '9007199254740993', 'odd "name' => 'x'},
    {n => 'NaN', f => '-Infinity', r => '1e30', b => 'false', t => '', ts => 'infinity', d => '-infinity', c => '', a => '{}'},
    {},
);

site_file('/feed/kinds.html', '{{#added}}{{id}}' . join('', map { "|{{$_}}" } @columns) . "\n{{/added}}");
my $tag = '<!--#feed name="kinds" method="get_collection_changes" entity="Shelf" id="1" collection="things" template="kinds.html" -->';
site_file('/feed/kinds-new.shtml', $tag);
live_shtml('/feed/kinds.shtml', '/feed/kinds-new.shtml', "<pre>$tag</pre>\n");

for my $db (has_database() ? databases('pgsql') : ()) {
    $db->make('kinds', $TABLES);
    $db->watch('kinds', 'things', 'shelves');
    my $model = vars('t_logs') . '/kinds.json';
    open my $file, '>', $model or die "$model: $!\n";
    print $file $model_text;
    close $file;
    use_server(VaultTest::Server->start('kinds', config => $db->feed('kinds', 'kinds', "poll=50 timeout=20 model=$model") . live_folder('/feed')));

    my $page = open_page('/feed/kinds.shtml');
    my $poll = $page->start_poll;
    my $told = sub {
        wait_waiting(1);
        $_[0]->();
        my $text = VaultTest::Page::text($page->finish_poll($poll));
        $poll = $page->start_poll;
        return $text =~ /^(\d+\|.*)/sm ? $1 : $text;
    };
    my $without_id = sub { $_[0] =~ s/^\d+//r };
    for my $values (@values) {
        my $own = $told->(sub { calls_feed('kinds', 'save', {table => 'things', values => {%$values, shelf => 1}}) });
        my ($id) = $own =~ /^(\d+)/;
        my $seen = open_page('/feed/kinds.shtml')->html;
        $own =~ s/\s*<\/template>.*|\s+\z//s;
        like($seen, qr/^(?:<pre>)?\Q$own\E\s*$/m, "row $id is told as the table has it");
        # The same row, by another program.
        my $names = 'shelf,n,f,r,b,t,c,d,ts,i,u,jb,a,at,by,m,p,big,"odd ""name"';
        my $other = $told->(sub { $db->does('kinds', "INSERT INTO things($names) SELECT $names FROM things WHERE id=$id") });
        $other =~ s/\s*<\/template>.*|\s+\z//s;
        is($without_id->($other), $without_id->($own), 'and as a row of another program');
    }
    $poll->close;
    use_server(undef);
}
finish();
