/* SPDX-License-Identifier: Apache-2.0 */
/* One read of the tailer: see tail.h. */
#include "log/tail.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "base/hash.h"
#include "base/now.h"
#include "log/batch.h"
#include "log/image.h"
#include "log/touched.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

/* A read ends with the batch in which it has read this many changes: no page is notified before the read has ended. */
#define MOST 10000

void log_tail_take_over(log_tail_t *tail)
{
    log_ring_t *ring = log_shared_ring(tail->feed);

    log_ring_take_over(ring);
    log_ring_head(ring, &tail->head);
    tail->is_over = tail->head.boot == 0;
    tail->has_connected = 0;
    tail->version = -1;
}

/* The database behind a new connection may have been restored to an earlier state. */
void log_tail_connect(log_tail_t *tail, const char *incarnation)
{
    if (tail->has_connected || !log_shared_is_of(tail->feed, incarnation)) {
        tail->is_over = 1;
    }
    log_shared_keep_incarnation(tail->feed, incarnation);
    tail->has_connected = 1;
    tail->version = -1;
}

void log_tail_end(log_tail_t *tail)
{
    json_decref(tail->tables);
    tail->tables = NULL;
}

/* ------------------------------------------------------------ the watched tables */

static void complain(log_tail_t *tail, const sql_call_t *c, const char *table, const char *what)
{
    const char *sentence = apr_psprintf(c->pool, "the watched table \"%s\" %s", table, what);

    if (strcmp(sentence, tail->complained) != 0) {
        apr_cpystrn(tail->complained, sentence, sizeof(tail->complained));
        c->db->host->log(4, "%s", sentence);
    }
}

static apr_status_t list_tables(sql_call_t *c, json_t **tables)
{
    return sql_fetch(c,
                     sql_statement(c, "%r {$w.tbl},{$w.columns} FROM %t AS w WHERE w.tbl<>'' AND %r ORDER BY w.tbl",
                                   c->db->driver->select, "vault_watched", log_dialect_has(c, "w.tbl")),
                     NULL, 100000, tables);
}

/* A watched table, as it is now. */
typedef struct known_t {
    const sql_table_t *table;
    apr_uint64_t shape; /* 0: its triggers do not know its columns */
} known_t;

/* Adds the table, if it exists. */
static apr_status_t find_table(log_tail_t *tail, sql_call_t *c, const json_t *watched, apr_array_header_t *known)
{
    const char *name = json_string_value(json_object_get(watched, "tbl"));
    known_t found;
    int is_there = 0;
    apr_status_t rv = sql_catalogue_has(c, name, &is_there);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!is_there) {
        complain(tail, c, name, "does not exist any more: vaultctl unwatch removes its recorded changes");
        return APR_SUCCESS;
    }
    rv = sql_catalogue_find(c, name);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    found = (known_t){.table = c->table, .shape = log_dialect_shape(c, c->table)};
    if (c->table->keys->nelts == 0 ||
        strcmp(log_dialect_columns(c, c->table), json_string_value(json_object_get(watched, "columns"))) != 0) {
        complain(tail, c, name, "has other columns than when it was watched: run vaultctl watch again");
        found.shape = 0;
    }
    APR_ARRAY_PUSH(known, known_t) = found;
    return APR_SUCCESS;
}

/* Reads the tables as they are now. @param known  of known_t, in c->pool */
static apr_status_t find_tables(log_tail_t *tail, sql_call_t *c, apr_array_header_t **known)
{
    apr_status_t rv = APR_SUCCESS;

    *known = apr_array_make(c->pool, 8, sizeof(known_t));
    for (size_t i = 0; i < json_array_size(tail->tables) && rv == APR_SUCCESS; i++) {
        rv = find_table(tail, c, json_array_get(tail->tables, i), *known);
    }
    return rv;
}

static const known_t *find_known(const apr_array_header_t *known, const char *table)
{
    for (int i = 0; i < known->nelts; i++) {
        const known_t *one = &APR_ARRAY_IDX(known, i, known_t);

        if (strcmp(one->table->name, table) == 0) {
            return one;
        }
    }
    return NULL;
}

