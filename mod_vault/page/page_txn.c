/* SPDX-License-Identifier: Apache-2.0 */
/* A transaction over a page's state. `next` is the state under construction. The current method writes into an
 * overlay, which is merged into `next` if the method succeeds and discarded if it fails.
 */
#include "page/page_txn.h"

#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"

#define REFUSAL_FIRST 30 /* seconds */

#define AT(array, type, i) (&((type *)(array)->elts)[i])

struct vault_page_txn_t {
    vault_pages_t *pages;
    vault_page_t page;
    const vault_calls_t *calls; /* NULL: not an external call */
    const vault_state_t *base;
    vault_state_t *next;
    const apr_array_header_t *seen; /* of vault_dep_t: stamps that were read before the transaction */
    apr_pool_t *pool;
    /* of the current method */
    const char *url;
    const char *failed;
    int shared;                  /* its output is that of another run */
    vault_personal_t personal;   /* why it is not */
    apr_array_header_t *deps;    /* of vault_dep_t: the interests that the method waits for */
    apr_array_header_t *cursors; /* of vault_cursor_t: captured and set */
    apr_array_header_t *writes;  /* of vault_property_t; value NULL: removed */
    apr_array_header_t *acks;    /* of vault_ack_t: to be reported to feeds */
    apr_array_header_t *answers; /* of vault_txn_answer_t */
};

/* Copies the arrays but not what they point to, which is never changed. The acknowledgements to report belong
 * to one state only, so they are not copied. */
static vault_state_t *copy_state(const vault_state_t *s, apr_pool_t *pool)
{
    vault_state_t *copy = vault_state_create(pool);

    copy->seq = s->seq;
    copy->properties = apr_array_copy(pool, s->properties);
    copy->cursors = apr_array_copy(pool, s->cursors);
    copy->methods = apr_array_copy(pool, s->methods);
    return copy;
}

vault_page_txn_t *vault_page_txn_create(vault_pages_t *pages, const vault_page_t *page, const vault_state_t *base,
                                        apr_pool_t *pool)
{
    vault_page_txn_t *txn = apr_pcalloc(pool, sizeof(*txn));

    txn->pages = pages;
    txn->page = *page;
    txn->base = base;
    txn->next = copy_state(base, pool);
    txn->pool = pool;
    vault_page_txn_begin(txn, "");
    return txn;
}

vault_page_txn_t *vault_page_txn_create_call(vault_pages_t *pages, const vault_calls_t *calls,
                                             const vault_calls_base_t *b, apr_pool_t *pool)
{
    vault_page_txn_t *txn = vault_page_txn_create(pages, &calls->page, b->base, pool);

    txn->calls = calls;
    vault_page_txn_begin(txn, b->url);
    return txn;
}

const vault_state_t *vault_page_txn_base(const vault_page_txn_t *txn)
{
    return txn->base;
}

void vault_page_txn_carry_acks(vault_page_txn_t *txn)
{
    txn->next->acks = apr_array_copy(txn->pool, txn->base->acks);
}

void vault_page_txn_saw(vault_page_txn_t *txn, const apr_array_header_t *seen)
{
    txn->seen = seen;
}

static void begin_overlay(vault_page_txn_t *txn)
{
    txn->deps = apr_array_make(txn->pool, 2, sizeof(vault_dep_t));
    txn->cursors = apr_array_make(txn->pool, 1, sizeof(vault_cursor_t));
    txn->writes = apr_array_make(txn->pool, 1, sizeof(vault_property_t));
    txn->acks = apr_array_make(txn->pool, 1, sizeof(vault_ack_t));
    txn->answers = apr_array_make(txn->pool, 1, sizeof(vault_txn_answer_t));
}

void vault_page_txn_begin(vault_page_txn_t *txn, const char *url)
{
    txn->url = url;
    txn->failed = NULL;
    txn->shared = 0;
    txn->personal = VAULT_PERSONAL_NOT;
    begin_overlay(txn);
}

const char *vault_page_txn_url(const vault_page_txn_t *txn)
{
    return txn->url;
}

void vault_page_txn_fail(vault_page_txn_t *txn, const char *reason)
{
    if (!txn->failed) {
        txn->failed = apr_pstrdup(txn->pool, reason);
    }
}

