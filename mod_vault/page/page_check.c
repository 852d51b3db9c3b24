/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the table of pages is as page.h describes it. On a running server it reads each page under its lock, so
 * what it finds in one page is an error. What only a comparison of many pages shows is an error only if several counts
 * agree. */
#include "page/page_record.h"

#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"

/* A page that is dropped after it was counted, and before its interests are read, makes an interest look short. This
 * does not happen this many times in a row. */
#define COUNTS 5
#define BETWEEN_COUNTS apr_time_from_msec(20)

typedef struct check_t {
    vault_pages_t *pages;
    int live;         /* other threads and processes use the table meanwhile */
    apr_pool_t *pool; /* for one page */
} check_t;

/* -------------------------------------------------------------------- holds */

static int is_in_use(const check_t *c, vault_interest_t interest)
{
    char name[VAULT_INTEREST_MAX + 1];

    vault_interest_name(c->pages->notifier, interest, name, sizeof(name));
    return name[0] != '\0';
}

static int is_held(const vault_holds_t *h, vault_interest_t interest, apr_uint32_t before)
{
    apr_uint32_t i;

    for (i = 0; h && i < h->count && i < before; i++) {
        if (h->interest[i] == interest) {
            return 1;
        }
    }
    return 0;
}

static const char *check_holds(const check_t *c, const vault_page_record_t *rec, const vault_holds_t *h)
{
    apr_uint32_t i;

    if (!is_in_use(c, rec->own)) {
        return "a page does not hold its own interest";
    }
    if (rec->holds && (!h || h->count > h->room || h->room > VAULT_PAGE_INTERESTS_MAX)) {
        return "the list of interests that a page holds is not valid";
    }
    for (i = 0; h && i < h->count; i++) {
        if (!is_in_use(c, h->interest[i])) {
            return "a page holds an interest that is not in use";
        }
        if (is_held(h, h->interest[i], i)) {
            return "a page holds an interest twice";
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------- states */

static const char *check_deps(const check_t *c, const apr_array_header_t *deps, const vault_holds_t *h)
{
    int i;

    for (i = 0; deps && i < deps->nelts; i++) {
        const vault_dep_t *d = &APR_ARRAY_IDX(deps, i, vault_dep_t);
        if (!is_held(h, d->interest, APR_UINT32_MAX)) {
            return "a page does not hold an interest that its state names";
        }
        if (d->stamp > vault_notifier_now(c->pages->notifier)) {
            return "a page has seen a stamp that is ahead of the clock";
        }
    }
    return NULL;
}

static const char *check_state(const check_t *c, vault_off_t block, const vault_holds_t *h)
{
    const vault_state_t *s = block ? vault_page_record_read(c->pages, block, c->pool) : NULL;
    const char *wrong = block && !s ? "the stored state of a page is not valid" : NULL;
    int i;

    for (i = 0; s && i < s->methods->nelts && !wrong; i++) {
        wrong = check_deps(c, APR_ARRAY_IDX(s->methods, i, vault_method_t).deps, h);
    }
    for (i = 0; s && i < s->cursors->nelts && !wrong; i++) {
        wrong = check_deps(c, APR_ARRAY_IDX(s->cursors, i, vault_cursor_t).deps, h);
    }
    return wrong;
}

static const char *check_place(const check_t *c, vault_page_record_t *rec, const vault_off_t *place)
{
    const vault_off_t *other;

    if (*place == rec->base) {
        return "a block is used twice";
    }
    for (other = rec->staged; other < place; other++) {
        if (*other == *place) {
            return "a block is used twice";
        }
    }
    if (vault_page_record_seq(c->pages, *place) > rec->last_seq) {
        return "an answer has a number that was never given";
    }
    return vault_page_chain_find(c->pages, rec, vault_page_record_seq(c->pages, *place)) == place
               ? NULL
               : "two answers have one number";
}

static const char *check_calls(const check_t *c, const vault_page_record_t *rec, const vault_holds_t *h)
{
    if (rec->calls && rec->calls_open == VAULT_CALLS_CLOSED) {
        return "a page keeps the additions of calls to a run that has ended";
    }
    if (rec->calls && rec->calls == rec->base) {
        return "a block is used twice";
    }
    return check_state(c, rec->calls, h);
}

static const char *check_states(const check_t *c, vault_page_record_t *rec, const vault_holds_t *h)
{
    const char *wrong = check_state(c, rec->base, h);
    int i;

    if (!wrong) {
        wrong = check_calls(c, rec, h);
    }

    for (i = 0; i < VAULT_PAGE_STAGED && !wrong; i++) {
        wrong = check_state(c, rec->staged[i], h);
        if (!wrong && rec->staged[i]) {
            wrong = check_place(c, rec, &rec->staged[i]);
        }
    }
    return wrong;
}

/* ------------------------------------------------------------------ records */

static const char *check_record_locked(const check_t *c, vault_page_record_t *rec)
{
    const vault_holds_t *h = vault_page_record_holds(c->pages, rec);
    const char *wrong;

    if (!(rec->id[0] | rec->id[1])) {
        /* The next sweep finds what a killed process left of a page. */
        return !c->live && vault_page_record_has_left(rec) ? "a free page still has resources" : NULL;
    }
    wrong = check_holds(c, rec, h);
    return wrong ? wrong : check_states(c, rec, h);
}

static const char *check_record(const check_t *c, vault_page_record_t *rec)
{
    const char *wrong;

    apr_pool_clear(c->pool);
    if (!c->live) {
        return check_record_locked(c, rec);
    }
    vault_page_record_lock(c->pages, rec);
    wrong = check_record_locked(c, rec);
    vault_lock_release(&rec->lock);
    return wrong;
}

/* A record that a killed process was handling is neither free nor a page. It is lost, which is not an error. */
static const char *check_table(vault_pages_t *p)
{
    apr_uint32_t i, n = 0, used = 0, unused = vault_page_table_free(p);

    for (i = p->table->free; i && n < unused; i = p->records[i].next, n++) {
        if (i > p->table->fresh || (p->records[i].id[0] | p->records[i].id[1])) {
            return "a page is in use and free";
        }
    }
    for (i = 1; i <= p->table->fresh; i++) {
        used += (vault_load(&p->records[i].id[0]) | vault_load(&p->records[i].id[1])) != 0;
    }
    if (unused > p->table->fresh || used > p->table->fresh - unused) {
        return "the chain of free pages is wrong";
    }
    return p->table->count != p->table->fresh - unused ? "the count of pages is wrong" : vault_page_ids_check(p);
}

static const char *check_records(const check_t *c)
{
    apr_uint32_t i, last = vault_pages_last(c->pages);
    const char *wrong = NULL;

    for (i = 1; i <= last && !wrong; i++) {
        wrong = check_record(c, &c->pages->records[i]);
    }
    return wrong;
}

const char *vault_pages_check(vault_pages_t *p)
{
    check_t c = {.pages = p};
    const char *wrong;

    apr_pool_create(&c.pool, NULL);
    wrong = check_records(&c);
    if (!wrong) {
        apr_pool_clear(c.pool);
        wrong = vault_page_clients_check(p, c.pool);
    }
    apr_pool_destroy(c.pool);
    return wrong ? wrong : check_table(p);
}

/* ------------------------------------------------------------------ holders */

/* Record by how much each interest is short. @return 1: one of them is short by as much as before */
static int compare_holders(vault_pages_t *p, const apr_uint32_t *counted, apr_uint32_t *missing, int first)
{
    apr_uint32_t i, most = vault_notifier_interests(p->notifier);
    int any = 0;

    for (i = 1; i <= most; i++) {
        apr_uint32_t holders = vault_interest_holders(p->notifier, i);
        apr_uint32_t short_by = counted[i] > holders ? counted[i] - holders : 0;

        missing[i] = first || missing[i] == short_by ? short_by : 0;
        any |= missing[i] != 0;
    }
    return any;
}

static void count_holds(vault_pages_t *p, apr_uint32_t *counted, vault_interest_t last)
{
    apr_uint32_t i, k, records = vault_pages_last(p);

    for (i = 1; i <= records; i++) {
        vault_page_record_t *rec = &p->records[i];
        const vault_holds_t *h;

        vault_page_record_lock(p, rec);
        h = vault_page_record_holds(p, rec);
        for (k = 0; h && k < h->count; k++) {
            counted[h->interest[k] <= last ? h->interest[k] : 0]++;
        }
        counted[rec->own <= last ? rec->own : 0]++;
        vault_lock_release(&rec->lock);
    }
}

/* A killed process may have left an interest with more holders than there are pages that hold it. */
static const char *check_holders(vault_pages_t *p, apr_pool_t *pool)
{
    apr_size_t size = ((apr_size_t)vault_notifier_interests(p->notifier) + 1) * sizeof(apr_uint32_t);
    apr_uint32_t *counted = apr_palloc(pool, size), *missing = apr_pcalloc(pool, size);
    int n;

    for (n = 0; n < COUNTS; n++) {
        if (n) {
            apr_sleep(BETWEEN_COUNTS);
        }
        memset(counted, 0, size);
        count_holds(p, counted, vault_notifier_interests(p->notifier));
        if (!compare_holders(p, counted, missing, !n)) {
            return NULL;
        }
    }
    return "an interest has fewer holders than there are pages that hold it";
}

const char *vault_pages_check_live(vault_pages_t *p, apr_pool_t *pool)
{
    check_t c = {.pages = p, .live = 1};
    const char *wrong;

    apr_pool_create(&c.pool, pool);
    wrong = check_records(&c);
    if (!wrong) {
        vault_page_table_lock(p);
        wrong = check_table(p);
        vault_lock_release(&p->table->lock);
    }
    if (!wrong) {
        apr_pool_clear(c.pool);
        wrong = check_holders(p, c.pool);
    }
    apr_pool_destroy(c.pool);
    return wrong;
}
