/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_walk.h
 * A random walk through the database feed: tables, pages, draws and calls.
 */
#ifndef DATABASE_WALK_H
#define DATABASE_WALK_H

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/now.h"
#include "log/shared.h"
#include "database_scene.h"
#include "sql/driver.h"

#define PAGES 12
#define STEPS 400

/* Tables of servers are believed in for a second: walks go on a few later, by the even clock, without waiting. */
static _Atomic int seconds_ahead;

int clock_gettime(clockid_t id, struct timespec *time)
{
    int rv = (int)syscall(SYS_clock_gettime, id, time);

    if (rv == 0 && id == CLOCK_MONOTONIC) {
        time->tv_sec += seconds_ahead;
    }
    return rv;
}

/* ------------------------------------------------------------ the tables, and what is seen in them */

static const char walk_model[] =
    "{\"entities\":{"
    "\"Profile\":{\"table\":\"profiles\",\"properties\":{\"name\":\"full_name\",\"status\":\"status\"},\"collections\":"
    "{"
    "\"posts\":{\"entity\":\"Post\",\"column\":\"wall\"},\"written\":{\"entity\":\"Post\",\"column\":\"author\"},"
    "\"seen\":{\"entity\":\"Seen\",\"column\":\"wall\"},\"notes\":{\"entity\":\"Note\",\"column\":\"wall\"},"
    "\"same\":{\"entity\":\"Note\",\"column\":\"body\"},\"themselves\":{\"entity\":\"Note\",\"column\":\"name\"},"
    "\"likes\":{\"entity\":\"Like\",\"column\":\"profile\"},"
    "\"liked\":{\"entity\":\"Note\",\"through\":{\"table\":\"likes\",\"column\":\"profile\",\"element\":\"note\"}},"
    "\"linked\":{\"entity\":\"Like\",\"through\":{\"table\":\"posts\",\"column\":\"wall\","
    "\"element\":[\"seen\",\"body\"]}}}},"
    "\"Like\":{\"table\":\"likes\",\"properties\":{\"n\":\"n\"},\"collections\":{"
    "\"pair\":{\"entity\":\"Note\",\"column\":[\"n\",\"wall\"]},"
    "\"same\":{\"entity\":\"Like\",\"column\":[\"profile\",\"note\"]}}},"
    "\"Post\":{\"table\":\"posts\",\"properties\":{\"text\":\"body\"}},"
    "\"Seen\":{\"table\":\"posts\",\"properties\":{\"text\":\"body\",\"seen\":\"seen\",\"by\":\"author\"}},"
    "\"Note\":{\"table\":\"notes\",\"properties\":{\"text\":\"body\",\"n\":\"n\"},\"collections\":{"
    "\"likers\":{\"entity\":\"Profile\",\"through\":{\"table\":\"likes\",\"column\":\"note\","
    "\"element\":\"profile\"}}}}},"
    "\"queries\":{"
    "\"wall\":{\"sql\":\"SELECT p.id, p.body, a.full_name AS author FROM posts p LEFT JOIN profiles a ON a.id = "
    "p.author "
    "WHERE p.wall = :wall\",\"tables\":[\"posts\",\"profiles\"],\"columns\":{\"id\":\"integer\",\"body\":\"text\","
    "\"author\":\"text\"},\"key\":[\"id\"],\"parameters\":{\"wall\":\"integer\"}},"
    "\"last\":{\"sql\":\"SELECT id, body FROM posts ORDER BY id DESC LIMIT 3\",\"tables\":[\"posts\"],"
    "\"columns\":{\"id\":\"integer\",\"body\":\"text\"},\"key\":[\"id\"]},"
    "\"notes\":{\"sql\":\"SELECT name, body FROM notes WHERE wall = :wall AND name IS NOT "
    "NULL\",\"tables\":[\"notes\"],"
    "\"columns\":{\"name\":\"text\",\"body\":\"text\"},\"key\":[\"name\"],\"parameters\":{\"wall\":\"text\"}},"
    "\"first\":{\"sql\":\"SELECT name, body FROM notes WHERE n = 1 AND wall = :wall AND name IS NOT NULL\","
    "\"columns\":{\"name\":\"text\",\"body\":\"text\"},\"key\":[\"name\"],\"parameters\":{\"wall\":\"text\"}},"
    "\"told\":{\"sql\":\"SELECT p.id, p.body FROM posts p JOIN posts q ON q.id = p.author "
    "WHERE p.wall = :wall AND 2 = q.wall\","
    "\"columns\":{\"id\":\"integer\",\"body\":\"text\"},\"key\":[\"id\"],\"parameters\":{\"wall\":\"integer\"}},"
    "\"said\":{\"sql\":\"SELECT p.id, p.body FROM posts AS p LEFT JOIN posts AS q ON q.author = p.id AND q.seen = 1 "
    "WHERE p.body = 'a' AND p.seen = 3 AND q.id IS NULL\","
    "\"columns\":{\"id\":\"integer\",\"body\":\"text\"},\"key\":[\"id\"]}}}";

