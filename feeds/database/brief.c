/* SPDX-License-Identifier: Apache-2.0 */
/* Looks whether all that is new was announced: see brief.h. */
#include "brief.h"

#include "apr_strings.h"

#include "catalogue.h"
#include "connection.h"
#include "dialect.h"
#include "driver.h"

enum { CELL_EPOCH, CELL_PRUNED, CELL_NOW, CELL_ID };

/* What arrives: a row for each new change of a table, or one for the table. */
typedef struct arriving_t {
    sql_call_t *c;
    database_brief_t *brief;
    const database_dialect_t *dialect;
    int rows;
    apr_status_t rv;
} arriving_t;

/* All rows have the same. */
static void take_now(arriving_t *arriving, const char *told)
{
    database_brief_t *brief = arriving->brief;

    brief->told = brief->now = apr_pstrdup(arriving->c->pool, told);
    if (arriving->dialect->place != NULL) {
        arriving->rv = arriving->dialect->place(arriving->c, brief->told, &brief->now);
    }
}

static int is_marked(const arriving_t *arriving, const char *epoch, const char *id)
{
    const database_brief_t *brief = arriving->brief;

    return database_marks_have(brief->marks,
                               database_board_mark(brief->feed, brief->marks->era, epoch, apr_strtoi64(id, NULL, 10)));
}

/* Cells begin with their type; a table without a new change has none for the id. */
static int take_cb(void *data, const char *const *cells)
{
    arriving_t *arriving = data;
    database_brief_t *brief = arriving->brief;
    database_span_t span = {.since = brief->place, .pruned = cells[CELL_PRUNED] + 1};

    if (brief->told == NULL) {
        take_now(arriving, cells[CELL_NOW] + 1);
    }
    span.now = brief->now;
    brief->enough = arriving->rv == APR_SUCCESS && ++arriving->rows <= brief->most &&
                    !arriving->dialect->is_lost(arriving->c, &span) &&
                    (cells[CELL_ID] == NULL || is_marked(arriving, cells[CELL_EPOCH] + 1, cells[CELL_ID] + 1));
    return brief->enough;
}

static sql_statement_t *make_statement(sql_call_t *c, const database_dialect_t *dialect, const database_brief_t *brief)
{
    sql_statement_t *sql = sql_statement_make(c);

    sql_raw(sql, c->db->driver->select);
    sql_raw(sql, " ");
    sql_own_cell_of(sql, database_dialect_epoch_of(dialect), SQL_TEXT);
    sql_raw(sql, ",");
    sql_own_cell_of(sql, "w.pruned", SQL_TEXT);
    sql_raw(sql, ",");
    sql_own_cell_of(sql, dialect->now, SQL_TEXT);
    sql_raw(sql, ",");
    sql_own_cell_of(sql, "c.id", SQL_INTEGER);
    sql_raw(sql, " FROM ");
    sql_table(sql, "vault_watched");
    sql_raw(sql, " AS w LEFT JOIN ");
    sql_table(sql, "vault_changes");
    sql_raw(sql, " AS c ON c.tbl=w.tbl AND ");
    dialect->append_since(sql, brief->place);
    sql_raw(sql, " WHERE w.tbl<>''");
    sql_limit(sql, brief->most + 1);
    return sql;
}

apr_status_t database_brief_look(sql_call_t *c, database_brief_t *brief)
{
    arriving_t arriving = {.c = c, .brief = brief, .dialect = database_dialect_of(c->db)};
    apr_status_t rv;

    sql_catalogue_assume(c, 0);
    rv = sql_conn_run(c, make_statement(c, arriving.dialect, brief), take_cb, &arriving);
    rv = sql_catalogue_assure(c, rv != APR_SUCCESS ? rv : arriving.rv);
    if (rv == SQL_STALE) {
        brief->enough = 0;
        brief->altered = 1;
        return APR_SUCCESS;
    }
    return rv;
}
