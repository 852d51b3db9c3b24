/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which tables a query reads: see reads.h. */
#include "database/query/reads.h"

#include <stdlib.h>
#include <string.h>

#include "apr_hash.h"
#include "apr_strings.h"
#include "apr_thread_mutex.h"

#include "base/now.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"

#define LIFE apr_time_from_sec(1)

/* What is known of one query. */
typedef struct known_t {
    json_t *tables; /* NULL: nothing yet */
    char *unsure;
    char *schema;      /* the text of database_reader_t::schema before the database was asked */
    apr_time_t at;     /* when the text was last the same */
    apr_uint64_t boot; /* the boot of the ring at that time */
} known_t;

struct database_known_reads_t {
    apr_thread_mutex_t *lock; /* guards all known_t */
    apr_hash_t *of;           /* const after start: known_t by the query's name */
};

void database_reads_add(database_reads_t *reads, const char *table, apr_pool_t *pool)
{
    if (!sql_list_has(reads->tables, table)) {
        APR_ARRAY_PUSH(reads->tables, const char *) = apr_pstrdup(pool, table);
    }
}

void database_reads_doubt(database_reads_t *reads, const char *why)
{
    reads->unsure = reads->unsure != NULL ? reads->unsure : why;
}

/* ------------------------------------------------------------ what this child knows */

static void forget(known_t *known)
{
    json_decref(known->tables);
    free(known->unsure);
    free(known->schema);
    *known = (known_t){0};
}

static apr_status_t forget_all(void *data)
{
    database_known_reads_t *all = data;

    for (apr_hash_index_t *i = apr_hash_first(NULL, all->of); i != NULL; i = apr_hash_next(i)) {
        forget(apr_hash_this_val(i));
    }
    return APR_SUCCESS;
}

const char *database_reads_start(database_t *feed, apr_pool_t *pchild)
{
    database_known_reads_t *all = apr_pcalloc(pchild, sizeof(*all));
    const char *name;
    json_t *query;

    if (apr_thread_mutex_create(&all->lock, APR_THREAD_MUTEX_DEFAULT, pchild) != APR_SUCCESS) {
        return "out of memory for a lock";
    }
    all->of = apr_hash_make(pchild);
    if (feed->model != NULL) {
        json_object_foreach((json_t *)(uintptr_t)feed->model->queries, name, query)
        {
            apr_hash_set(all->of, name, APR_HASH_KEY_STRING, apr_pcalloc(pchild, sizeof(known_t)));
        }
    }
    apr_pool_pre_cleanup_register(pchild, all, forget_all);
    feed->reads = all;
    return NULL;
}

static apr_array_header_t *names_in(const json_t *list, apr_pool_t *pool)
{
    apr_array_header_t *names = apr_array_make(pool, 4, sizeof(const char *));

    for (size_t i = 0; i < json_array_size(list); i++) {
        APR_ARRAY_PUSH(names, const char *) = apr_pstrdup(pool, json_string_value(json_array_get(list, i)));
    }
    return names;
}

/* @param known  its texts are in c->pool @return 0: nothing is known */
static int recall(sql_call_t *c, const char *name, known_t *known, database_reads_t *reads)
{
    database_known_reads_t *all = ((const database_t *)c->db)->reads;
    const known_t *found = apr_hash_get(all->of, name, APR_HASH_KEY_STRING);

    apr_thread_mutex_lock(all->lock);
    *known = *found;
    if (found->tables != NULL) {
        known->schema = apr_pstrdup(c->pool, found->schema);
        reads->tables = names_in(found->tables, c->pool);
        reads->unsure = found->unsure != NULL ? apr_pstrdup(c->pool, found->unsure) : NULL;
    }
    apr_thread_mutex_unlock(all->lock);
    return known->tables != NULL;
}

/* @param reads  NULL: what is known has been confirmed */
static void keep(const sql_call_t *c, const char *name, const char *schema, const known_t *when,
                 const database_reads_t *reads)
{
    database_known_reads_t *all = ((const database_t *)c->db)->reads;
    known_t *known = apr_hash_get(all->of, name, APR_HASH_KEY_STRING);

    apr_thread_mutex_lock(all->lock);
    if (reads != NULL) {
        forget(known);
        known->tables = json_array();
        for (int i = 0; i < reads->tables->nelts; i++) {
            json_array_append_new(known->tables, json_string(APR_ARRAY_IDX(reads->tables, i, const char *)));
        }
        known->unsure = reads->unsure != NULL ? strdup(reads->unsure) : NULL;
        known->schema = strdup(schema);
    }
    known->at = when->at;
    known->boot = when->boot;
    apr_thread_mutex_unlock(all->lock);
}

