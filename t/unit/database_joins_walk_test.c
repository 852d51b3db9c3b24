/* SPDX-License-Identifier: Apache-2.0 */
/* Walks of writers, strangers, a watcher and pages on a MariaDB that is a list of changes: whatever comes between their steps, whoever dies when, a page that
 * looks after a change was announced has it, once. No server is needed. */
#include <CUnit/CUnit.h>

#include "board.h"
#include "connection.h"
#include "database_scene.h"
#include "driver.h"
#include "glimpse.h"
#include "joined.h"
#include "unit.h"

void vault_database_joins_walk_suite(void);

#define CHANGES 3000
#define WRITERS 5
#define PAGES 4

enum { OPEN, COMMITTED, GONE };

typedef struct change_t {
    int state, table, announced;
    apr_int64_t pos;
} change_t;

enum { IDLE, WRITING, HAS_READ, HAS_COMMITTED, HAS_LEFT, HAS_TOLD };

typedef struct writer_t {
    int step, table, own[4], count, stranger;
    apr_uint64_t life;
    database_era_t era;
    int packed_count, read[CHANGES];
    database_packed_t packed[CHANGES];
    database_mark_t marks[CHANGES];
    int marked, touched[CHANGES], touches;
    const char *saw;
} writer_t;

enum { RESTS, COPIED, NUMBERING, NUMBERED, SETTLED, HAS_SNAPSHOT, BEGUN, NOTIFIED };

typedef struct watcher_t {
    int step, strange, is_anew, settles;
    char place[DATABASE_PLACE_BYTES];
    const char *now;
    database_marks_t marks;
    int seen[CHANGES + 1];
    database_numbering_t numbering;
    apr_int64_t last;
    const char *ids;
} watcher_t;

typedef struct page_t {
    const char *place;
    int shown[CHANGES + 1];
    const char *told; /* of a look that has not ended */
    apr_time_t began;
    database_era_t era;
} page_t;

static struct world_t {
    apr_uint64_t random, seed;
    feed_t feed;
    apr_pool_t *pool;
    change_t changes[CHANGES + 1];
    int count, wrong, step;
    apr_int64_t last;
    writer_t writers[WRITERS];
    watcher_t watcher;
    page_t pages[PAGES];
    int most, restarts, others, several; /* drawn for each walk */
    int memory, asked, vouched, briefs;
    apr_time_t clock;
} w;

static int draw(int n)
{
    w.random ^= w.random << 13;
    w.random ^= w.random >> 7;
    w.random ^= w.random << 17;
    return (int)(w.random % (apr_uint64_t)n);
}

static void wrong(const char *what, int page, int id)
{
    if (w.wrong++ == 0) {
        fprintf(stderr, "\n  seed %lu step %d: %s: page %d, change %d\n", (unsigned long)w.seed, w.step, what, page,
                id);
    }
}

/* ------------------------------------------------------------ the database */

static int is_own(const writer_t *at, int id)
{
    for (int i = 0; at != NULL && i < at->count; i++) {
        if (at->own[i] == id) {
            return 1;
        }
    }
    return 0;
}

static const char *now_for(const writer_t *at)
{
    static char text[24 + CHANGES * 8];
    int length = apr_snprintf(text, sizeof(text), "%" APR_INT64_T_FMT ";", w.last);

    for (int id = 1; id <= w.count; id++) {
        if (w.changes[id].pos == 0 && (w.changes[id].state == COMMITTED || is_own(at, id))) {
            length += apr_snprintf(text + length, sizeof(text) - (apr_size_t)length, "%s%d",
                                   text[length - 1] == ';' ? "" : ",", id);
        }
    }
    return apr_pstrdup(w.pool, text);
}

static int has(const database_listed_t *s, int id)
{
    return (w.changes[id].pos != 0 && w.changes[id].pos <= s->last) || database_listed_lists(s, id);
}

static database_listed_t read_place(const char *place)
{
    database_listed_t s;

    if (!database_listed_read(&s, place)) {
        memset(&s, 0, sizeof(s)); /* nothing was seen */
    }
    return s;
}

/* ------------------------------------------------------------ writers */

static void begin_write(writer_t *at)
{
    memset(at, 0, sizeof(*at));
    at->step = WRITING;
    at->stranger = draw(5) == 0;
    at->table = draw(w.others) == 0;
    at->era = database_board_era(w.feed.self);
    at->life = database_joined_life(at->era);
}

static void add_change(writer_t *at, int table)
{
    if (w.count < w.most && at->count < 4) {
        at->own[at->count++] = ++w.count;
        w.changes[w.count] = (change_t){.state = OPEN, .table = table};
    }
}