enum { POSTS, NOTES, PROFILES, LIKES, TABLES };

/* The columns of the key come first in `columns`. Types: of SQLite, where a text may be anything, and of servers. */
static const struct {
    const char *name, *key[2], *sqlite3, *server, *columns[5];
} tables[TABLES] = {
    {"posts",
     {"id"},
     "id INTEGER PRIMARY KEY,wall INTEGER,author INTEGER,body TEXT,seen INTEGER",
     "id BIGINT PRIMARY KEY,wall BIGINT,author BIGINT,body VARCHAR(3000),seen BIGINT",
     {"id", "wall", "author", "body", "seen"}},
    {"notes",
     {"name"},
     "name TEXT PRIMARY KEY,wall TEXT,body TEXT,n INTEGER",
     "name VARCHAR(190) PRIMARY KEY,wall VARCHAR(190),body VARCHAR(3000),n BIGINT",
     {"name", "wall", "body", "n"}},
    {"profiles",
     {"id"},
     "id INTEGER PRIMARY KEY,full_name TEXT,status TEXT",
     "id BIGINT PRIMARY KEY,full_name VARCHAR(190),status VARCHAR(190)",
     {"id", "full_name", "status"}},
    {"likes",
     {"profile", "note"},
     "note TEXT,n INTEGER,profile INTEGER, PRIMARY KEY(profile,note)",
     "note VARCHAR(190),n BIGINT,profile BIGINT, PRIMARY KEY(profile,note)",
     {"profile", "note", "n"}},
};

/* `foreign` are columns of the table, or, where there are `links` in another one, of that; `element` are what links
 * have. */
static const struct {
    const char *entity, *name;
    int table;
    const char *foreign[2], *properties[4], *columns[4];
    int is_linked, links;
    const char *element[2];
} collections[] = {
    {"Profile", "posts", POSTS, {"wall"}, {"text"}, {"body"}, 0, 0, {NULL}},
    {"Profile", "written", POSTS, {"author"}, {"text"}, {"body"}, 0, 0, {NULL}},
    {"Profile", "seen", POSTS, {"wall"}, {"text", "seen", "by"}, {"body", "seen", "author"}, 0, 0, {NULL}},
    {"Profile", "notes", NOTES, {"wall"}, {"text", "n"}, {"body", "n"}, 0, 0, {NULL}},
    {"Profile", "same", NOTES, {"body"}, {"text", "n"}, {"body", "n"}, 0, 0, {NULL}},
    {"Profile", "themselves", NOTES, {"name"}, {"text", "n"}, {"body", "n"}, 0, 0, {NULL}},
    {"Profile", "likes", LIKES, {"profile"}, {"n"}, {"n"}, 0, 0, {NULL}},
    {"Like", "pair", NOTES, {"n", "wall"}, {"text", "n"}, {"body", "n"}, 0, 0, {NULL}},
    {"Like", "same", LIKES, {"profile", "note"}, {"n"}, {"n"}, 0, 0, {NULL}},
    {"Profile", "liked", NOTES, {"profile"}, {"text", "n"}, {"body", "n"}, 1, LIKES, {"note"}},
    {"Profile", "linked", LIKES, {"wall"}, {"n"}, {"n"}, 1, POSTS, {"seen", "body"}},
    {"Note", "likers", PROFILES, {"note"}, {"name", "status"}, {"full_name", "status"}, 1, LIKES, {"profile"}},
};

#define COUNT(list) (int)(sizeof(list) / sizeof((list)[0]))

static const char *const texts[] = {
    "a",          "A",  "it's", "1",  "01",   "1.0",      "two words",        "\xC3\xA9", "\\'\"%_?$1",
    "x,\"y\":{}", "-1", "1e0",  " 1", "null", "select 1", "9007199254740993", "long"};
static const char *const numbers[] = {"1", "2", "3", "4", "5", "6", "-1", "0", "9007199254740993"};

/* ------------------------------------------------------------ a walk */

enum { WATCHED, UNWATCHED, ALTERED };

typedef enum look_e { NEW_ROWS, ROW, ATTRIBUTE, COLUMN, PROPERTY, COLLECTION, QUERY, FILTER, LOOKS } look_e;