void vault_page_txn_share(vault_page_txn_t *txn, int shared, vault_personal_t personal)
{
    txn->shared = shared != 0;
    txn->personal = personal;
}

const char *vault_page_txn_failed(const vault_page_txn_t *txn)
{
    return txn->failed;
}

/* ------------------------------------------------------------------ merging */

static void merge_cursor(vault_page_txn_t *txn, const vault_cursor_t *made)
{
    vault_cursor_t *c = vault_state_cursor(txn->next, made->scope, made->key);

    if (!c) {
        c = apr_array_push(txn->next->cursors);
        *c = *made;
        return;
    }
    c->deps = made->deps;
    if (made->value) {
        c->value = made->value;
    }
}

static void merge_method(vault_page_txn_t *txn)
{
    vault_method_t *m = vault_state_method(txn->next, txn->url);

    if (m) {
        m->deps = txn->deps;
        memset(&m->refusal, 0, sizeof(m->refusal));
        m->shared += (apr_uint32_t)txn->shared;
        m->personal = txn->personal;
    }
}

/* If two methods have shown the same data, the feed gets one report. */
static void merge_ack(vault_page_txn_t *txn, const vault_ack_t *made)
{
    if (!vault_acks_have(txn->next->acks, made)) {
        *(vault_ack_t *)apr_array_push(txn->next->acks) = *made;
    }
}

int vault_page_txn_end(vault_page_txn_t *txn, int ok)
{
    int i;

    if (!ok) {
        vault_page_txn_fail(txn, "it failed");
    }
    if (!txn->failed) {
        for (i = 0; i < txn->writes->nelts; i++) {
            vault_property_t *w = AT(txn->writes, vault_property_t, i);
            vault_state_set(txn->next, w->key, w->value);
        }
        for (i = 0; i < txn->cursors->nelts; i++) {
            merge_cursor(txn, AT(txn->cursors, vault_cursor_t, i));
        }
        for (i = 0; i < txn->acks->nelts; i++) {
            merge_ack(txn, AT(txn->acks, vault_ack_t, i));
        }
        merge_method(txn);
    }
    return txn->failed == NULL;
}

/* The method keeps its interests and stamps, so when it succeeds again it finds all changes since. */
void vault_page_txn_refuse(vault_page_txn_t *txn, unsigned status, apr_time_t now)
{
    vault_method_t *m = vault_state_method(txn->next, txn->url);
    unsigned twice = m ? 2 * m->refusal.seconds : 0;

    if (m) {
        m->refusal.status = status;
        m->refusal.seconds = !twice ? REFUSAL_FIRST : twice < VAULT_REFUSAL_MOST ? twice : VAULT_REFUSAL_MOST;
        m->refusal.until = now + apr_time_from_sec(m->refusal.seconds);
    }
}

int vault_page_txn_is_refused(const vault_page_txn_t *txn, unsigned status)
{
    const vault_method_t *m = vault_state_method(txn->base, txn->url);

    return m && m->refusal.status == status;
}

vault_state_t *vault_page_txn_state(vault_page_txn_t *txn)
{
    return txn->next;
}

/* ---------------------------------------------------------------- interests */

apr_status_t vault_page_txn_add_method(vault_page_txn_t *txn, const char *url, int max)
{
    vault_method_t *m;

    if (vault_state_method(txn->next, url)) {
        return APR_SUCCESS;
    }
    if (txn->next->methods->nelts >= max) {
        return APR_ENOSPC;
    }
    m = apr_array_push(txn->next->methods);
    memset(m, 0, sizeof(*m));
    m->url = apr_pstrdup(txn->pool, url);
    return APR_SUCCESS;
}

void vault_page_txn_remove_method(vault_page_txn_t *txn, const char *url)
{
    vault_method_t *m = vault_state_method(txn->next, url);

    if (m) {
        *m = *AT(txn->next->methods, vault_method_t, txn->next->methods->nelts - 1);
        apr_array_pop(txn->next->methods);
    }
}

/* The order of the methods has no other meaning, so it can say which method runs next. */
void vault_page_txn_begin_with(vault_page_txn_t *txn, const char *url)
{
    apr_array_header_t *methods = txn->next->methods;
    vault_method_t first;

    if (!vault_state_method(txn->next, url)) {
        return;
    }
    while (strcmp(AT(methods, vault_method_t, 0)->url, url)) {
        first = *AT(methods, vault_method_t, 0);
        memmove(AT(methods, vault_method_t, 0), AT(methods, vault_method_t, 1),
                ((apr_size_t)methods->nelts - 1) * sizeof(first));
        *AT(methods, vault_method_t, methods->nelts - 1) = first;
    }
}

