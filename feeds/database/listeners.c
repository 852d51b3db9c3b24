/* SPDX-License-Identifier: Apache-2.0 */
/* Whether anybody else is told by the database: see listeners.h. */
#include "listeners.h"

#include "board.h"
#include "now.h"

/* How often whether others listen is asked while nobody does: until it is, one who begins to looks by the clock. */
#define COUNT_EVERY apr_time_from_sec(10)
/* Likewise while somebody does. */
#define COUNT_AGAIN apr_time_from_sec(1)

void database_listeners_forget(database_listeners_t *listeners)
{
    database_board_set_quiet(listeners->feed, 0);
    listeners->count_at = 0;
}

apr_status_t database_listeners_count(database_listeners_t *listeners, sql_call_t *c)
{
    apr_time_t now = vault_now();
    int alone = 0;
    apr_status_t rv;

    if (listeners->dialect->listens_alone == NULL || now < listeners->count_at) {
        return APR_SUCCESS;
    }
    rv = listeners->dialect->listens_alone(c, &alone);
    database_board_set_quiet(listeners->feed, rv == APR_SUCCESS && alone);
    listeners->count_at = now + (alone ? COUNT_EVERY : COUNT_AGAIN);
    return rv;
}