/* A number that identifies the watched tables, each with the id of its watching and its columns. */
static apr_uint64_t number_of_tables(const char *watchings, const apr_array_header_t *known)
{
    apr_uint64_t sum = vault_hash_text(1, watchings);

    for (int i = 0; i < known->nelts; i++) {
        sum = vault_hash(sum, &APR_ARRAY_IDX(known, i, known_t).shape, sizeof(apr_uint64_t));
    }
    return sum;
}

/* ------------------------------------------------------------ a new boot */

static apr_status_t touch_all(const log_tail_t *tail, sql_call_t *c, log_touched_t *touched)
{
    apr_status_t rv = APR_SUCCESS;

    for (size_t i = 0; i < json_array_size(tail->tables) && rv == APR_SUCCESS; i++) {
        const char *table = json_string_value(json_object_get(json_array_get(tail->tables, i), "tbl"));

        rv = tail->feed->touch(c, touched, table, NULL);
    }
    log_touched_all(touched);
    return rv;
}

/* Reads the position of the database, and then the watched tables. In this order: if a table is watched in between,
 * batch->watchings changes, so the next read begins a new boot with that table. */
static apr_status_t read_state(log_tail_t *tail, sql_call_t *c, apr_array_header_t **known, log_batch_t *batch)
{
    json_t *tables = NULL;
    apr_status_t rv = log_batch_read(c, batch, NULL, NULL, NULL);

    if (rv == APR_SUCCESS) {
        rv = list_tables(c, &tables);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    json_decref(tail->tables);
    tail->tables = tables;
    return find_tables(tail, c, known);
}

static void begin_with(log_tail_t *tail, const log_batch_t *batch, const apr_array_header_t *known,
                       const char *position)
{
    log_head_t *head = &tail->head;

    head->boot = log_ring_next_boot(head);
    head->tables = number_of_tables(batch->watchings, known);
    memmove(head->position, position, strlen(position) + 1);
    log_ring_publish(log_shared_ring(tail->feed), head);
}

/* Was the database restored to an earlier state, or were changes pruned that the tailer has not read? */
static int is_lost(const log_tail_t *tail, sql_call_t *c, const log_batch_t *batch, const char *since)
{
    const log_span_t span = {.since = since, .now = batch->now, .told = batch->told, .pruned = batch->pruned};

    return tail->dialect->position->is_lost(c->pool, &span);
}

/* What the tailer notifies: the tailer of each server reads the same changes. */
static log_touched_t *make_touched(const log_tail_t *tail, apr_pool_t *pool)
{
    log_touched_t *touched = log_touched_make(tail->feed, pool);

    touched->is_local = 1;
    return touched;
}

/* Begins a new boot of the ring. Either from the current position of the database: pages find earlier changes by SQL,
 * unless the database has lost them; then the pages begin anew. Or, if other tables are watched or columns have
 * changed, from the same position: the changes since are read next, with a change W for each table that is watched
 * anew. */
static apr_status_t begin_life(log_tail_t *tail, sql_call_t *c, int is_same)
{
    log_touched_t *touched = make_touched(tail, c->pool);
    apr_array_header_t *known;
    log_batch_t batch = {0};
    apr_status_t rv = read_state(tail, c, &known, &batch);

    if (rv == APR_SUCCESS && !is_same) {
        rv = touch_all(tail, c, touched);
    }
    if (rv == APR_SUCCESS) {
        batch.pruned = "";
        if (!is_same && tail->head.position[0] != '\0' && is_lost(tail, c, &batch, tail->head.position)) {
            tail->head.oldest = log_ring_next_boot(&tail->head);
        }
        begin_with(tail, &batch, known, is_same ? tail->head.position : batch.now);
        tail->is_over = 0;
        (void)log_touched_notify(touched);
    }
    log_batch_free(&batch);
    return rv;
}

/* ------------------------------------------------------------ reading on */

/* Reads all changes since a position, in batches. */
typedef struct reading_t {
    log_tail_t *tail;
    sql_call_t *c;
    const apr_array_header_t *known;  /* of known_t */
    const apr_array_header_t *tables; /* of const sql_table_t *; NULL: images cannot be decoded */
    log_touched_t *touched;
    const char *position; /* all changes up to here were appended */
    int count;            /* number of changes */
    int is_over;          /* a new boot must begin, from the current position of the database */
    int is_other;         /* a new boot must begin, from the same position, with other tables */
} reading_t;

static const char *text_in(const json_t *row, const char *name)
{
    return json_string_value(json_object_get(row, name));
}

static void append_entry(const reading_t *reading, const json_t *row, const known_t *known)
{
    const log_entry_t entry = {
        .change = {.id = (apr_int64_t)json_integer_value(json_object_get(row, "id")),
                   .number = (apr_int64_t)json_integer_value(json_object_get(row, "number"))},
        .shape = known != NULL && reading->tables != NULL ? known->shape : 0,
        .at = vault_now(),
        .table = text_in(row, "tbl"),
        .op = text_in(row, "op"),
        .key = text_in(row, "key"),
        .old = text_in(row, "old"),
        .new = text_in(row, "new"),
    };

    log_ring_append(log_shared_ring(reading->tail->feed), &entry);
}

/* If a change cannot be decoded, it is unknown which rows it concerns. No page is notified of a table that is not
 * watched, or not yet. */
static apr_status_t touch(const reading_t *reading, const json_t *row, const known_t *known)
{
    return known != NULL ? reading->tail->feed->touch(reading->c, reading->touched, text_in(row, "tbl"),
                                                      reading->tables != NULL ? row : NULL)
                         : APR_SUCCESS;
}

static apr_status_t take_rows(const reading_t *reading, json_t *rows)
{
    apr_status_t rv;

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);

        append_entry(reading, row, find_known(reading->known, text_in(row, "tbl")));
    }
    rv = reading->tables != NULL ? log_image_decode(reading->c, rows) : APR_SUCCESS;
    for (size_t i = 0; i < json_array_size(rows) && rv == APR_SUCCESS; i++) {
        const json_t *row = json_array_get(rows, i);

        rv = touch(reading, row, find_known(reading->known, text_in(row, "tbl")));
    }
    return rv;
}

