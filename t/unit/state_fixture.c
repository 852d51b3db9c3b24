/* SPDX-License-Identifier: Apache-2.0 */
/* States for tests: of every shape, and whether two are the same. */
#include "state_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "mod_vault/vault.h"

#define AT(array, type, i) (&((type *)(array)->elts)[i])

/* -------------------------------------------------------------------- shapes */

static apr_array_header_t *make_deps(apr_pool_t *pool, vault_interest_t first, unsigned count)
{
    apr_array_header_t *deps = apr_array_make(pool, 1, sizeof(vault_dep_t));
    unsigned i;

    for (i = 0; i < count; i++) {
        vault_dep_t *d = apr_array_push(deps);
        d->interest = first + i;
        d->stamp = APR_UINT64_MAX - i;
    }
    return deps;
}

vault_cursor_t *state_add_cursor(vault_state_t *s, const char *scope, const char *key, const char *value)
{
    vault_cursor_t *c = apr_array_push(s->cursors);

    c->scope = scope;
    c->key = key;
    c->value = value;
    c->deps = make_deps(s->pool, 0, 0);
    return c;
}

vault_method_t *state_add_method(vault_state_t *s, const char *url, apr_array_header_t *deps)
{
    vault_method_t *m = apr_array_push(s->methods);

    m->url = url;
    m->deps = deps;
    return m;
}

const char *state_repeat(apr_pool_t *pool, char c, apr_size_t length)
{
    char *s = apr_palloc(pool, length + 1);

    memset(s, c, length);
    s[length] = '\0';
    return s;
}

static void nothing(vault_state_t *s)
{
}

static void numbers(vault_state_t *s)
{
    s->seq = APR_UINT64_MAX;
}

static void properties(vault_state_t *s)
{
    vault_state_set(s, "k", "");
    vault_state_set(s, "a longer key", "1234567");
    vault_state_set(s, "\xc3\xa4\n\t<\"", "any byte but NUL \x01\xff");
}

static void nulls(vault_state_t *s)
{
    state_add_cursor(s, "", "never set", NULL);
    state_add_cursor(s, "/m", "", "");
    state_add_method(s, "/never-run", NULL);
    state_add_method(s, "/waits-for-nothing", make_deps(s->pool, 0, 0));
}

static void refuse(vault_method_t *m, unsigned status, unsigned seconds, apr_time_t until)
{
    m->refusal.status = status;
    m->refusal.seconds = seconds;
    m->refusal.until = until;
}

static void refusals(vault_state_t *s)
{
    refuse(state_add_method(s, "/never-run", NULL), 401, 30, 1);
    refuse(state_add_method(s, "/waits", make_deps(s->pool, 1, 2)), 403, VAULT_REFUSAL_MOST, APR_INT64_MAX);
    state_add_method(s, "/works", make_deps(s->pool, 1, 2));
    refuse(state_add_method(s, "/need-not-rest", NULL), 302, 0, 0);
}

static void sharing(vault_state_t *s)
{
    vault_method_t *m = state_add_method(s, "/shared", make_deps(s->pool, 1, 2));

    m->shared = APR_UINT32_MAX;
    state_add_method(s, "/personal", NULL)->personal = VAULT_PERSONAL_COUNT - 1;
}

static void acks(vault_state_t *s)
{
    static const char *const data[] = {"", "7", "message-ann 12", "\xff<\""};
    unsigned i;

    for (i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
        vault_ack_t *a = apr_array_push(s->acks);
        a->feed = "messages";
        a->data = data[i];
    }
}

void state_many_deps(vault_state_t *s)
{
    state_add_cursor(s, "/m", "k", "v")->deps = make_deps(s->pool, 1, 256);
    state_add_method(s, "/m", make_deps(s->pool, 1, 256));
    state_add_method(s, "/n", make_deps(s->pool, 200, 101));
}

static void longest(vault_state_t *s)
{
    vault_state_set(s, state_repeat(s->pool, 'k', VAULT_PROPERTY_KEY_MAX),
                    state_repeat(s->pool, 'v', VAULT_PROPERTY_VALUE_MAX));
    state_add_cursor(s, state_repeat(s->pool, '/', 8192), state_repeat(s->pool, 'c', 8192),
                     state_repeat(s->pool, 'v', VAULT_PROPERTY_VALUE_MAX));
    state_add_method(s, state_repeat(s->pool, '/', 8192), make_deps(s->pool, 0xfffffff0u, 16));
}