int vault_page_txn_is_first(const vault_page_txn_t *txn)
{
    const vault_method_t *m = vault_state_method(txn->base, txn->url);

    return !m || !m->deps;
}

/* The committed cursor of this method, or else of the view. */
const vault_cursor_t *vault_page_txn_committed(const vault_page_txn_t *txn, const char *cursor)
{
    const vault_cursor_t *c = vault_state_cursor(txn->base, txn->url, cursor);

    return c ? c : vault_state_cursor(txn->base, "", cursor);
}

int vault_page_txn_knows(const vault_page_txn_t *txn, const char *cursor)
{
    return vault_page_txn_committed(txn, cursor) != NULL;
}

static vault_cursor_t *find_captured(const vault_page_txn_t *txn, const char *cursor)
{
    int i;

    for (i = 0; i < txn->cursors->nelts; i++) {
        if (!strcmp(AT(txn->cursors, vault_cursor_t, i)->key, cursor)) {
            return AT(txn->cursors, vault_cursor_t, i);
        }
    }
    return NULL;
}

/* The current method's entry for the cursor; created from the committed one if needed. */
static vault_cursor_t *captured(vault_page_txn_t *txn, const char *cursor)
{
    vault_cursor_t *c = find_captured(txn, cursor);
    const vault_cursor_t *before;

    if (c) {
        return c;
    }
    before = vault_page_txn_committed(txn, cursor);
    c = apr_array_push(txn->cursors);
    c->scope = txn->url;
    c->key = apr_pstrdup(txn->pool, cursor);
    c->value = before ? before->value : NULL;
    c->deps = apr_array_make(txn->pool, 1, sizeof(vault_dep_t));
    return c;
}

static apr_status_t hold_for(const vault_page_txn_t *txn, const char *interest, vault_interest_t *i,
                             apr_uint64_t *stamp)
{
    return txn->calls ? vault_page_calls_hold(txn->pages, txn->calls, interest, i, stamp)
                      : vault_page_hold(txn->pages, &txn->page, interest, i, stamp);
}

/* @return 0: the page cannot hold the interest, and the method has failed */
static int hold(vault_page_txn_t *txn, const char *interest, vault_interest_t *i, apr_uint64_t *stamp)
{
    apr_status_t rv = hold_for(txn, interest, i, stamp);

    if (rv != APR_SUCCESS) {
        vault_page_txn_fail(txn, apr_psprintf(txn->pool, "the interest \"%.80s\" cannot be kept: %s", interest,
                                              rv == APR_EINVAL     ? "its name is empty or too long"
                                              : rv == APR_NOTFOUND ? "the page is gone"
                                              : rv == APR_ECONNABORTED
                                                  ? "the run is over"
                                                  : "VaultMaxPageInterests or VaultMaxInterests is reached"));
    }
    return rv == APR_SUCCESS;
}

int vault_page_txn_hold_deps(vault_page_txn_t *txn, const vault_dep_t *deps, unsigned count)
{
    char name[VAULT_INTEREST_MAX + 1];
    vault_interest_t same;
    apr_uint64_t stamp;
    unsigned i;

    for (i = 0; i < count; i++) {
        vault_interest_name(vault_pages_notifier(txn->pages), deps[i].interest, name, sizeof(name));
        if (!name[0] || hold_for(txn, name, &same, &stamp) != APR_SUCCESS || same != deps[i].interest) {
            return 0;
        }
    }
    return 1;
}

apr_pool_t *vault_page_txn_pool(const vault_page_txn_t *txn)
{
    return txn->pool;
}

void vault_page_txn_learn_interest(vault_page_txn_t *txn, const char *interest)
{
    const vault_dep_t *seen;
    vault_interest_t i;
    apr_uint64_t stamp;

    if (hold(txn, interest, &i, &stamp)) {
        seen = vault_deps_find(txn->seen, i);
        vault_deps_add(txn->deps, i, seen ? seen->stamp : 0);
    }
}