/* The position after a batch. */
static const char *advance(const reading_t *reading, const log_batch_t *batch, int *again)
{
    const log_span_t span = {.since = reading->position, .now = batch->now, .pruned = ""};

    return reading->tail->dialect->position->next(reading->c->pool, &span, batch->last, again);
}

/* Was one of the tables altered since its columns were read? Then the columns are read again. */
static int is_altered(const reading_t *reading, const log_batch_t *batch)
{
    for (size_t i = 0; i < json_array_size(batch->rows); i++) {
        if (json_is_string(json_object_get(json_array_get(batch->rows, i), "altered"))) {
            reading->c->conn->tables = NULL;
            return 1;
        }
    }
    return 0;
}

/* @param again  1: there are more changes, or may be */
static apr_status_t read_on(reading_t *reading, int *again)
{
    const log_tail_t *tail = reading->tail;
    log_batch_t batch = {0};
    apr_status_t rv = log_batch_read(reading->c, &batch, reading->position, tail->tables, reading->tables);

    *again = 0;
    if (rv == APR_SUCCESS) {
        reading->is_over = is_lost(tail, reading->c, &batch, reading->position);
        reading->is_other =
            number_of_tables(batch.watchings, reading->known) != tail->head.tables || is_altered(reading, &batch);
    }
    if (rv == APR_SUCCESS && !reading->is_over && !reading->is_other) {
        reading->count += (int)json_array_size(batch.rows);
        reading->position = advance(reading, &batch, again);
        rv = take_rows(reading, batch.rows);
    }
    log_batch_free(&batch);
    return rv;
}

static apr_array_header_t *tables_of(sql_call_t *c, const apr_array_header_t *known)
{
    apr_array_header_t *tables = apr_array_make(c->pool, known->nelts, sizeof(const sql_table_t *));

    for (int i = 0; i < known->nelts; i++) {
        APR_ARRAY_PUSH(tables, const sql_table_t *) = APR_ARRAY_IDX(known, i, known_t).table;
    }
    return tables;
}

