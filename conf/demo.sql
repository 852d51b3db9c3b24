-- SPDX-License-Identifier: Apache-2.0
-- The tables of the demo. Nothing in them grows without bound: what is old goes when something new comes.

-- The live log: one row a request, written by VaultFeedLog in demo.conf.
create table logs (
    id integer primary key autoincrement,
    request text not null,
    status integer not null,
    time text not null
);
create trigger logs_are_kept_short after insert on logs begin
    delete from logs where id <= new.id - 1000;
end;

-- The auction. Amounts are whole euros.
create table items (
    id integer primary key,
    name text not null,
    about text not null,
    symbol text not null,
    start integer not null,
    price integer not null,
    bids integer not null default 0,
    leader text
);
create table bidders (name text primary key);
create table bids (
    id integer primary key autoincrement,
    item integer not null references items,
    bidder text not null references bidders,
    amount integer not null check (typeof(amount) = 'integer' and amount <= 5000),
    time text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
create index bids_of_item on bids (item);

-- Who is first, the database decides: of two bids of the same amount the second is refused.
create trigger a_bid_exceeds_the_price before insert on bids begin
    select raise(abort, 'TOO LOW') from items where id = new.item and new.amount <= price;
end;
create trigger a_bid_is_the_price after insert on bids begin
    update items set price = new.amount, bids = bids + 1, leader = new.bidder where id = new.item;
    delete from bids where item = new.item
        and id <= (select id from bids where item = new.item order by id desc limit 1 offset 20);
    -- At 5,000 the hammer falls, and the thing is for sale again.
    delete from bids where item = new.item and new.amount = 5000;
    update items set price = start, bids = 0, leader = null where id = new.item and new.amount = 5000;
end;

insert into bidders (name) values
    ('Amber Fox'), ('Blue Heron'), ('Coral Crab'), ('Green Finch'), ('Grey Wolf'), ('Red Squirrel'), ('Teal Otter'), ('Violet Moth');
insert into items (id, name, about, symbol, start, price) values
    (1, 'Station clock', 'From a platform that no train has stopped at since 1974. Runs three minutes late, as it always did.', 'clock', 120, 120),
    (2, 'Reading lamp', 'Lacquered steel, two joints, one dent. It has seen every last chapter.', 'lamp', 45, 45),
    (3, 'City bicycle', 'Three gears, of which two are needed. The bell is new and very clear.', 'bicycle', 180, 180),
    (4, 'Folding camera', 'Medium format, bellows without a hole. Half a roll of film still inside.', 'camera', 90, 90),
    (5, 'Kitchen chair', 'Beech, repaired once, by somebody who knew how.', 'chair', 25, 25),
    (6, 'Valve radio', 'Warm tone, green eye, and the names of cities on the dial.', 'radio', 75, 75);
insert into bids (item, bidder, amount, time) values
    (1, 'Teal Otter', 130, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-50 minutes')),
    (1, 'Amber Fox', 145, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-41 minutes')),
    (3, 'Green Finch', 200, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-35 minutes')),
    (4, 'Violet Moth', 95, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-28 minutes')),
    (3, 'Grey Wolf', 220, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-20 minutes')),
    (6, 'Red Squirrel', 80, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-17 minutes')),
    (1, 'Teal Otter', 160, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-12 minutes')),
    (6, 'Coral Crab', 90, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-6 minutes'));

-- The wall.
create table profiles (
    id integer primary key,
    name text not null unique,
    initial text not null,
    about text not null,
    status text not null check (length(status) between 1 and 80)
);
create table posts (
    id integer primary key autoincrement,
    profile integer not null references profiles,
    author text not null references profiles (name),
    text text not null check (length(text) between 1 and 200),
    time text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
create index posts_of_profile on posts (profile);
create trigger a_wall_is_kept_short after insert on posts begin
    delete from posts where profile = new.profile
        and id <= (select id from posts where profile = new.profile order by id desc limit 1 offset 20);
end;

insert into profiles (id, name, initial, about, status) values
    (1, 'Ida', 'I', 'Keeps bees, and a diary about them', 'counting bees'),
    (2, 'Otto', 'O', 'Repairs radios that others have given up', 'listening to short wave'),
    (3, 'Mina', 'M', 'Bakes at night', 'waiting for the dough'),
    (4, 'Jonas', 'J', 'Walks to work, the long way', 'on the way');
insert into posts (profile, author, text, time) values
    (1, 'Otto', 'Your honey has arrived. The radio and I say thank you.', strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-3 hours')),
    (1, 'Mina', 'Does the cake need two spoons or three?', strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-40 minutes')),
    (2, 'Jonas', 'I heard somebody whistle our tune near the station.', strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-2 hours')),
    (3, 'Ida', 'Two. Then taste, then the third.', strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-30 minutes'));
