/* SPDX-License-Identifier: Apache-2.0 */
/* Interests that are notified together: see touched.h. */
#include "log/touched.h"

#include <stddef.h>

log_touched_t *log_touched_make(const change_log_t *log, apr_pool_t *pool)
{
    log_touched_t *touched = apr_pcalloc(pool, sizeof(*touched));

    touched->log = log;
    touched->pool = pool;
    touched->names = apr_hash_make(pool);
    touched->asked = apr_hash_make(pool);
    return touched;
}

void log_touched_name(log_touched_t *touched, const char *name)
{
    if (name != NULL) {
        apr_hash_set(touched->names, name, APR_HASH_KEY_STRING, name);
    }
}

void log_touched_all(log_touched_t *touched)
{
    touched->all = 1;
}

int log_touched_notify(const log_touched_t *touched)
{
    const vault_host_t *host = touched->log->sql.host;
    int all = !touched->all;

    if (touched->all && host->size > offsetof(vault_host_t, notify_all) && host->notify_all != NULL) {
        host->notify_all();
        return 1;
    }
    for (apr_hash_index_t *i = apr_hash_first(touched->pool, touched->names); i != NULL; i = apr_hash_next(i)) {
        const char *name = apr_hash_this_val(i);
        apr_status_t rv = touched->is_local ? sql_notify_local(&touched->log->sql, name) : host->notify(name);

        all &= rv == APR_SUCCESS || rv == APR_NOTFOUND; /* no page holds it */
    }
    return all;
}