/* Publishes what was appended with its position, and then notifies. */
static void publish(const reading_t *reading)
{
    log_tail_t *tail = reading->tail;

    if (reading->count > 0 || strcmp(reading->position, tail->head.position) != 0) {
        apr_cpystrn(tail->head.position, reading->position, sizeof(tail->head.position));
        log_ring_publish(log_shared_ring(tail->feed), &tail->head);
    }
    (void)log_touched_notify(reading->touched);
}

/* If a program writes very many changes, or writes faster than the tailer reads, a new boot of the ring begins, and
 * each page queries the database for its changes.
 * @param reading  `known` and `tables` are set */
static apr_status_t read_all(reading_t *reading)
{
    log_tail_t *tail = reading->tail;
    apr_status_t rv;
    int again;

    reading->touched = make_touched(tail, reading->c->pool);
    reading->position = tail->head.position;
    reading->count = 0;
    log_ring_take_over(log_shared_ring(tail->feed)); /* entries of a read that failed are overwritten */
    do {
        rv = read_on(reading, &again);
        reading->is_over |= again && reading->count >= MOST;
    } while (rv == APR_SUCCESS && again && !reading->is_over && !reading->is_other);
    if (rv == APR_SUCCESS && !reading->is_over && !reading->is_other) {
        publish(reading);
    }
    return rv;
}

/* Was nothing committed since the last read, as far as the driver can tell at a lower cost than that of a read? */
static int is_same_version(log_tail_t *tail, sql_call_t *c, apr_int64_t *version)
{
    const sql_driver_t *driver = c->db->driver;

    *version = -1;
    if (driver->read_number == NULL || !driver->read_number(c, driver->version_number, version)) {
        *version = -1;
    }
    return *version >= 0 && *version == tail->version;
}

/* If images cannot be decoded, each page reads them by SQL: changes from before a table was altered may not fit its
 * columns. */
static apr_status_t read_changes(reading_t *reading)
{
    log_tail_t *tail = reading->tail;
    sql_call_t *c = reading->c;
    apr_array_header_t *known;
    apr_status_t rv = tail->tables == NULL ? list_tables(c, &tail->tables) : APR_SUCCESS;

    if (rv == APR_SUCCESS) {
        rv = find_tables(tail, c, &known);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    reading->known = known;
    reading->tables = tables_of(c, known);
    rv = read_all(reading);
    if (rv == APR_EINVAL || rv == APR_EGENERAL) {
        reading->tables = NULL;
        rv = read_all(reading);
    }
    return rv;
}

/* Numbers that are assigned now may be equal to some that the database has lost. */
static apr_status_t assign_numbers(log_tail_t *tail, sql_call_t *c)
{
    const char *position = tail->head.position;
    apr_status_t rv;

    if (tail->dialect->assign_numbers == NULL || tail->is_over) {
        return APR_SUCCESS;
    }
    rv = tail->dialect->assign_numbers(c, 1, position[0] != '\0' ? position : NULL);
    tail->is_over = rv == APR_EINCOMPLETE;
    return tail->is_over ? APR_SUCCESS : rv;
}

static apr_status_t read_and_begin(log_tail_t *tail, sql_call_t *c, int *again)
{
    reading_t reading = {.tail = tail, .c = c};
    apr_status_t rv = assign_numbers(tail, c);

    if (rv == APR_SUCCESS && !tail->is_over) {
        rv = read_changes(&reading);
        tail->is_over = reading.is_over;
    }
    *again = tail->is_over || reading.is_other;
    return rv == APR_SUCCESS && *again ? begin_life(tail, c, !tail->is_over) : rv;
}

apr_status_t log_tail_read(log_tail_t *tail, sql_call_t *c, int *watched, int *again)
{
    apr_int64_t version;
    apr_status_t rv;

    *watched = 1;
    *again = 0;
    if (is_same_version(tail, c, &version) && !tail->is_over) {
        return APR_SUCCESS;
    }
    rv = sql_catalogue_has(c, "vault_watched", watched);
    if (rv == APR_SUCCESS && *watched) {
        rv = read_and_begin(tail, c, again);
    }
    tail->version = rv == APR_SUCCESS && *watched && !*again ? version : -1;
    return rv;
}