/* ------------------------------------------------------------ the database */

static const database_reader_t *reader_of(const sql_database_t *db)
{
    static const database_reader_t *const readers[] = {&database_reader_mysql, &database_reader_pgsql,
                                                       &database_reader_sqlite3};
    size_t i = 0;

    while (strcmp(readers[i]->name, db->driver->name) != 0) {
        i++;
    }
    return readers[i];
}

static apr_status_t ask_schema(sql_call_t *c, const char **schema)
{
    const char *statement = reader_of(c->db)->schema;
    const char *cell = NULL;
    apr_status_t rv;

    if (statement != NULL) {
        rv = sql_conn_cell(c, statement, &cell);
    }
    else {
        rv = sql_catalogue_check(c);
        rv = rv == SQL_STALE ? APR_SUCCESS : rv;
        cell = c->conn->generation;
    }
    *schema = cell != NULL ? cell : "";
    return rv;
}

/* If the database could not be asked, a second later it may be possible: so the result is stored with a schema that
 * does not exist. */
static apr_status_t ask(sql_call_t *c, const char *name, const json_t *query, const known_t *when, const char *schema,
                        database_reads_t *reads)
{
    apr_status_t rv;

    *reads = (database_reads_t){.tables = apr_array_make(c->pool, 4, sizeof(const char *))};
    rv = reader_of(c->db)->find(c, query, reads, &schema);
    if (rv == APR_SUCCESS) {
        keep(c, name, schema, when, reads);
    }
    return rv;
}

/* A server is not asked again for a second, unless what is known makes the call fail: then the server can say why. */
static int is_believed(const sql_call_t *c, const known_t *known, const known_t *when, const database_reads_t *reads)
{
    int is_good = known->schema[0] == '\0' || (reads->unsure == NULL && reads->tables->nelts > 0);

    return reader_of(c->db)->schema != NULL && is_good && when->at >= known->at && when->at < known->at + LIFE;
}

static apr_status_t find(sql_call_t *c, const char *name, const json_t *query, apr_uint64_t boot,
                         database_reads_t *reads)
{
    const known_t when = {.at = vault_now(), .boot = boot};
    const char *schema;
    known_t known;
    int is_known = recall(c, name, &known, reads) && known.boot == boot;
    apr_status_t rv;

    if (is_known && is_believed(c, &known, &when, reads)) {
        return APR_SUCCESS;
    }
    rv = ask_schema(c, &schema);
    if (rv == APR_SUCCESS && is_known && strcmp(schema, known.schema) == 0) {
        keep(c, name, schema, &when, NULL);
        return APR_SUCCESS;
    }
    return rv == APR_SUCCESS ? ask(c, name, query, &when, schema, reads) : rv;
}

/* ------------------------------------------------------------ and the model */

const apr_array_header_t *database_reads_known(sql_call_t *c, const char *name, const json_t *query)
{
    const json_t *given = json_object_get(query, "tables");
    database_reads_t reads;
    known_t known;

    if (given != NULL) {
        return names_in(given, c->pool);
    }
    return recall(c, name, &known, &reads) && reads.unsure == NULL && reads.tables->nelts > 0 ? reads.tables : NULL;
}

/* A table that the model names and the query does not read causes unnecessary runs. It may be one that could not be
 * found out. */
static apr_status_t compare(sql_call_t *c, const database_reads_t *reads, const apr_array_header_t *given)
{
    for (int i = 0; i < reads->tables->nelts; i++) {
        const char *table = APR_ARRAY_IDX(reads->tables, i, const char *);

        if (!sql_list_has(given, table)) {
            return sql_fail(c, APR_EINVAL, "it reads the table \"%s\", which is not one of its \"tables\"",
                            sql_shown(c, table));
        }
    }
    return APR_SUCCESS;
}

apr_status_t database_reads_find(sql_call_t *c, const char *name, const json_t *query, apr_uint64_t boot,
                                 database_reads_t *reads, const apr_array_header_t **tables)
{
    const json_t *given = json_object_get(query, "tables");
    apr_status_t rv = find(c, name, query, boot, reads);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (given != NULL) {
        *tables = names_in(given, c->pool);
        return compare(c, reads, *tables);
    }
    *tables = reads->tables;
    if (reads->unsure != NULL) {
        return sql_fail(c, APR_EINVAL, "the tables that it reads are uncertain, because %s: name them in \"tables\"",
                        reads->unsure);
    }
    return reads->tables->nelts > 0 ? APR_SUCCESS : sql_fail(c, APR_EINVAL, "it reads no table");
}