int vault_page_txn_waits_for(vault_page_txn_t *txn, const char *interest)
{
    vault_interest_t i;
    apr_uint64_t stamp;

    return txn->deps->nelts && hold_for(txn, interest, &i, &stamp) == APR_SUCCESS && vault_deps_find(txn->deps, i);
}

int vault_page_txn_has_moved(const vault_page_txn_t *txn, const char *cursor, vault_interest_t interest,
                             apr_uint64_t stamp)
{
    const vault_cursor_t *before = vault_page_txn_committed(txn, cursor);
    const vault_dep_t *seen = before ? vault_deps_find(before->deps, interest) : NULL;

    return !(seen && stamp <= seen->stamp);
}

const apr_array_header_t *vault_page_txn_answers(const vault_page_txn_t *txn)
{
    return txn->answers;
}

int vault_page_txn_create_interest(vault_page_txn_t *txn, const char *cursor, const char *interest)
{
    vault_txn_answer_t *answer;
    vault_interest_t i;
    apr_uint64_t stamp;

    if (!hold(txn, interest, &i, &stamp)) {
        return 1;
    }
    answer = apr_array_push(txn->answers);
    answer->cursor = captured(txn, cursor)->key;
    answer->interest = i;
    answer->stamp = stamp;
    answer->moved = vault_page_txn_has_moved(txn, cursor, i, stamp);
    vault_deps_add(captured(txn, cursor)->deps, i, stamp);
    vault_deps_add(txn->deps, i, stamp);
    return answer->moved;
}

void vault_page_txn_remove_interest(vault_page_txn_t *txn, const char *interest)
{
    vault_interest_t i;
    apr_uint64_t stamp;
    int k;

    if (hold_for(txn, interest, &i, &stamp) != APR_SUCCESS) {
        return;
    }
    vault_deps_remove(txn->deps, i);
    for (k = 0; k < txn->cursors->nelts; k++) {
        vault_deps_remove(AT(txn->cursors, vault_cursor_t, k)->deps, i);
    }
}

const char *vault_page_txn_cursor(const vault_page_txn_t *txn, const char *cursor)
{
    const vault_cursor_t *c = vault_page_txn_committed(txn, cursor);

    return c ? c->value : NULL;
}

apr_status_t vault_page_txn_set_cursor(vault_page_txn_t *txn, const char *cursor, const char *value)
{
    if (strlen(value) > VAULT_PROPERTY_VALUE_MAX) {
        vault_page_txn_fail(txn, "its cursor is too long");
        return APR_EINVAL;
    }
    captured(txn, cursor)->value = apr_pstrdup(txn->pool, value);
    return APR_SUCCESS;
}

/* --------------------------------------------------------------- properties */

static vault_property_t *find_write(const vault_page_txn_t *txn, const char *key)
{
    int i;

    for (i = 0; i < txn->writes->nelts; i++) {
        if (!strcmp(AT(txn->writes, vault_property_t, i)->key, key)) {
            return AT(txn->writes, vault_property_t, i);
        }
    }
    return NULL;
}

const char *vault_page_txn_get(const vault_page_txn_t *txn, const char *key)
{
    const vault_property_t *p = find_write(txn, key);

    if (!p) {
        p = vault_state_property(txn->base, key);
    }
    return p ? p->value : NULL;
}

apr_status_t vault_page_txn_set(vault_page_txn_t *txn, const char *key, const char *value)
{
    vault_property_t *w;

    if (!key[0] || strlen(key) > VAULT_PROPERTY_KEY_MAX || (value && strlen(value) > VAULT_PROPERTY_VALUE_MAX)) {
        return APR_EINVAL;
    }
    if (!(w = find_write(txn, key))) {
        w = apr_array_push(txn->writes);
        w->key = apr_pstrdup(txn->pool, key);
    }
    w->value = value ? apr_pstrdup(txn->pool, value) : NULL;
    return APR_SUCCESS;
}

apr_status_t vault_page_txn_on_ack(vault_page_txn_t *txn, const char *feed, const char *data)
{
    vault_ack_t *a;

    if (strlen(data) > VAULT_PROPERTY_VALUE_MAX) {
        vault_page_txn_fail(txn, "the data of its on_ack is too long");
        return APR_EINVAL;
    }
    if (vault_acks_have(txn->acks, &(vault_ack_t){feed, data})) {
        return APR_SUCCESS;
    }
    if (txn->acks->nelts >= VAULT_ACKS_MAX) {
        vault_page_txn_fail(txn, "it calls on_ack for too many data");
        return APR_ENOSPC;
    }
    a = apr_array_push(txn->acks);
    a->feed = apr_pstrdup(txn->pool, feed);
    a->data = apr_pstrdup(txn->pool, data);
    return APR_SUCCESS;
}

