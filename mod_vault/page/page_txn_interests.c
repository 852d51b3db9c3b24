/* SPDX-License-Identifier: Apache-2.0 */
/* A transaction over a page's state: the interests that the current method waits for, and the cursors from which it
 * continues. */
#include "page/page_txn_inside.h"

#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"

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

vault_cursor_t *vault_txn_find_captured(const vault_page_txn_t *txn, const char *cursor)
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
    vault_cursor_t *c = vault_txn_find_captured(txn, cursor);
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

void vault_page_txn_expect(vault_page_txn_t *txn, const apr_array_header_t *held)
{
    txn->expected = held;
}

int vault_page_txn_learn_interest(vault_page_txn_t *txn, const char *interest)
{
    const vault_dep_t *expected, *seen;
    vault_interest_t i;
    apr_uint64_t stamp;

    if (!hold(txn, interest, &i, &stamp)) {
        return 0;
    }
    expected = vault_deps_find(txn->expected, i);
    seen = expected ? expected : vault_deps_find(txn->seen, i);
    vault_deps_add(txn->deps, i, seen ? seen->stamp : 0);
    return expected != NULL;
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

const char *vault_page_txn_position(const vault_page_txn_t *txn, const char *cursor)
{
    const vault_cursor_t *c = vault_txn_find_captured(txn, cursor);

    return c ? c->value : vault_page_txn_cursor(txn, cursor);
}