/* Each length once: the padding differs. */
static void lengths(vault_state_t *s)
{
    apr_size_t i;

    for (i = 0; i < 20; i++) {
        vault_state_set(s, state_repeat(s->pool, 'k', i + 1), state_repeat(s->pool, 'v', i));
    }
}

void state_usual(vault_state_t *s)
{
    s->seq = 7;
    properties(s);
    state_add_cursor(s, "", "db/get?t=logs", "41")->deps = make_deps(s->pool, 3, 1);
    state_add_cursor(s, "/logs", "db/get?t=logs", "42")->deps = make_deps(s->pool, 3, 2);
    state_add_method(s, "/logs", make_deps(s->pool, 3, 2));
    nulls(s);
    refusals(s);
    sharing(s);
    acks(s);
}

const state_shape_t state_shapes[STATE_SHAPES] = {
    {nothing, "an empty state"},
    {numbers, "the largest number"},
    {properties, "properties, one of them empty"},
    {nulls, "values and dependencies that are not there are not empty ones"},
    {refusals, "methods that are refused, and one that is not"},
    {sharing, "a method whose output is shared, and one whose output is personal"},
    {acks, "what feeds wait to hear of"},
    {state_many_deps, "many dependencies, named twice"},
    {longest, "the longest strings, the largest indexes"},
    {lengths, "every padding"},
    {state_usual, "a state_usual one"},
};

/* ------------------------------------------------------------------ equality */

static int same_string(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static int same_deps(const apr_array_header_t *a, const apr_array_header_t *b)
{
    int i;

    if (!a || !b || a->nelts != b->nelts) {
        return a == b;
    }
    for (i = 0; i < a->nelts; i++) {
        const vault_dep_t *one = AT(a, vault_dep_t, i), *two = AT(b, vault_dep_t, i);
        if (one->interest != two->interest || one->stamp != two->stamp) {
            return 0;
        }
    }
    return 1;
}

static int same_refusal(const vault_refusal_t *a, const vault_refusal_t *b)
{
    return a->status == b->status && a->seconds == b->seconds && a->until == b->until;
}

static int same_lists(const vault_state_t *a, const vault_state_t *b)
{
    int i, same = 1;

    for (i = 0; i < a->properties->nelts; i++) {
        const vault_property_t *p = AT(a->properties, vault_property_t, i), *q = AT(b->properties, vault_property_t, i);
        same &= same_string(p->key, q->key) && same_string(p->value, q->value);
    }
    for (i = 0; i < a->cursors->nelts; i++) {
        const vault_cursor_t *c = AT(a->cursors, vault_cursor_t, i), *d = AT(b->cursors, vault_cursor_t, i);
        same &= same_string(c->scope, d->scope) && same_string(c->key, d->key) && same_string(c->value, d->value) &&
                same_deps(c->deps, d->deps);
    }
    for (i = 0; i < a->methods->nelts; i++) {
        const vault_method_t *m = AT(a->methods, vault_method_t, i), *n = AT(b->methods, vault_method_t, i);
        same &= same_string(m->url, n->url) && same_deps(m->deps, n->deps) && same_refusal(&m->refusal, &n->refusal);
        same &= m->shared == n->shared && m->personal == n->personal;
    }
    for (i = 0; i < a->acks->nelts; i++) {
        const vault_ack_t *c = AT(a->acks, vault_ack_t, i), *d = AT(b->acks, vault_ack_t, i);
        same &= same_string(c->feed, d->feed) && same_string(c->data, d->data);
    }
    return same;
}

int state_is_same(const vault_state_t *a, const vault_state_t *b)
{
    return a->seq == b->seq && a->properties->nelts == b->properties->nelts && a->cursors->nelts == b->cursors->nelts &&
           a->methods->nelts == b->methods->nelts && a->acks->nelts == b->acks->nelts && same_lists(a, b);
}

char *state_encode(const vault_state_t *s, apr_size_t *size)
{
    char *block;

    *size = vault_state_size(s);
    block = malloc(*size);
    memset(block, 0xa5, *size);
    vault_state_encode(s, block, *size);
    return block;
}