static void read_back(writer_t *at)
{
    static sql_table_t tables[2];
    apr_int64_t floor = database_board_floor(w.feed.self);
    const char *now = now_for(at);

    for (int i = 0; i < 2; i++) {
        tables[i].name = i ? "notes" : "posts";
        tables[i].shape = "{1}";
        if (tables[i].columns == NULL) {
            tables[i].columns = apr_array_make(suite_pool, 1, sizeof(sql_column_t));
            APR_ARRAY_PUSH(tables[i].columns, sql_column_t) =
                (sql_column_t){.name = "wall", .kind = SQL_INTEGER, .is_integer = 1};
        }
    }
    at->step = HAS_READ;
    if (floor < 0) {
        return;
    }
    at->saw = now;
    for (int id = (int)floor + 1; id <= w.count; id++) {
        if (w.changes[id].table == at->table && w.changes[id].pos == 0 &&
            (w.changes[id].state == COMMITTED || is_own(at, id))) {
            json_t *change = json_pack("{s:i,s:i,s:i,s:s,s:s,s:s,s:o,s:n,s:s}", "id", id, "xid", id, "alone", 1, "now",
                                       now, "epoch", at->table ? "f" : "e", "op", "I", "key", json_sprintf("%d", id),
                                       "old", "new", "{\"wall\": \"I7\"}");

            database_copy_pack(&at->packed[at->packed_count], &tables[at->table], change);
            at->packed[at->packed_count].saw = now;
            at->read[at->packed_count++] = id;
            json_decref(change);
        }
    }
    for (int i = 0; i < at->packed_count; i++) {
        database_mark_t mark = database_board_mark(w.feed.self, at->era, at->table ? "f" : "e", at->read[i]);

        if (i + 1 == at->packed_count || !database_board_has(w.feed.self, mark)) {
            at->marks[at->marked++] = mark;
            at->touched[at->touches++] = at->read[i];
        }
    }
}

static void end_write(writer_t *at, int state)
{
    for (int i = 0; i < at->count; i++) {
        w.changes[at->own[i]].state = state;
    }
    at->step = state == COMMITTED && !at->stranger ? HAS_COMMITTED : IDLE;
}

static void go_on(writer_t *at)
{
    if (at->step > WRITING && draw(25) == 0) {
        if (at->step == HAS_READ) {
            end_write(at, draw(2) ? COMMITTED : GONE);
        }
        at->step = IDLE; /* it dies */
        return;
    }
    switch (at->step) {
    case IDLE:
        begin_write(at);
        break;
    case WRITING:
        if (draw(3) != 0 && at->count < 1 + (draw(w.several) == 0) * 2) {
            add_change(at, draw(2 * w.several) == 0 ? !at->table : at->table);
        }
        else if (at->stranger) {
            end_write(at, draw(4) ? COMMITTED : GONE);
        }
        else if (at->count > 0 || draw(3) == 0) {
            read_back(at);
        }
        break;
    case HAS_READ:
        end_write(at, draw(8) ? COMMITTED : GONE);
        break;
    case HAS_COMMITTED:
        if (at->packed_count > 0 && !database_joined_leave(w.feed.self, at->life, at->packed, at->packed_count)) {
            at->marked = 0;
        }
        at->step = HAS_LEFT;
        break;
    case HAS_LEFT:
        for (int i = 0; i < at->touches; i++) {
            w.changes[at->touched[i]].announced |= at->marked > 0; /* else the watcher will, too */
        }
        at->step = HAS_TOLD;
        break;
    default:
        database_board_leave(w.feed.self, at->marks, at->marked);
        at->step = IDLE;
    }
}

/* ------------------------------------------------------------ the watcher */

static int is_marked(void *data, apr_int64_t id)
{
    const database_marks_t *marks = data;

    return database_marks_have(marks, database_board_mark(w.feed.self, marks->era, "e", id)) ||
           database_marks_have(marks, database_board_mark(w.feed.self, marks->era, "f", id));
}

static const char *without_number(void)
{
    const char *place = strchr(now_for(NULL), ';') + 1;

    return place;
}

static void give_numbers(const char *ids)
{
    const char *at = ids;

    while (*at != '\0') {
        w.changes[strtol(at, (char **)(uintptr_t)&at, 10)].pos = ++w.last;
        at += *at == ',';
    }
}

static void keep(watcher_t *at)
{
    apr_cpystrn(at->place, at->now, sizeof(at->place));
    database_board_keep_place(w.feed.self, at->now);
    database_board_clear(w.feed.self, &at->marks);
    at->step = RESTS;
}

