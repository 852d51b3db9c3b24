/* SPDX-License-Identifier: Apache-2.0 */
/* The interests that a poll waits for. A page depends on few interests, so the lists are searched linearly. */
#include "page/interest_set.h"

#include "page/page.h"

/* The page's own interest comes in addition to those that it may hold. */
#define WAITS_MAX (VAULT_PAGE_INTERESTS_MAX + 1)

static const apr_array_header_t *deps_of(const vault_state_t *base, int method)
{
    return APR_ARRAY_IDX(base->methods, method, vault_method_t).deps;
}

/* An interest of several methods is counted several times here, but a page holds no more than WAITS_MAX. */
unsigned vault_interest_set_max(const vault_state_t *base)
{
    unsigned max = 1;
    int i;

    for (i = 0; base && i < base->methods->nelts; i++) {
        max += deps_of(base, i) ? (unsigned)deps_of(base, i)->nelts : 0;
    }
    return max < WAITS_MAX ? max : WAITS_MAX;
}

static int find(const vault_interest_set_t *set, vault_interest_t interest)
{
    unsigned i;

    for (i = 0; i < set->count; i++) {
        if (set->waits[i].interest == interest) {
            return (int)i;
        }
    }
    return -1;
}

void vault_interest_set_add_one(vault_interest_set_t *set, vault_interest_t interest)
{
    if (set->count < set->room && find(set, interest) < 0) {
        set->waits[set->count++].interest = interest;
    }
}

void vault_interest_set_clear(vault_interest_set_t *set, unsigned max, apr_pool_t *pool)
{
    if (max > set->room) {
        set->room = max + 1; /* usually a method learns of one more interest */
        set->waits = apr_pcalloc(pool, set->room * sizeof(*set->waits));
    }
    set->count = 0;
}

void vault_interest_set_add(vault_interest_set_t *set, vault_interest_t own, const vault_state_t *base, apr_time_t at)
{
    int i, k;

    vault_interest_set_add_one(set, own);
    for (i = 0; base && i < base->methods->nelts; i++) {
        const vault_method_t *m = &APR_ARRAY_IDX(base->methods, i, vault_method_t);
        for (k = 0; m->deps && !vault_method_rests(m, at) && k < m->deps->nelts; k++) {
            vault_interest_set_add_one(set, APR_ARRAY_IDX(m->deps, k, vault_dep_t).interest);
        }
    }
}

void vault_interest_set_arm(vault_interest_set_t *set, vault_notifier_t *n, unsigned slot, apr_pool_t *scratch)
{
    unsigned i;

    set->stamps = apr_palloc(scratch, set->count * sizeof(*set->stamps));
    for (i = 0; i < set->count; i++) {
        set->stamps[i] = slot ? vault_interest_arm(n, set->waits[i].interest, slot)
                              : vault_interest_stamp(n, set->waits[i].interest);
    }
}

int vault_interest_set_has_moved(const vault_interest_set_t *set, vault_interest_t interest, apr_uint64_t stamp)
{
    int i = find(set, interest);

    return i < 0 || set->stamps[i] > stamp;
}

int vault_interest_set_method_moved(const vault_interest_set_t *set, const vault_method_t *method)
{
    int k;

    for (k = 0; method->deps && k < method->deps->nelts; k++) {
        const vault_dep_t *dep = &APR_ARRAY_IDX(method->deps, k, vault_dep_t);
        if (vault_interest_set_has_moved(set, dep->interest, dep->stamp)) {
            return 1;
        }
    }
    return method->deps == NULL;
}

apr_array_header_t *vault_interest_set_stamps(const vault_interest_set_t *set, apr_pool_t *pool)
{
    apr_array_header_t *seen = apr_array_make(pool, (int)set->count, sizeof(vault_dep_t));
    unsigned i;

    for (i = 0; i < set->count; i++) {
        vault_dep_t *d = apr_array_push(seen);
        d->interest = set->waits[i].interest;
        d->stamp = set->stamps[i];
    }
    return seen;
}
