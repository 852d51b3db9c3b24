/* SPDX-License-Identifier: Apache-2.0 */
/* One round over a page. `next` is the state that is being built; the current method writes into an overlay of its own, which
 * is merged into `next` when the method has succeeded and thrown away when not.
 */
#include "page/run.h"

#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"

#define REFUSAL_FIRST 30 /* seconds */

#define AT(array, type, i) (&((type *)(array)->elts)[i])

struct vault_run_t {
    vault_pages_t *pages;
    vault_page_t page;
    const vault_calls_t *calls; /* NULL: the run's own request; else an external call */
    const vault_state_t *base;
    vault_state_t *next;
    const apr_array_header_t *seen; /* of vault_dep_t: stamps read before the round */
    apr_pool_t *pool;
    /* the current method's */
    const char *url;
    const char *failed;
    apr_array_header_t *deps;    /* of vault_dep_t: what the method waits for */
    apr_array_header_t *cursors; /* of vault_cursor_t: captured and set */
    apr_array_header_t *writes;  /* of vault_property_t; value NULL: removed */
    apr_array_header_t *acks;    /* of vault_ack_t */
};

/* The arrays are copied, what they point to is not: nobody changes that. Acks of the base are not those of its successor. */
static vault_state_t *copy_state(const vault_state_t *s, apr_pool_t *pool)
{
    vault_state_t *copy = vault_state_create(pool);

    copy->seq = s->seq;
    copy->properties = apr_array_copy(pool, s->properties);
    copy->cursors = apr_array_copy(pool, s->cursors);
    copy->methods = apr_array_copy(pool, s->methods);
    return copy;
}

vault_run_t *vault_run_create(vault_pages_t *pages, const vault_page_t *page, const vault_state_t *base,
                              apr_pool_t *pool)
{
    vault_run_t *run = apr_pcalloc(pool, sizeof(*run));

    run->pages = pages;
    run->page = *page;
    run->base = base;
    run->next = copy_state(base, pool);
    run->pool = pool;
    vault_run_begin(run, "");
    return run;
}

vault_run_t *vault_run_create_call(vault_pages_t *pages, const vault_calls_t *calls, const vault_calls_base_t *b,
                                   apr_pool_t *pool)
{
    vault_run_t *run = vault_run_create(pages, &calls->page, b->base, pool);

    run->calls = calls;
    vault_run_begin(run, b->url);
    return run;
}

const vault_state_t *vault_run_base(const vault_run_t *run)
{
    return run->base;
}

void vault_run_carry_acks(vault_run_t *run)
{
    run->next->acks = apr_array_copy(run->pool, run->base->acks);
}

void vault_run_saw(vault_run_t *run, const apr_array_header_t *seen)
{
    run->seen = seen;
}

void vault_run_begin(vault_run_t *run, const char *url)
{
    run->url = url;
    run->failed = NULL;
    run->deps = apr_array_make(run->pool, 2, sizeof(vault_dep_t));
    run->cursors = apr_array_make(run->pool, 1, sizeof(vault_cursor_t));
    run->writes = apr_array_make(run->pool, 1, sizeof(vault_property_t));
    run->acks = apr_array_make(run->pool, 1, sizeof(vault_ack_t));
}

void vault_run_fail(vault_run_t *run, const char *reason)
{
    if (!run->failed) {
        run->failed = apr_pstrdup(run->pool, reason);
    }
}

const char *vault_run_failed(const vault_run_t *run)
{
    return run->failed;
}

/* ------------------------------------------------------------------ merging */

static void merge_cursor(vault_run_t *run, const vault_cursor_t *made)
{
    vault_cursor_t *c = vault_state_cursor(run->next, made->scope, made->key);

    if (!c) {
        c = apr_array_push(run->next->cursors);
        *c = *made;
        return;
    }
    c->deps = made->deps;
    if (made->value) {
        c->value = made->value;
    }
}

static void merge_method(vault_run_t *run)
{
    vault_method_t *m = vault_state_method(run->next, run->url);

    if (m) {
        m->deps = run->deps;
        memset(&m->refusal, 0, sizeof(m->refusal));
    }
}

static int has_ack(const apr_array_header_t *acks, const char *feed, const char *data)
{
    int i;

    for (i = 0; i < acks->nelts; i++) {
        if (!strcmp(AT(acks, vault_ack_t, i)->feed, feed) && !strcmp(AT(acks, vault_ack_t, i)->data, data)) {
            return 1;
        }
    }
    return 0;
}