/* ------------------------------------------------------ external calls (page_calls.h) */

vault_state_t *vault_page_txn_made(const vault_page_txn_t *txn)
{
    vault_state_t *made = vault_state_create(txn->pool);
    vault_method_t *m = apr_array_push(made->methods);
    int i;

    memset(m, 0, sizeof(*m));
    m->url = txn->url;
    m->deps = txn->deps;
    made->cursors = txn->cursors;
    made->acks = txn->acks;
    for (i = 0; i < txn->writes->nelts; i++) {
        const vault_property_t *w = AT(txn->writes, vault_property_t, i);
        vault_state_set(made, w->key, w->value ? apr_pstrcat(txn->pool, "=", w->value, NULL) : "");
    }
    return made;
}

static int is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

int vault_page_txn_may_take(const vault_page_txn_t *txn, const vault_state_t *made)
{
    const vault_cursor_t *c, *own;
    int i;

    for (i = 0; i < made->cursors->nelts; i++) {
        c = AT(made->cursors, vault_cursor_t, i);
        if ((own = find_captured(txn, c->key)) && !is_same(own->value, c->value)) {
            return 0;
        }
    }
    return 1;
}

/* If the method has made the same call itself, both results are shown. They are the same if both got to the same
 * position. Otherwise the page could continue from only one of them, so the method fails. */
static void take_cursor(vault_page_txn_t *txn, const vault_cursor_t *made)
{
    vault_cursor_t *c = find_captured(txn, made->key);

    if (c && !is_same(c->value, made->value)) {
        vault_page_txn_fail(txn, VAULT_TXN_SAME_CALL);
        return;
    }
    if (c) {
        vault_deps_add_all(c->deps, made->deps);
        return;
    }
    c = apr_array_push(txn->cursors);
    *c = *made;
    c->scope = txn->url;
}

void vault_page_txn_take(vault_page_txn_t *txn, const vault_state_t *made)
{
    int i;

    for (i = 0; i < made->cursors->nelts; i++) {
        take_cursor(txn, AT(made->cursors, vault_cursor_t, i));
    }
    for (i = 0; i < made->methods->nelts; i++) {
        vault_deps_add_all(txn->deps, AT(made->methods, vault_method_t, i)->deps);
    }
    for (i = 0; i < made->properties->nelts; i++) {
        const vault_property_t *w = AT(made->properties, vault_property_t, i);
        if (!find_write(txn, w->key)) { /* the headers of the response override the calls */
            vault_page_txn_set(txn, w->key, w->value[0] ? w->value + 1 : NULL);
        }
    }
    for (i = 0; i < made->acks->nelts; i++) {
        vault_page_txn_on_ack(txn, AT(made->acks, vault_ack_t, i)->feed, AT(made->acks, vault_ack_t, i)->data);
    }
}

/* ------------------------------------------------------------------ parts */

void vault_page_txn_enter_part(vault_page_txn_t *txn, vault_page_txn_outer_t *outer)
{
    *outer = (vault_page_txn_outer_t){txn->deps, txn->cursors, txn->writes, txn->acks, txn->answers};
    begin_overlay(txn);
}

vault_state_t *vault_page_txn_leave_part(vault_page_txn_t *txn, const vault_page_txn_outer_t *outer)
{
    vault_state_t *made = vault_page_txn_made(txn);

    apr_array_cat(outer->answers, txn->answers);
    txn->deps = outer->deps;
    txn->cursors = outer->cursors;
    txn->writes = outer->writes;
    txn->acks = outer->acks;
    txn->answers = outer->answers;
    vault_page_txn_take(txn, made);
    return made;
}

int vault_page_txn_has_written(const vault_page_txn_t *txn)
{
    return txn->writes->nelts > 0;
}

const char *vault_page_txn_position(const vault_page_txn_t *txn, const char *cursor)
{
    const vault_cursor_t *c = find_captured(txn, cursor);

    return c ? c->value : vault_page_txn_cursor(txn, cursor);
}
