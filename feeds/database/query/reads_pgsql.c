/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which tables a query of PostgreSQL reads: those that a view of it depends on.
 *
 * A plan is not enough: constant conditions remove tables from it, and it does not show those of functions. For a view
 * the server records all that it refers to, before it makes a plan: tables, other views, functions, also those of
 * operators. So the query is made a temporary view, in a transaction that is rolled back. A function that is not
 * IMMUTABLE may read any table. For functions that come with the server nothing is recorded; those that read tables by
 * name are searched for in the text of the views. */
#include "database/query/reads.h"

#include <string.h>

#include "apr_strings.h"

#include "database/query/query_sql.h"
#include "sql/connect.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

#define VIEW "vault_query"

/* What the view refers to, and what that refers to: (class, obj) as in pg_depend. Policies of tables are conditions
 * that the server adds. A change of a partition is recorded as one of the table that it belongs to, unless the
 * partition itself is watched; a change of a table that inherits is recorded only for that table. */
#define REFERENCES                                                                                                     \
    "WITH RECURSIVE n(class,obj) AS (SELECT 'pg_catalog.pg_class'::regclass::oid,'pg_temp." VIEW "'::regclass::oid"    \
    " UNION SELECT e.class,e.obj FROM n,LATERAL("                                                                      \
    "SELECT d.refclassid,d.refobjid FROM pg_catalog.pg_depend d WHERE d.classid=n.class AND d.objid=n.obj"             \
    " AND n.class<>'pg_catalog.pg_class'::regclass AND n.class<>'pg_catalog.pg_type'::regclass"                        \
    " UNION ALL SELECT 'pg_catalog.pg_rewrite'::regclass,r.oid FROM pg_catalog.pg_rewrite r"                           \
    " JOIN pg_catalog.pg_class v ON v.oid=r.ev_class AND v.relkind='v'"                                                \
    " WHERE n.class='pg_catalog.pg_class'::regclass AND r.ev_class=n.obj AND r.ev_type='1'"                            \
    " UNION ALL SELECT 'pg_catalog.pg_policy'::regclass,p.oid FROM pg_catalog.pg_policy p"                             \
    " WHERE n.class='pg_catalog.pg_class'::regclass AND p.polrelid=n.obj AND p.polcmd IN('r','*')"                     \
    " UNION ALL SELECT 'pg_catalog.pg_class'::regclass,i.inhrelid FROM pg_catalog.pg_inherits i"                       \
    " JOIN pg_catalog.pg_class k ON k.oid=i.inhrelid AND NOT k.relispartition"                                         \
    " WHERE n.class='pg_catalog.pg_class'::regclass AND i.inhparent=n.obj) AS e(class,obj))"                           \
    ",r AS (SELECT c.oid,c.relkind,c.relnamespace,c.relname,c.relispartition FROM n JOIN pg_catalog.pg_class c"        \
    " ON n.class='pg_catalog.pg_class'::regclass AND c.oid=n.obj"                                                      \
    " WHERE c.relnamespace NOT IN('pg_catalog'::regnamespace,'information_schema'::regnamespace))"                     \
    ",t AS (SELECT coalesce(p.oid,r.oid) AS oid,coalesce(p.relname,r.relname)::text AS name FROM r"                    \
    " LEFT JOIN pg_catalog.pg_class p ON r.relispartition AND p.oid=pg_catalog.pg_partition_root(r.oid)"               \
    " AND NOT EXISTS(SELECT FROM pg_catalog.pg_trigger g WHERE g.tgrelid=r.oid AND g.tgname='vault_change'"            \
    " AND g.tgparentid=0) WHERE r.relkind IN('r','p'))"

/* Functions of the server that read tables by names in their arguments, large objects, or a sequence. */
#define READERS                                                                                                        \
    "'\\m(\\w*_to_xml\\w*|ts_stat|ts_rewrite|lo_get|loread|currval|lastval|nextval|pg_sequence_last_value|pg_read_"    \
    "\\w+)\\('"