/* Two methods that showed the same have the feed hear it once. */
static void merge_ack(vault_run_t *run, const vault_ack_t *made)
{
    if (!has_ack(run->next->acks, made->feed, made->data)) {
        *(vault_ack_t *)apr_array_push(run->next->acks) = *made;
    }
}

int vault_run_end(vault_run_t *run, int ok)
{
    int i;

    if (!ok) {
        vault_run_fail(run, "it failed");
    }
    if (!run->failed) {
        for (i = 0; i < run->writes->nelts; i++) {
            vault_property_t *w = AT(run->writes, vault_property_t, i);
            vault_state_set(run->next, w->key, w->value);
        }
        for (i = 0; i < run->cursors->nelts; i++) {
            merge_cursor(run, AT(run->cursors, vault_cursor_t, i));
        }
        for (i = 0; i < run->acks->nelts; i++) {
            merge_ack(run, AT(run->acks, vault_ack_t, i));
        }
        merge_method(run);
    }
    return run->failed == NULL;
}

/* Keep the method's interests and stamps: when it succeeds again, it finds all that happened meanwhile. */
void vault_run_refuse(vault_run_t *run, unsigned status, apr_time_t now)
{
    vault_method_t *m = vault_state_method(run->next, run->url);
    unsigned twice = m ? 2 * m->refusal.seconds : 0;

    if (m) {
        m->refusal.status = status;
        m->refusal.seconds = !twice ? REFUSAL_FIRST : twice < VAULT_REFUSAL_MOST ? twice : VAULT_REFUSAL_MOST;
        m->refusal.until = now + apr_time_from_sec(m->refusal.seconds);
    }
}

int vault_run_is_refused(const vault_run_t *run, unsigned status)
{
    const vault_method_t *m = vault_state_method(run->base, run->url);

    return m && m->refusal.status == status;
}

vault_state_t *vault_run_state(vault_run_t *run)
{
    return run->next;
}

/* ---------------------------------------------------------------- interests */

apr_status_t vault_run_add_method(vault_run_t *run, const char *url, int max)
{
    vault_method_t *m;

    if (vault_state_method(run->next, url)) {
        return APR_SUCCESS;
    }
    if (run->next->methods->nelts >= max) {
        return APR_ENOSPC;
    }
    m = apr_array_push(run->next->methods);
    memset(m, 0, sizeof(*m));
    m->url = apr_pstrdup(run->pool, url);
    return APR_SUCCESS;
}

void vault_run_remove_method(vault_run_t *run, const char *url)
{
    vault_method_t *m = vault_state_method(run->next, url);

    if (m) {
        *m = *AT(run->next->methods, vault_method_t, run->next->methods->nelts - 1);
        apr_array_pop(run->next->methods);
    }
}

/* The order of a page's methods means nothing, so it can say whose turn it is. */
void vault_run_begin_with(vault_run_t *run, const char *url)
{
    apr_array_header_t *methods = run->next->methods;
    vault_method_t first;

    if (!vault_state_method(run->next, url)) {
        return;
    }
    while (strcmp(AT(methods, vault_method_t, 0)->url, url)) {
        first = *AT(methods, vault_method_t, 0);
        memmove(AT(methods, vault_method_t, 0), AT(methods, vault_method_t, 1),
                ((apr_size_t)methods->nelts - 1) * sizeof(first));
        *AT(methods, vault_method_t, methods->nelts - 1) = first;
    }
}

int vault_run_is_first(const vault_run_t *run)
{
    const vault_method_t *m = vault_state_method(run->base, run->url);

    return !m || !m->deps;
}

/* What the page has committed for the cursor: under this method, else by the view. */
static const vault_cursor_t *committed(const vault_run_t *run, const char *cursor)
{
    const vault_cursor_t *c = vault_state_cursor(run->base, run->url, cursor);

    return c ? c : vault_state_cursor(run->base, "", cursor);
}

int vault_run_knows(const vault_run_t *run, const char *cursor)
{
    return committed(run, cursor) != NULL;
}

static vault_cursor_t *find_captured(const vault_run_t *run, const char *cursor)
{
    int i;

    for (i = 0; i < run->cursors->nelts; i++) {
        if (!strcmp(AT(run->cursors, vault_cursor_t, i)->key, cursor)) {
            return AT(run->cursors, vault_cursor_t, i);
        }
    }
    return NULL;
}

