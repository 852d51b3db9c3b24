/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_position_fuzz.c
 * Parses any text as a position in the change log of each database. Checks that an accepted position, and the
 * one after it, contain nothing that could be SQL.
 */
#include "log/dialect.h"

#include "log/position.h"
#include "sql/driver.h"

#include "fuzz.h"

/* The order of a change of MariaDB that has no number, with the id 8. */
#define BEHIND_NUMBERS "4611686018427387912"

static void look(const log_dialect_t *dialect, const sql_driver_t *driver, const char *position, const char *now,
                 apr_pool_t *pool)
{
    sql_database_t db = {.driver = driver, .database = "none"};
    sql_call_t c = {.db = &db, .pool = pool};
    log_span_t span = {.since = position, .now = now, .pruned = ""};
    int again;

    for (int i = 0; i < 2 && !dialect->position->is_lost(pool, &span); i++) {
        must(span.since[strspn(span.since, "0123456789:.|;,+- \t\n\v\f\r")] == '\0');
        dialect->position->append_since(sql_statement_make(&c), span.since);
        (void)dialect->position->next(pool, &span, NULL, &again);
        (void)dialect->position->next(pool, &span, BEHIND_NUMBERS, &again);
        span.since = dialect->position->next(pool, &span, "17", &again);
    }
}

/* The text of a set. */
static void read_set(const log_position_type_t *type, const char *text, apr_pool_t *pool)
{
    log_position_t position, again;
    const char *made = type->read(&position, text) ? type->text(&position, pool) : NULL;

    must(made == NULL || (type->read(&again, made) && again.end == position.end && again.count == position.count));
}

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    read_set(&log_position_sqlite3, text, pool);
    read_set(&log_position_mysql, text, pool);
    read_set(&log_position_pgsql, text, pool);
    look(&log_dialect_sqlite3, &sql_driver_sqlite3, text, "9000000000", pool);
    look(&log_dialect_mysql, &sql_driver_mysql, text, "9000000000;8,9", pool);
    look(&log_dialect_pgsql, &sql_driver_pgsql, text, "9000000000:9000000010:.0.1", pool);
}
