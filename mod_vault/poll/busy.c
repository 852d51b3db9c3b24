/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that another request is running. An entry stays for its URL, so a poll that waits for long needs no more
 * memory each time. */
#include "poll/busy.h"

#include "apr_strings.h"

#include "base/now.h"
#include "server/server.h"

typedef struct busy_t {
    const char *url;
    vault_output_lead_t lead; /* ref.index 0: it is not busy */
    apr_time_t until;         /* then the poll forgets the lead */
    int waited;
} busy_t;

static busy_t *find(const vault_busy_t *busy, const char *url)
{
    int i;

    for (i = 0; busy->methods && i < busy->methods->nelts; i++) {
        busy_t *b = &APR_ARRAY_IDX(busy->methods, i, busy_t);
        if (!strcmp(b->url, url)) {
            return b;
        }
    }
    return NULL;
}

void vault_busy_note(vault_busy_t *busy, const char *url, const vault_output_lead_t *lead, apr_time_t until,
                     apr_pool_t *pool)
{
    busy_t *b = find(busy, url);

    if (!b) {
        if (!busy->methods) {
            busy->methods = apr_array_make(pool, 1, sizeof(busy_t));
        }
        b = apr_array_push(busy->methods);
        b->url = apr_pstrdup(pool, url);
    }
    b->lead = *lead;
    b->until = until;
    b->waited = 1;
}

int vault_busy_is(vault_busy_t *busy, const char *url)
{
    busy_t *b = find(busy, url);

    if (b && b->lead.ref.index && !vault_output_is_being_made(vault_server->outputs, &b->lead.ref)) {
        b->lead.ref.index = 0;
    }
    else if (b && b->lead.ref.index && vault_now() >= b->until) {
        vault_output_forget_lead(vault_server->outputs, &b->lead.ref);
        b->lead.ref.index = 0;
        b->waited = 0;
    }
    return b && b->lead.ref.index;
}

apr_time_t vault_busy_until(const vault_busy_t *busy, apr_time_t now, apr_time_t at)
{
    int i;

    for (i = 0; busy->methods && i < busy->methods->nelts; i++) {
        const busy_t *b = &APR_ARRAY_IDX(busy->methods, i, busy_t);
        if (b->lead.ref.index && b->until > now && b->until < at) {
            at = b->until;
        }
    }
    return at;
}

int vault_busy_has_waited(vault_busy_t *busy, const char *url)
{
    busy_t *b = find(busy, url);
    int waited = b && b->waited;

    if (waited) {
        b->waited = 0;
    }
    return waited;
}

unsigned vault_busy_max(const vault_busy_t *busy)
{
    return busy->methods ? (unsigned)busy->methods->nelts : 0;
}

void vault_busy_list(const vault_busy_t *busy, vault_interest_set_t *interests)
{
    int i;

    for (i = 0; busy->methods && i < busy->methods->nelts; i++) {
        const busy_t *b = &APR_ARRAY_IDX(busy->methods, i, busy_t);
        if (b->lead.ref.index) {
            vault_interest_set_add_one(interests, b->lead.waiters);
        }
    }
}
