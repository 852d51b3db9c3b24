/* SPDX-License-Identifier: Apache-2.0 */
/* Reads all watched tables: see survey.h. */
#include "survey.h"

#include <string.h>

#include "apr_strings.h"

#include "catalogue.h"
#include "changes.h"
#include "connection.h"
#include "driver.h"
#include "now.h"
#include "recent.h"
#include "rows.h"

/* Changes that are read at once. */
#define AT_ONCE 500

/* The names of the watched tables, and with which columns. */
static apr_status_t list_tables(sql_call_t *c, json_t **tables)
{
    static const char *const names[] = {"tbl", "columns", "pruned", "epoch", NULL};
    sql_statement_t *sql = sql_statement_make(c);

    sql_raw(sql, c->db->driver->select);
    sql_raw(sql, " ");
    for (int i = 0; i < 3; i++) {
        sql_cell(sql, "w", names[i], SQL_TEXT);
        sql_raw(sql, ",");
    }
    sql_cell_of(sql, database_dialect_epoch_of(database_dialect_of(c->db)), SQL_TEXT);
    sql_raw(sql, " FROM ");
    sql_table(sql, "vault_watched");
    sql_raw(sql, " AS w WHERE w.tbl<>'' ORDER BY w.tbl");
    return sql_fetch(c, sql, names, 100000, tables);
}

static void complain(database_survey_t *survey, sql_call_t *c, const char *table, const char *what)
{
    const char *sentence = apr_psprintf(c->pool, "the watched table \"%s\" %s", table, what);

    if (strcmp(sentence, survey->complained) != 0) {
        apr_cpystrn(survey->complained, sentence, sizeof(survey->complained));
        c->db->host->log(4, "%s", sentence);
    }
}

/* Is the table there, with the columns that its triggers know? Sets c->table. */
static apr_status_t find_table(database_survey_t *survey, sql_call_t *c, const json_t *watched, int *usable)
{
    const char *name = json_string_value(json_object_get(watched, "tbl"));
    apr_status_t rv = sql_catalogue_has(c, name, usable);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!*usable) {
        complain(survey, c, name, "is gone: vaultctl unwatch has what was recorded of it removed");
        return APR_SUCCESS;
    }
    rv = sql_catalogue_find(c, name);
    if (rv == APR_SUCCESS &&
        strcmp(database_dialect_columns(c, c->table), json_string_value(json_object_get(watched, "columns"))) != 0) {
        complain(survey, c, name, "has other columns than when it was watched: run vaultctl watch again");
    }
    return rv;
}

/* What its writer has not announced. */
static void touch(database_progress_t *progress, database_touched_t *touched, const sql_table_t *table,
                  const char *epoch, const json_t *changes)
{
    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *change = json_array_get(changes, i);

        if (!database_progress_is_marked(progress, epoch, json_integer_value(json_object_get(change, "id")))) {
            database_progress_note_others(progress);
            database_touched_change(touched, table->name, change);
        }
    }
}

/* All that is new in c->table, in parts. */
static apr_status_t look_at_table(database_progress_t *progress, sql_call_t *c, const database_look_t *look,
                                  database_touched_t *touched)
{
    const database_wanted_t wanted = {.most = AT_ONCE, .cut = 1};
    database_look_t part = *look;
    apr_status_t rv = APR_SUCCESS;

    do {
        json_t *changes;

        rv = database_changes_read(c, &part, &wanted, &changes);
        if (rv == APR_SUCCESS) {
            touch(progress, touched, c->table, look->epoch, changes);
        }
        json_decref(changes);
        part.span.since = part.next;
    } while (rv == APR_SUCCESS && part.again);
    return rv;
}

/* Nobody knows what was announced: the interests of rows that are to be told of have no end. */
static void give_up(database_progress_t *progress, database_touched_t *touched, const char *table)
{
    database_progress_note_others(progress);
    database_touched_table(touched, table);
    database_touched_all(touched);
}

/* What was recorded of c->table before it was altered may have no place in it: no other table's changes are to wait for that. */
static void note_unread(database_survey_t *survey, sql_call_t *c, apr_status_t rv)
{
    if (rv != APR_EINVAL && rv != APR_EGENERAL) {
        return;
    }
    if (survey->unread == NULL) {
        survey->unread = json_object();
    }
    json_object_set_new(survey->unread, c->table->name, json_true());
    complain(survey, c, c->table->name, "has changes that cannot be read: its pages are shown everything anew");
}

