/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_place_fuzz.c
 * Any text as a place in the change table of each database. Checked besides crashes: what is believed has nothing in it that could be SQL,
 * and so has the place after it.
 */
#include "dialect.h"

#include "driver.h"
#include "snapshot.h"

#include "fuzz.h"

static void look(const database_dialect_t *dialect, const sql_driver_t *driver, const char *place, const char *now,
                 apr_pool_t *pool)
{
    sql_database_t db = {.driver = driver, .database = "none"};
    sql_call_t c = {.db = &db, .pool = pool};
    database_span_t span = {.since = place, .now = now, .pruned = ""};
    int again;

    for (int i = 0; i < 2 && !dialect->is_lost(&c, &span); i++) {
        must(span.since[strspn(span.since, "0123456789:.|;,+- \t\n\v\f\r")] == '\0');
        dialect->append_since(sql_statement_make(&c), span.since);
        (void)dialect->next(&c, &span, NULL, &again);
        span.since = dialect->next(&c, &span, "17", &again);
    }
}

/* What is missing is before the end. */
static void read_snapshot(const char *text)
{
    database_snapshot_t s;

    must(!database_snapshot_read(&s, text) || s.count == 0 || s.missing[s.count - 1] < s.end);
}

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    read_snapshot(text);
    look(&database_dialect_sqlite3, &sql_driver_sqlite3, text, "9000000000", pool);
    look(&database_dialect_mysql, &sql_driver_mysql, text, "9000000000;8,9", pool);
    look(&database_dialect_pgsql, &sql_driver_pgsql, text, "9000000000:9000000010:.0.1", pool);
}