/* The current method's own entry, made at need from what is committed. */
static vault_cursor_t *captured(vault_run_t *run, const char *cursor)
{
    vault_cursor_t *c = find_captured(run, cursor);
    const vault_cursor_t *before;

    if (c) {
        return c;
    }
    before = committed(run, cursor);
    c = apr_array_push(run->cursors);
    c->scope = run->url;
    c->key = apr_pstrdup(run->pool, cursor);
    c->value = before ? before->value : NULL;
    c->deps = apr_array_make(run->pool, 1, sizeof(vault_dep_t));
    return c;
}

/* The oldest stamp counts: what was read after the first capture may be older than what a second one would promise. */
static void capture(apr_array_header_t *deps, vault_interest_t interest, apr_uint64_t stamp)
{
    vault_dep_t *d = vault_deps_find(deps, interest);

    if (!d) {
        d = apr_array_push(deps);
        d->interest = interest;
        d->stamp = stamp;
    }
    else if (stamp < d->stamp) {
        d->stamp = stamp;
    }
}

static apr_status_t hold_for(const vault_run_t *run, const char *interest, vault_interest_t *i, apr_uint64_t *stamp)
{
    return run->calls ? vault_page_calls_hold(run->pages, run->calls, interest, i, stamp)
                      : vault_page_hold(run->pages, &run->page, interest, i, stamp);
}

/* @return 0: it cannot be kept, and the method has failed */
static int hold(vault_run_t *run, const char *interest, vault_interest_t *i, apr_uint64_t *stamp)
{
    apr_status_t rv = hold_for(run, interest, i, stamp);

    if (rv != APR_SUCCESS) {
        vault_run_fail(run, apr_psprintf(run->pool, "the interest \"%.80s\" cannot be kept: %s", interest,
                                         rv == APR_EINVAL     ? "its name is empty or too long"
                                         : rv == APR_NOTFOUND ? "the page is gone"
                                         : rv == APR_ECONNABORTED
                                             ? "the run is over"
                                             : "VaultMaxPageInterests or VaultMaxInterests is reached"));
    }
    return rv == APR_SUCCESS;
}

void vault_run_learn_interest(vault_run_t *run, const char *interest)
{
    const vault_dep_t *seen;
    vault_interest_t i;
    apr_uint64_t stamp;

    if (hold(run, interest, &i, &stamp)) {
        seen = vault_deps_find(run->seen, i);
        capture(run->deps, i, seen ? seen->stamp : 0);
    }
}

int vault_run_waits_for(vault_run_t *run, const char *interest)
{
    vault_interest_t i;
    apr_uint64_t stamp;

    return run->deps->nelts && hold_for(run, interest, &i, &stamp) == APR_SUCCESS && vault_deps_find(run->deps, i);
}

int vault_run_create_interest(vault_run_t *run, const char *cursor, const char *interest)
{
    const vault_cursor_t *before;
    const vault_dep_t *seen;
    vault_interest_t i;
    apr_uint64_t stamp;

    if (!hold(run, interest, &i, &stamp)) {
        return 1;
    }
    before = committed(run, cursor);
    seen = before ? vault_deps_find(before->deps, i) : NULL;
    capture(captured(run, cursor)->deps, i, stamp);
    capture(run->deps, i, stamp);
    return !(seen && stamp <= seen->stamp);
}

static void remove_dep(apr_array_header_t *deps, vault_interest_t interest)
{
    vault_dep_t *d = vault_deps_find(deps, interest);

    if (d) {
        *d = *AT(deps, vault_dep_t, deps->nelts - 1);
        apr_array_pop(deps);
    }
}

void vault_run_remove_interest(vault_run_t *run, const char *interest)
{
    vault_interest_t i;
    apr_uint64_t stamp;
    int k;

    if (hold_for(run, interest, &i, &stamp) != APR_SUCCESS) {
        return;
    }
    remove_dep(run->deps, i);
    for (k = 0; k < run->cursors->nelts; k++) {
        remove_dep(AT(run->cursors, vault_cursor_t, k)->deps, i);
    }
}

const char *vault_run_cursor(const vault_run_t *run, const char *cursor)
{
    const vault_cursor_t *c = committed(run, cursor);

    return c ? c->value : NULL;
}

apr_status_t vault_run_set_cursor(vault_run_t *run, const char *cursor, const char *value)
{
    if (strlen(value) > VAULT_PROPERTY_VALUE_MAX) {
        vault_run_fail(run, "its cursor is too long");
        return APR_EINVAL;
    }
    captured(run, cursor)->value = apr_pstrdup(run->pool, value);
    return APR_SUCCESS;
}

