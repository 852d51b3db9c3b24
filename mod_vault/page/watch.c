/* SPDX-License-Identifier: Apache-2.0 */
/* What one poll watches. Pages depend on few interests, so lists are searched from the front. */
#include "page/watch.h"

#include "page/page.h"

/* The page's own interest comes on top of those it may hold. */
#define WAITS_MAX (VAULT_PAGE_INTERESTS_MAX + 1)

static const apr_array_header_t *deps_of(const vault_state_t *base, int method)
{
    return APR_ARRAY_IDX(base->methods, method, vault_method_t).deps;
}

/* Methods that share an interest are counted twice here, but a page holds no more than WAITS_MAX. */
unsigned vault_watch_most(const vault_state_t *base)
{
    unsigned most = 1;
    int i;

    for (i = 0; base && i < base->methods->nelts; i++) {
        most += deps_of(base, i) ? (unsigned)deps_of(base, i)->nelts : 0;
    }
    return most < WAITS_MAX ? most : WAITS_MAX;
}

static int find(const vault_watch_t *w, vault_interest_t interest)
{
    unsigned i;

    for (i = 0; i < w->count; i++) {
        if (w->waits[i].interest == interest) {
            return (int)i;
        }
    }
    return -1;
}

static void add(vault_watch_t *w, vault_interest_t interest)
{
    if (w->count < w->room && find(w, interest) < 0) {
        w->waits[w->count++].interest = interest;
    }
}

void vault_watch_clear(vault_watch_t *w, unsigned most, apr_pool_t *pool)
{
    if (most > w->room) {
        w->room = most + 1; /* a method that comes to know one more is the usual case */
        w->waits = apr_pcalloc(pool, w->room * sizeof(*w->waits));
    }
    w->count = 0;
}

void vault_watch_add(vault_watch_t *w, vault_interest_t own, const vault_state_t *base, apr_time_t at)
{
    int i, k;

    add(w, own);
    for (i = 0; base && i < base->methods->nelts; i++) {
        const vault_method_t *m = &APR_ARRAY_IDX(base->methods, i, vault_method_t);
        for (k = 0; m->deps && !vault_method_rests(m, at) && k < m->deps->nelts; k++) {
            add(w, APR_ARRAY_IDX(m->deps, k, vault_dep_t).interest);
        }
    }
}

void vault_watch_arm(vault_watch_t *w, vault_notifier_t *n, unsigned slot, apr_pool_t *scratch)
{
    unsigned i;

    w->stamps = apr_palloc(scratch, w->count * sizeof(*w->stamps));
    for (i = 0; i < w->count; i++) {
        w->stamps[i] =
            slot ? vault_interest_arm(n, w->waits[i].interest, slot) : vault_interest_stamp(n, w->waits[i].interest);
    }
}

int vault_watch_passed(const vault_watch_t *w, vault_interest_t interest, apr_uint64_t stamp)
{
    int i = find(w, interest);

    return i < 0 || w->stamps[i] > stamp;
}

int vault_watch_moved(const vault_watch_t *w, const vault_method_t *method)
{
    int k;

    for (k = 0; method->deps && k < method->deps->nelts; k++) {
        const vault_dep_t *dep = &APR_ARRAY_IDX(method->deps, k, vault_dep_t);
        if (vault_watch_passed(w, dep->interest, dep->stamp)) {
            return 1;
        }
    }
    return method->deps == NULL;
}

apr_array_header_t *vault_watch_seen(const vault_watch_t *w, apr_pool_t *pool)
{
    apr_array_header_t *seen = apr_array_make(pool, (int)w->count, sizeof(vault_dep_t));
    unsigned i;

    for (i = 0; i < w->count; i++) {
        vault_dep_t *d = apr_array_push(seen);
        d->interest = w->waits[i].interest;
        d->stamp = w->stamps[i];
    }
    return seen;
}
