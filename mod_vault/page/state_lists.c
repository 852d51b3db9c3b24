/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a state: found, set, added to its lists. */
#include "page/state.h"

#include <string.h>

#define AT(array, type, i) (&((type *)(array)->elts)[i])

vault_property_t *vault_state_property(const vault_state_t *state, const char *key)
{
    int i;

    for (i = 0; i < state->properties->nelts; i++) {
        if (!strcmp(AT(state->properties, vault_property_t, i)->key, key)) {
            return AT(state->properties, vault_property_t, i);
        }
    }
    return NULL;
}

vault_cursor_t *vault_state_cursor(const vault_state_t *state, const char *scope, const char *key)
{
    int i;

    for (i = 0; i < state->cursors->nelts; i++) {
        vault_cursor_t *c = AT(state->cursors, vault_cursor_t, i);
        if (!strcmp(c->key, key) && !strcmp(c->scope, scope)) {
            return c;
        }
    }
    return NULL;
}

vault_method_t *vault_state_method(const vault_state_t *state, const char *url)
{
    int i;

    for (i = 0; i < state->methods->nelts; i++) {
        if (!strcmp(AT(state->methods, vault_method_t, i)->url, url)) {
            return AT(state->methods, vault_method_t, i);
        }
    }
    return NULL;
}

int vault_method_rests(const vault_method_t *method, apr_time_t at)
{
    return method->refusal.status && method->refusal.until - at > APR_USEC_PER_SEC;
}

void vault_state_set(vault_state_t *state, const char *key, const char *value)
{
    vault_property_t *p = vault_state_property(state, key);

    if (value) {
        if (!p) {
            p = apr_array_push(state->properties);
            p->key = key;
        }
        p->value = value;
    }
    else if (p) {
        *p = *AT(state->properties, vault_property_t, state->properties->nelts - 1);
        apr_array_pop(state->properties);
    }
}

/* -------------------------------------------------------------- dependencies */

vault_dep_t *vault_deps_find(const apr_array_header_t *deps, vault_interest_t interest)
{
    int i;

    for (i = 0; deps && i < deps->nelts; i++) {
        if (AT(deps, vault_dep_t, i)->interest == interest) {
            return AT(deps, vault_dep_t, i);
        }
    }
    return NULL;
}

void vault_deps_add(apr_array_header_t *deps, vault_interest_t interest, apr_uint64_t stamp)
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

void vault_deps_add_all(apr_array_header_t *deps, const apr_array_header_t *more)
{
    int i;

    for (i = 0; more && i < more->nelts; i++) {
        vault_deps_add(deps, AT(more, vault_dep_t, i)->interest, AT(more, vault_dep_t, i)->stamp);
    }
}

void vault_deps_remove(apr_array_header_t *deps, vault_interest_t interest)
{
    vault_dep_t *d = vault_deps_find(deps, interest);

    if (d) {
        *d = *AT(deps, vault_dep_t, deps->nelts - 1);
        apr_array_pop(deps);
    }
}

/* ---------------------------------------------------------------------- acks */

int vault_acks_have(const apr_array_header_t *acks, const vault_ack_t *ack)
{
    int i;

    for (i = 0; i < acks->nelts; i++) {
        const vault_ack_t *a = AT(acks, vault_ack_t, i);

        if (!strcmp(a->feed, ack->feed) && !strcmp(a->data, ack->data)) {
            return 1;
        }
    }
    return 0;
}