static void watch(watcher_t *at)
{
    const database_t *feed = w.feed.self;
    apr_uint64_t life = database_joined_life(database_board_era(feed));
    database_listed_t had;

    if (draw(w.restarts) == 0) {
        if (draw(4) == 0) { /* connects again */
            at->place[0] = '\0';
            database_board_keep_place(feed, "");
            database_board_end_era(feed);
        }
        else { /* another child goes on */
            database_board_read_place(feed, at->place);
        }
        at->step = RESTS;
        at->settles = 1;
        return;
    }
    switch (at->step) {
    case RESTS:
        database_board_copy(feed, &at->marks);
        at->step = !at->settles && at->place[0] != '\0' ? COPIED : draw(4) == 0 ? SETTLED : NUMBERING;
        at->settles = draw(w.restarts / 10) == 0;
        if (at->step == NUMBERING) {
            database_joined_number(feed, &at->numbering);
        }
        break;
    case COPIED: {
        const char *told = now_for(NULL);

        if (strcmp(told, at->place) == 0) {
            at->step = RESTS;
        }
        else if (database_joined_each_new(feed, life, at->place, told, is_marked, &at->marks)) {
            w.briefs++;
            at->now = told;
            at->strange = 0;
            for (int id = 1; id <= w.count; id++) {
                at->seen[id] = 0;
            }
            at->step = HAS_SNAPSHOT;
        }
        else {
            at->step = RESTS;
            at->settles = 1;
        }
        break;
    }
    case NUMBERING:
        at->ids = without_number();
        at->step = *at->ids ? NUMBERED : SETTLED;
        break;
    case NUMBERED:
        at->last = w.last;
        give_numbers(at->ids);
        if (draw(10) != 0) {
            database_joined_numbered(feed, &at->numbering, at->last, at->ids, 1);
        }
        at->step = SETTLED;
        break;
    case SETTLED:
        database_board_copy(feed, &at->marks);
        at->now = now_for(NULL);
        at->strange = 1;
        had = read_place(at->place);
        for (int id = 1; id <= w.count; id++) {
            at->seen[id] = w.changes[id].state == COMMITTED && !has(&had, id) && !is_marked(&at->marks, id);
        }
        at->step = HAS_SNAPSHOT;
        break;
    case HAS_SNAPSHOT:
        database_joined_begin(feed, database_joined_life(at->marks.era), at->now, at->strange);
        at->step = BEGUN;
        break;
    case BEGUN:
        for (int id = 1; id <= w.count; id++) {
            w.changes[id].announced |= at->seen[id];
            at->seen[id] = 0;
        }
        at->step = NOTIFIED;
        break;
    default:
        keep(at);
    }
}

/* Another server, or a page's look. */
static void number_elsewhere(void)
{
    if (w.watcher.step != NUMBERED) { /* who has the lock */
        give_numbers(without_number());
    }
}

/* ------------------------------------------------------------ pages */

static void show(int page, int id)
{
    page_t *at = &w.pages[page];

    if (w.changes[id].state != COMMITTED) {
        wrong("shown, and not committed", page, id);
    }
    if (at->shown[id]++) {
        wrong("twice", page, id);
    }
}

static int look_here(int page)
{
    static void *note;
    static sql_table_t table = {.name = "posts", .shape = "{1}", .note = &note};
    sql_conn_t conn = {.pool = suite_pool};
    const database_wanted_t wanted = {.column = "wall", .value = "7", .most = 100, .alone = 1};
    sql_call_t c = {.db = w.feed.self, .pool = w.pool, .conn = &conn, .table = &table};
    database_look_t look = {.dialect = &database_dialect_mysql};

    if (table.columns == NULL) {
        table.columns = apr_array_make(suite_pool, 1, sizeof(sql_column_t));
        APR_ARRAY_PUSH(table.columns, sql_column_t) =
            (sql_column_t){.name = "wall", .kind = SQL_INTEGER, .is_integer = 1};
    }
    if (!database_joined_look(&c, &look, &wanted, w.pages[page].place, "e")) {
        return 0;
    }
    w.memory++;
    for (size_t i = 0; i < json_array_size(look.changes); i++) {
        show(page, atoi(json_string_value(json_object_get(json_array_get(look.changes, i), "key"))));
    }
    json_decref(look.changes);
    w.pages[page].place = look.next;
    return 1;
}