/* A page, or a user, and what was shown. */
typedef struct watching_t {
    host_page_t page;
    look_e look;
    int table, collection;
    const char *word; /* a key, or a foreign key */
    const char *column;
    const char *query;
    json_t *args;
    json_t *shown; /* by key; of one row: the row, or null */
    json_t *rows;  /* at the last look at new rows: all that there were, by key */
    int begun, is_cut, was_cut, is_odd, persistent;
    int is_full; /* of a filter without a limit: there may be more rows than an answer holds */
    json_t *acked;
    int acked_in; /* the table's life then; 0: never */
} watching_t;

typedef struct walk_t {
    feed_t feed, reader; /* that which is tried, and one that reads what there is */
    sql_call_t stranger;
    const char *given;
    apr_pool_t *pool;
    apr_uint64_t seed, random;
    apr_time_t began_at, changed_at;
    int step, rows, is_server, is_plain, looks, is_crowd, is_bare, is_stale, tolerant, wrong, says, users;
    int state[TABLES], life[TABLES], is_view[TABLES], is_keyless[TABLES];
    int extra;
    watching_t pages[PAGES];
} walk_t;

static unsigned draw(walk_t *w, unsigned below)
{
    apr_uint64_t mixed = w->random += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((mixed ^ mixed >> 31) % below);
}

#define DRAW(w, list) (list)[draw(w, COUNT(list))]

static void say(walk_t *w, const char *what, const char *more)
{
    if (w->says) {
        fprintf(stderr, "%5d %s %s\n", w->step, what, more);
    }
}

static const char *dumped(walk_t *w, const json_t *json)
{
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    const char *copy = apr_pstrdup(w->pool, text != NULL ? text : "nothing");

    free(text);
    return copy;
}

static void is_wrong(walk_t *w, const char *why, const json_t *args, const json_t *shown, const json_t *is)
{
    if (w->wrong++ < 5) {
        fprintf(stderr,
                "\n  VAULT_WALK_SEED=%" APR_UINT64_T_FMT " step %d: %s\n    call  %s\n    shown %s\n    is    %s\n",
                w->seed, w->step, why, dumped(w, args), dumped(w, shown), dumped(w, is));
    }
}

/* ------------------------------------------------------------ calls */

static json_t *call_of(walk_t *w, feed_t *feed, host_page_t *page, const char *method, const json_t *args,
                       apr_status_t *rv, char *sentence)
{
    json_t *rows = NULL;

    sentence[0] = '\0';
    *rv = ask_json(feed, page, method, args, &rows, sentence);
    if (w->says) {
        say(w, method,
            apr_pstrcat(w->pool, dumped(w, args), " -> ", *rv == APR_SUCCESS ? dumped(w, rows) : sentence, NULL));
    }
    return rows;
}

static json_t *call(walk_t *w, host_page_t *page, const char *method, const json_t *args, apr_status_t *rv,
                    char *sentence)
{
    return call_of(w, &w->feed, page, method, args, rv, sentence);
}

static const char *text_of(walk_t *w, const json_t *value)
{
    return json_is_null(value) || value == NULL ? NULL
           : json_is_string(value)              ? json_string_value(value)
                                                : dumped(w, value);
}

/* One of the values of a key of several columns. */
static const char *part_of(walk_t *w, const char *text)
{
    const char *part = "";

    for (; *text != '\0'; text++) {
        part = apr_psprintf(w->pool, *text == ',' || *text == '\\' ? "%s\\%c" : "%s%c", part, *text);
    }
    return part;
}

/* What a row has in one or two columns; NULL: one of them is null. */
static const char *pair_of(walk_t *w, const char *const columns[2], const json_t *row)
{
    const char *one = text_of(w, json_object_get(row, columns[0]));
    const char *two = columns[1] != NULL ? text_of(w, json_object_get(row, columns[1])) : NULL;

    if (one == NULL || columns[1] == NULL) {
        return one;
    }
    return two != NULL ? apr_pstrcat(w->pool, part_of(w, one), ",", part_of(w, two), NULL) : NULL;
}

/* All rows of a table, by key; rows without a key are not there. */
static json_t *read_table(walk_t *w, int table)
{
    json_t *args = json_pack("{s:s}", "table", tables[table].name);
    json_t *found = json_object();
    char sentence[1024];
    apr_status_t rv;
    json_t *rows = call_of(w, &w->reader, NULL, "all", args, &rv, sentence);

    if (rv != APR_SUCCESS) {
        is_wrong(w, sentence, args, NULL, NULL);
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const char *key = pair_of(w, tables[table].key, row);

        if (key != NULL) {
            json_object_set(found, key, row);
        }
    }
    json_decref(rows);
    json_decref(args);
    return found;
}

