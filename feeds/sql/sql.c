/* SPDX-License-Identifier: Apache-2.0 */
/* One use of the database: by a method call, or by a background thread. */
#include "sql/sql.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "sql/connection.h"

#define SHOWN_MAX 60

apr_status_t sql_call_begin(sql_call_t *c, sql_database_t *db, vault_call_t *call, const json_t *args)
{
    memset(c, 0, sizeof(*c));
    c->db = db;
    c->call = call;
    c->args = args;
    return apr_pool_create(&c->pool, db->host->pool(call));
}

void sql_call_end(sql_call_t *c)
{
    sql_conn_give_back(c);
    apr_pool_destroy(c->pool);
    c->pool = NULL;
}

apr_status_t sql_background_begin(sql_call_t *c, sql_database_t *db)
{
    apr_status_t rv;

    memset(c, 0, sizeof(*c));
    c->db = db;
    rv = sql_pool_of_its_own(&c->pool);
    if (rv == APR_SUCCESS) {
        rv = sql_conn_make(&c->own, db);
    }
    if (rv != APR_SUCCESS && c->pool != NULL) {
        apr_pool_destroy(c->pool);
        c->pool = NULL;
    }
    return rv;
}

void sql_background_end(sql_call_t *c)
{
    sql_conn_give_back(c);
    sql_conn_destroy(c->own);
    apr_pool_destroy(c->pool);
    c->own = NULL;
    c->pool = NULL;
}

/* What the sentence is about. */
static const char *subject(sql_call_t *c)
{
    const char *whole = apr_psprintf(c->pool, "%s \"%s\"", c->about.kind, sql_shown(c, c->about.name));

    return c->about.part == NULL ? whole
                                 : apr_psprintf(c->pool, "%s, collection \"%s\"", whole, sql_shown(c, c->about.part));
}

apr_status_t sql_fail(sql_call_t *c, apr_status_t status, const char *fmt, ...)
{
    const char *sentence;
    va_list args;

    va_start(args, fmt);
    sentence = apr_pvsprintf(c->pool, fmt, args);
    va_end(args);
    if (c->about.kind != NULL && c->conn != NULL && c->conn->dbi != NULL) {
        sentence = apr_pstrcat(c->pool, subject(c), ": ", sentence, NULL);
    }
    c->failed = 1;
    if (c->call != NULL) {
        return c->db->host->fail(c->call, status, "%s", sentence);
    }
    if (strncmp(sentence, c->said, SQL_SAID_MAX - 1) != 0) {
        apr_cpystrn(c->said, sentence, SQL_SAID_MAX);
        c->db->host->log(4, "%s", sentence);
    }
    return status;
}

const char *sql_shown(sql_call_t *c, const char *name)
{
    char *shown = apr_pstrndup(c->pool, name, SHOWN_MAX);
    apr_size_t length = strlen(shown);

    if (length == SHOWN_MAX && name[length] != '\0') {
        /* Not in the middle of a multibyte character. */
        while (length > 0 && (name[length] & 0xc0) == 0x80) {
            length--;
        }
        shown = apr_pstrcat(c->pool, apr_pstrndup(c->pool, name, length), "...", NULL);
    }
    for (char *at = shown; *at != '\0'; at++) {
        if (apr_iscntrl(*at)) {
            *at = '?';
        }
    }
    return shown;
}

apr_status_t sql_notify_local(const sql_database_t *db, const char *interest)
{
    const vault_host_t *host = db->host;

    return host->size > offsetof(vault_host_t, notify_local) && host->notify_local != NULL
               ? host->notify_local(interest)
               : host->notify(interest);
}