static void glimpse(page_t *at, const char *told)
{
    sql_call_t c = {.db = w.feed.self, .pool = w.pool};
    database_look_t look = {
        .dialect = &database_dialect_mysql, .epoch = "e", .told = told, .began = at->began, .era = at->era};
    const database_listed_t heard = read_place(told);

    /* marks of one table only */
    database_board_see(w.feed.self, 0);
    database_glimpse(&c, &look);
    if (database_board_seen(w.feed.self) == at->began) {
        w.vouched++;
        for (int id = 1; id <= w.count; id++) {
            if (has(&heard, id) && w.changes[id].state == COMMITTED && !w.changes[id].announced) {
                wrong("vouched for, and not announced", 0, id);
            }
        }
    }
}

static void look_at(int page)
{
    page_t *at = &w.pages[page];
    int due[CHANGES + 1];
    database_listed_t s = read_place(at->place);

    if (at->told != NULL) {
        glimpse(at, at->told);
        at->told = NULL;
        return;
    }
    for (int id = 1; id <= w.count; id++) {
        due[id] = w.changes[id].announced && w.changes[id].table == 0 && w.changes[id].state == COMMITTED;
    }
    if (!look_here(page)) {
        at->began = w.clock += apr_time_from_sec(1);
        at->era = database_board_era(w.feed.self);
        w.asked++;
        for (int id = 1; id <= w.count; id++) {
            if (w.changes[id].table == 0 && w.changes[id].state == COMMITTED && !has(&s, id)) {
                show(page, id);
            }
        }
        at->place = now_for(NULL);
        at->told = at->place;
    }
    s = read_place(at->place);
    for (int id = 1; id <= w.count; id++) {
        if (due[id] && !at->shown[id]) {
            wrong("announced, and not shown", page, id);
        }
        if (w.changes[id].table == 0 && w.changes[id].state == COMMITTED && at->shown[id] != has(&s, id)) {
            wrong("another place than what was shown", page, id);
        }
    }
}

/* ------------------------------------------------------------ walks */

static void walk(apr_uint64_t seed)
{
    w.seed = seed;
    w.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    w.count = 0;
    w.last = 0;
    w.most = draw(20) == 0 ? CHANGES : 300;
    w.restarts = draw(2) ? 60 : 2000;
    w.others = draw(2) ? 4 : 50;
    w.several = draw(2) ? 6 : 60;
    memset(w.writers, 0, sizeof(w.writers));
    memset(&w.watcher, 0, sizeof(w.watcher));
    memset(w.pages, 0, sizeof(w.pages));
    apr_pool_create(&w.pool, suite_pool);
    feed_open(&w.feed, apr_pstrcat(w.pool, "database=",
                                   path_of(apr_psprintf(w.pool, "joins%lu.db", (unsigned long)seed)), NULL));
    CU_ASSERT_PTR_NULL_FATAL(w.feed.wrong);
    ((database_t *)w.feed.self)->look = 100;
    ((database_t *)w.feed.self)->sql.driver = &sql_driver_mysql;
    for (int i = 0; i < PAGES; i++) {
        w.pages[i].place = "0;";
    }
    for (w.step = 0; w.step < 12 * w.most && w.count < w.most && w.wrong == 0; w.step++) {
        int who = draw(100);

        if (who < 55) {
            go_on(&w.writers[draw(WRITERS)]);
        }
        else if (who < 75) {
            watch(&w.watcher);
        }
        else if (who < 76) {
            if (draw(3) == 0) {
                number_elsewhere();
            }
        }
        else {
            look_at(draw(PAGES));
        }
    }
    /* All is announced in the end, by one that lives. */
    w.restarts = 1 << 30;
    w.watcher.step = RESTS;
    w.watcher.step = SETTLED;
    while (w.watcher.step != RESTS) {
        watch(&w.watcher);
    }
    for (int id = 1; id <= w.count && w.wrong == 0; id++) {
        if (w.changes[id].state == COMMITTED && !w.changes[id].announced && w.watcher.place[0] != '\0') {
            wrong("never announced", -1, id);
        }
    }
    feed_close(&w.feed);
    apr_pool_destroy(w.pool);
}

static void test_walks(void)
{
    const char *from = getenv("VAULT_JOINS_SEED"), *count = getenv("VAULT_JOINS_WALKS");
    int first = from != NULL ? atoi(from) : 1, last = first + (from != NULL ? 0 : count != NULL ? atoi(count) - 1 : 39);

    for (int seed = first; seed <= last && w.wrong == 0; seed++) {
        walk((apr_uint64_t)seed);
    }
    printf("%d looks here, %d in the database, %d vouched, %d brief: ", w.memory, w.asked, w.vouched, w.briefs);
    CU_ASSERT_EQUAL(w.wrong, 0);
}

void vault_database_joins_walk_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_joins_walk", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "whatever comes in between, a page has what was announced, once", test_walks);
}