/* In the column of a number there may be anything, on SQLite. */
static int is_of_text(int table, const char *column)
{
    return strcmp(column, "wall") == 0
               ? table == NOTES
               : strchr("nfsb", column[0]) != NULL && strlen(column) > 3 && strcmp(column, "seen") != 0;
}

/* The table whose rows have the foreign key. */
static int foreign_table(const watching_t *at)
{
    return collections[at->collection].is_linked ? collections[at->collection].links : at->table;
}

/* The keys of all that are linked to the object; NULL: there are no links. */
static json_t *links(walk_t *w, const watching_t *at)
{
    json_t *args = json_pack("{s:s}", "table", tables[foreign_table(at)].name);
    json_t *found = json_object();
    char sentence[1024];
    apr_status_t rv;
    json_t *rows = call_of(w, &w->reader, NULL, "all", args, &rv, sentence);

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *value = pair_of(w, collections[at->collection].foreign, row);
        const char *key = pair_of(w, collections[at->collection].element, row);

        if (value != NULL && key != NULL && strcmp(value, at->word) == 0) {
            json_object_set_new(found, key, json_true());
        }
    }
    json_decref(rows);
    json_decref(args);
    return found;
}

/* What a collection is, by key. */
static json_t *members(walk_t *w, const watching_t *at)
{
    json_t *all = read_table(w, at->table);
    json_t *linked = collections[at->collection].is_linked ? links(w, at) : NULL;
    json_t *found = json_object();
    const char *key;
    json_t *row;

    json_object_foreach(all, key, row)
    {
        const char *value = linked == NULL ? pair_of(w, collections[at->collection].foreign, row) : NULL;

        if (json_object_get(linked, key) != NULL || (value != NULL && strcmp(value, at->word) == 0)) {
            json_t *element = tables[at->table].key[1] == NULL
                                  ? json_pack("{s:O}", "id", json_object_get(row, tables[at->table].key[0]))
                                  : json_pack("{s:s}", "id", key);

            for (int i = 0; i < 4 && collections[at->collection].properties[i] != NULL; i++) {
                json_object_set(element, collections[at->collection].properties[i],
                                json_object_get(row, collections[at->collection].columns[i]));
            }
            json_object_set_new(found, key, element);
        }
    }
    json_decref(linked);
    json_decref(all);
    return found;
}

static const char *key_in(walk_t *w, const watching_t *at, const json_t *row)
{
    if (at->look == FILTER) {
        return pair_of(w, tables[at->table].key, row);
    }
    return text_of(w, json_object_get(row, at->look == QUERY && at->table == NOTES ? "name" : "id"));
}

/* Elements, or rows of a query, by key. */
static json_t *by_key(walk_t *w, const watching_t *at, const json_t *rows)
{
    json_t *found = json_object();

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *key = key_in(w, at, json_array_get(rows, i));

        if (key != NULL) {
            json_object_set(found, key, json_array_get(rows, i));
        }
    }
    return found;
}

static json_t *result(walk_t *w, const watching_t *at)
{
    json_t *args = json_copy(at->args);
    char sentence[1024];
    apr_status_t rv;
    json_t *answer, *found;

    json_object_del(args, "persistent");
    answer = call_of(w, &w->reader, NULL, "get_query_changes", args, &rv, sentence);
    found = by_key(w, at, json_object_get(answer, "added"));
    json_decref(args);
    json_decref(answer);
    return found;
}

static json_t *one_row(walk_t *w, const watching_t *at)
{
    json_t *all = read_table(w, at->table);
    json_t *row = json_object_get(all, at->word);

    row = row != NULL ? json_incref(row) : json_null();
    json_decref(all);
    return row;
}

/* What a column holds, by key. */
static json_t *values_of_column(walk_t *w, const watching_t *at)
{
    json_t *all = read_table(w, at->table);
    json_t *found = json_object();
    const char *key;
    json_t *row;

    json_object_foreach(all, key, row)
    {
        json_object_set(found, key, json_object_get(row, at->column));
    }
    json_decref(all);
    return found;
}

static int is_whole(const walk_t *w, const watching_t *at)
{
    int is = w->state[at->table] == WATCHED;

    if (at->look == COLLECTION && w->state[foreign_table(at)] != WATCHED) {
        return 0;
    }
    return is && (at->query == NULL || strcmp(at->query, "wall") != 0 || w->state[PROFILES] == WATCHED);
}

#endif