/* --------------------------------------------------------------- properties */

static vault_property_t *find_write(const vault_run_t *run, const char *key)
{
    int i;

    for (i = 0; i < run->writes->nelts; i++) {
        if (!strcmp(AT(run->writes, vault_property_t, i)->key, key)) {
            return AT(run->writes, vault_property_t, i);
        }
    }
    return NULL;
}

const char *vault_run_get(const vault_run_t *run, const char *key)
{
    const vault_property_t *p = find_write(run, key);

    if (!p) {
        p = vault_state_property(run->base, key);
    }
    return p ? p->value : NULL;
}

apr_status_t vault_run_set(vault_run_t *run, const char *key, const char *value)
{
    vault_property_t *w;

    if (!key[0] || strlen(key) > VAULT_PROPERTY_KEY_MAX || (value && strlen(value) > VAULT_PROPERTY_VALUE_MAX)) {
        return APR_EINVAL;
    }
    if (!(w = find_write(run, key))) {
        w = apr_array_push(run->writes);
        w->key = apr_pstrdup(run->pool, key);
    }
    w->value = value ? apr_pstrdup(run->pool, value) : NULL;
    return APR_SUCCESS;
}

apr_status_t vault_run_on_ack(vault_run_t *run, const char *feed, const char *data)
{
    vault_ack_t *a;

    if (strlen(data) > VAULT_PROPERTY_VALUE_MAX) {
        vault_run_fail(run, "what it wants to hear of when the answer is acknowledged is too long");
        return APR_EINVAL;
    }
    if (has_ack(run->acks, feed, data)) {
        return APR_SUCCESS;
    }
    if (run->acks->nelts >= VAULT_ACKS_MAX) {
        vault_run_fail(run, "it wants to hear of too much when the answer is acknowledged");
        return APR_ENOSPC;
    }
    a = apr_array_push(run->acks);
    a->feed = apr_pstrdup(run->pool, feed);
    a->data = apr_pstrdup(run->pool, data);
    return APR_SUCCESS;
}

/* ------------------------------------------------------ external calls (page_calls.h) */

vault_state_t *vault_run_made(const vault_run_t *run)
{
    vault_state_t *made = vault_state_create(run->pool);
    vault_method_t *m = apr_array_push(made->methods);
    int i;

    memset(m, 0, sizeof(*m));
    m->url = run->url;
    m->deps = run->deps;
    made->cursors = run->cursors;
    made->acks = run->acks;
    for (i = 0; i < run->writes->nelts; i++) {
        const vault_property_t *w = AT(run->writes, vault_property_t, i);
        vault_state_set(made, w->key, w->value ? apr_pstrcat(run->pool, "=", w->value, NULL) : "");
    }
    return made;
}

/* A method that asks for the same inside has both shown, and only one of the two can be where it goes on. */
static void take_cursor(vault_run_t *run, const vault_cursor_t *made)
{
    vault_cursor_t *c;

    if (find_captured(run, made->key)) {
        vault_run_fail(run, "the same call of a feed was made inside and by the application");
        return;
    }
    c = apr_array_push(run->cursors);
    *c = *made;
    c->scope = run->url;
}

void vault_run_take(vault_run_t *run, const vault_state_t *made)
{
    int i, k;

    for (i = 0; i < made->cursors->nelts; i++) {
        take_cursor(run, AT(made->cursors, vault_cursor_t, i));
    }
    for (i = 0; i < made->methods->nelts; i++) {
        const apr_array_header_t *deps = AT(made->methods, vault_method_t, i)->deps;
        for (k = 0; deps && k < deps->nelts; k++) {
            capture(run->deps, AT(deps, vault_dep_t, k)->interest, AT(deps, vault_dep_t, k)->stamp);
        }
    }
    for (i = 0; i < made->properties->nelts; i++) {
        const vault_property_t *w = AT(made->properties, vault_property_t, i);
        if (!find_write(run, w->key)) { /* the response's own headers override the calls */
            vault_run_set(run, w->key, w->value[0] ? w->value + 1 : NULL);
        }
    }
    for (i = 0; i < made->acks->nelts; i++) {
        vault_run_on_ack(run, AT(made->acks, vault_ack_t, i)->feed, AT(made->acks, vault_ack_t, i)->data);
    }
}