#define FINDINGS                                                                                                       \
    "SELECT 'T' AS what,t.name FROM t WHERE pg_catalog.pg_table_is_visible(t.oid)"                                     \
    " UNION ALL SELECT 'it reads the table \"'||t.name||'\", which is in a schema that the search_path does not lead " \
    "to',''"                                                                                                           \
    " FROM t WHERE NOT pg_catalog.pg_table_is_visible(t.oid)"                                                          \
    " UNION ALL SELECT 'it reads \"'||r.relname||'\", whose changes are not recorded','' FROM r"                       \
    " WHERE r.relkind NOT IN('r','p','v','i','I','c')"                                                                 \
    " UNION ALL SELECT 'it calls the function \"'||p.proname||'\", which is not IMMUTABLE',''"                         \
    " FROM n JOIN pg_catalog.pg_proc p ON n.class='pg_catalog.pg_proc'::regclass AND p.oid=n.obj"                      \
    " WHERE p.provolatile<>'i' AND p.pronamespace NOT "                                                                \
    "IN('pg_catalog'::regnamespace,'information_schema'::regnamespace)"                                                \
    " UNION ALL SELECT 'it calls a function that reads tables by their names','' FROM r WHERE r.relkind='v'"           \
    " AND pg_catalog.pg_get_viewdef(r.oid)~" READERS

static apr_status_t list(sql_call_t *c, database_reads_t *reads)
{
    json_t *rows = NULL;
    apr_status_t rv = sql_fetch(
        c, sql_statement(c, "%r SELECT {$f.what},{$f.name} FROM (%r) AS f", REFERENCES, FINDINGS), NULL, 100000, &rows);

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *what = json_string_value(json_object_get(json_array_get(rows, i), "what"));

        if (strcmp(what, "T") == 0) {
            database_reads_add(reads, json_string_value(json_object_get(json_array_get(rows, i), "name")), c->pool);
        }
        else {
            database_reads_doubt(reads, apr_pstrdup(c->pool, what));
        }
    }
    json_decref(rows);
    return rv;
}

/* If the query has a plan, it can be run, and PostgreSQL has refused only the view. If it has none, the query itself is
 * wrong, and it would not help to name its tables. */
static apr_status_t plan(sql_call_t *c, const json_t *query)
{
    sql_statement_t *sql = sql_statement(c, "EXPLAIN ");

    database_query_append_form(c, query, sql);
    return sql_conn_query(c, sql->text, NULL);
}

static apr_status_t find(sql_call_t *c, const json_t *query, database_reads_t *reads, const char **schema)
{
    sql_statement_t *sql = sql_statement(c, "CREATE TEMPORARY VIEW " VIEW " AS SELECT 1 AS v FROM (");
    apr_status_t rv = sql_conn_begin_write(c);
    int is_answer;

    if (rv != APR_SUCCESS) {
        return rv;
    }
    database_query_append_form(c, query, sql);
    sql_raw(sql, ") AS r");
    is_answer = sql_conn_try(c, sql->text);
    if (is_answer) {
        rv = list(c, reads);
    }
    else {
        *schema = "";
        database_reads_doubt(reads, apr_psprintf(c->pool, "PostgreSQL makes no view of it: %s", sql_conn_message(c)));
    }
    sql_conn_rollback(c);
    return is_answer ? rv : plan(c, query);
}

/* A row gets another xmin when it is written again. */
#define SUM(table, which)                                                                                              \
    "(SELECT count(*)||'.'||coalesce(sum(x.xmin::text::bigint),0) FROM pg_catalog." table " AS x WHERE " which ")"
#define RULES SUM("pg_rewrite", "x.oid>=16384") "," SUM("pg_policy", "true") "," SUM("pg_inherits", "true")
#define FUNCTIONS SUM("pg_proc", "x.oid>=16384") "," SUM("pg_operator", "x.oid>=16384")
#define RELATIONS SUM("pg_class", "x.oid>=16384 AND x.relpersistence<>'t' AND x.relkind IN('r','p','v','m','f')")
#define SCHEMA                                                                                                         \
    "SELECT pg_catalog.concat_ws('/',pg_catalog.current_setting('search_path')," RULES "," FUNCTIONS "," RELATIONS     \
    ") AS v"

const database_reader_t database_reader_pgsql = {.name = "pgsql", .find = find, .schema = SCHEMA};
