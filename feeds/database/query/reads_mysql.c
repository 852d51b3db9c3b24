/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which tables a query of MariaDB reads, by the names in its text; see names_mysql.h. */
#include "database/query/reads.h"

#include "apr_strings.h"

#include "database/query/names_mysql.h"
#include "sql/driver.h"
#include "sql/rows.h"

/* All objects that a name may refer to. */
#define THINGS                                                                                                         \
    "SELECT CASE TABLE_TYPE WHEN 'SEQUENCE' THEN 'O' ELSE 'T' END AS kind,TABLE_NAME AS name,NULL AS definition"       \
    " FROM information_schema.TABLES WHERE TABLE_SCHEMA=DATABASE() AND TABLE_TYPE<>'VIEW'"                             \
    " UNION ALL SELECT 'V',TABLE_NAME,VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA=DATABASE()"     \
    " UNION ALL SELECT 'F',ROUTINE_NAME,NULL FROM information_schema.ROUTINES"                                         \
    " WHERE ROUTINE_SCHEMA=DATABASE() AND ROUTINE_TYPE='FUNCTION'"                                                     \
    " UNION ALL SELECT 'S',SCHEMA_NAME,NULL FROM information_schema.SCHEMATA WHERE SCHEMA_NAME<>DATABASE()"

/* One of them, as a number. */
#define SUM "CRC32(CONCAT_WS('/',t.kind,t.name,t.definition))"

/* Names and texts are read without a snapshot, and a table may be dropped and made again in between. So what was found
 * is kept with a number that stands for what was read, and not for what there was before. */
static apr_status_t find(sql_call_t *c, const json_t *query, database_reads_t *reads, const char **schema)
{
    const char *text = json_string_value(json_object_get(query, "sql"));
    apr_array_header_t *things = apr_array_make(c->pool, 32, sizeof(database_thing_t));
    apr_int64_t sum = 0;
    json_t *rows = NULL;
    apr_status_t rv = sql_fetch(
        c,
        sql_statement(c,
                      "SELECT {$s.kind},{$s.name},{$s.definition},{s.sum} FROM (SELECT t.kind,t.name,t.definition," SUM
                      " AS sum FROM (" THINGS ") AS t) AS s"),
        NULL, 1000000, &rows);

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *definition = json_string_value(json_object_get(row, "definition"));

        sum += json_integer_value(json_object_get(row, "sum"));
        APR_ARRAY_PUSH(things, database_thing_t) = (database_thing_t){
            .kind = (database_thing_e)json_string_value(json_object_get(row, "kind"))[0],
            .name = json_string_value(json_object_get(row, "name")),
            .definition = definition != NULL ? definition : "",
        };
    }
    if (rv == APR_SUCCESS) {
        *schema = apr_psprintf(c->pool, "%d.%" APR_INT64_T_FMT, things->nelts, sum);
        database_names_mysql(text, c->db->database, things, reads, c->pool);
    }
    json_decref(rows);
    return rv;
}

const database_reader_t database_reader_mysql = {.name = "mysql",
                                                 .find = find,
                                                 .schema = "SELECT CONCAT(COUNT(*),'.',COALESCE(SUM(" SUM
                                                           "),0)) AS v FROM (" THINGS ") AS t"};