/* In a snapshot, at `now`. */
static apr_status_t look_at_all(database_survey_t *survey, sql_call_t *c, database_touched_t *touched, const char *now)
{
    database_progress_t *progress = survey->progress;
    database_look_t look = {.dialect = progress->dialect, .span = {.since = progress->place, .now = now}};
    json_t *tables = NULL;
    apr_status_t rv = list_tables(c, &tables);

    for (size_t i = 0; i < json_array_size(tables) && rv == APR_SUCCESS; i++) {
        const json_t *watched = json_array_get(tables, i);
        int usable = 0;

        rv = find_table(survey, c, watched, &usable);
        look.epoch = json_string_value(json_object_get(watched, "epoch"));
        look.span.pruned = json_string_value(json_object_get(watched, "pruned"));
        if (rv == APR_SUCCESS && usable) {
            if (progress->place[0] == '\0' || progress->dialect->is_lost(c, &look.span) ||
                json_object_get(survey->unread, c->table->name) != NULL) {
                give_up(progress, touched, c->table->name);
            }
            else {
                rv = look_at_table(progress, c, &look, touched);
                note_unread(survey, c, rv);
            }
        }
    }
    json_decref(survey->tables);
    survey->tables = tables;
    return rv;
}

/* In the snapshot: tables may be read there that were altered after the schema was last asked for. */
static apr_uint64_t life_of_snapshot(const database_progress_t *progress, sql_call_t *c)
{
    const sql_driver_t *driver = c->db->driver;
    apr_int64_t generation = -1;

    if (driver->read_number != NULL && !driver->read_number(c, driver->generation_number, &generation)) {
        generation = -1;
    }
    return database_recent_life(c, progress->marks.era, generation);
}

/* Places are to be short. But after one was lost let pages look before: with as many numbers as are gone, what is new would be what they have seen. */
static apr_status_t settle_first(const database_progress_t *progress, sql_call_t *c)
{
    const char *told;
    apr_status_t rv;

    if (progress->dialect->settle == NULL) {
        return APR_SUCCESS;
    }
    if (progress->lets_be) {
        rv = progress->dialect->where(c, &told);
        if (rv != APR_SUCCESS || (told != NULL && !progress->dialect->is_long(told))) {
            return rv;
        }
    }
    return progress->dialect->settle(c, 0);
}

static apr_status_t look_in_one_snapshot(database_survey_t *survey, sql_call_t *c)
{
    database_progress_t *progress = survey->progress;
    database_touched_t *touched = database_touched_make(progress->feed, c->pool);
    database_reached_t reached = {0};
    apr_status_t rv = settle_first(progress, c);

    progress->settled_at = vault_now();
    database_progress_begin(progress);
    if (rv == APR_SUCCESS) {
        rv = sql_conn_begin_read(c);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = database_dialect_place(c, &reached.told, &reached.now);
    if (progress->dialect->hush != NULL) {
        (void)progress->dialect->hush(c); /* of what this snapshot will show */
    }
    if (rv == APR_SUCCESS && !database_progress_is_as_told(progress, reached.told)) {
        database_progress_end_era_if_put_back(progress, c, reached.now);
        rv = look_at_all(survey, c, touched, reached.now);
    }
    if (rv == APR_SUCCESS) {
        reached.life = life_of_snapshot(progress, c);
    }
    rv = sql_conn_end(c, rv);
    if (rv == APR_SUCCESS) {
        database_progress_announce(progress, touched, &reached);
        survey->read_at = vault_now();
    }
    return rv;
}

/* Again without those tables whose changes cannot be read. */
apr_status_t database_survey(database_survey_t *survey, sql_call_t *c)
{
    apr_status_t rv;
    size_t unread;

    do {
        unread = json_object_size(survey->unread);
        rv = look_in_one_snapshot(survey, c);
    } while (rv != APR_SUCCESS && json_object_size(survey->unread) > unread);
    json_decref(survey->unread);
    survey->unread = NULL;
    return rv;
}

void database_survey_end(database_survey_t *survey)
{
    json_decref(survey->tables);
    survey->tables = NULL;
}

/* Of which table it is nobody knows. */
int database_survey_is_marked(const database_survey_t *survey, apr_int64_t id)
{
    size_t tables = json_array_size(survey->tables);

    for (size_t i = 0; i < tables; i++) {
        const char *epoch = json_string_value(json_object_get(json_array_get(survey->tables, i), "epoch"));

        if (epoch != NULL && database_progress_is_marked(survey->progress, epoch, id)) {
            return 1;
        }
    }
    return 0;
}
