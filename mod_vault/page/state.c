/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a page, as arrays and as one block of shared memory.
 *
 * A block: header | interests, each once (u32, padded) | properties | methods | cursors | acks.
 * Texts are those of base/pack.h. The scope of a cursor is usually the URL of one of the methods. It is then stored
 * as (u32 SCOPE + number of the method, u32 0), since URLs can be long. Dependencies are (u32 count, u32 0) and pairs
 * of u64; a count of VAULT_PACK_NULL means NULL. A refusal is (u32 status, u32 seconds) and, if the status is not 0,
 * the u64 `until`. After it a method has (u32 shared, u32 personal).
 * The order is that of the arrays. The acks come last, so that setting their number to 0 removes them.
 */
#include "page/state.h"

#include <string.h>

#include "apr_strings.h"

#include "base/pack.h"

#define STATE_MAGIC 0x76537435u /* "vSt5" */
#define SCOPE 0x80000000u       /* larger than the length of any string */

typedef struct header_t {
    apr_uint32_t magic;
    apr_uint32_t bytes;
    apr_uint64_t seq;
    apr_uint32_t interests;
    apr_uint32_t properties;
    apr_uint32_t cursors;
    apr_uint32_t methods;
    apr_uint32_t acks;
    apr_uint32_t behind; /* the number of this state minus that of the state that it was made from */
} header_t;

_Static_assert(sizeof(header_t) == 40, "the header is part of the segment's layout");

#define AT(array, type, i) (&((type *)(array)->elts)[i])

vault_state_t *vault_state_create(apr_pool_t *pool)
{
    vault_state_t *s = apr_pcalloc(pool, sizeof(*s));

    s->pool = pool;
    s->properties = apr_array_make(pool, 2, sizeof(vault_property_t));
    s->cursors = apr_array_make(pool, 2, sizeof(vault_cursor_t));
    s->methods = apr_array_make(pool, 2, sizeof(vault_method_t));
    s->acks = apr_array_make(pool, 1, sizeof(vault_ack_t));
    return s;
}

/* ------------------------------------------------------------------ writing */

static void put_deps(vault_packer_t *w, const apr_array_header_t *deps)
{
    int i;

    vault_pack_pair(w, deps ? (apr_uint32_t)deps->nelts : VAULT_PACK_NULL, 0);
    for (i = 0; deps && i < deps->nelts; i++) {
        vault_pack_u64(w, AT(deps, vault_dep_t, i)->interest);
        vault_pack_u64(w, AT(deps, vault_dep_t, i)->stamp);
    }
}

static void name_each_once(apr_uint32_t *names, apr_uint32_t *count, const apr_array_header_t *deps)
{
    apr_uint32_t k;
    int i;

    for (i = 0; deps && i < deps->nelts; i++) {
        for (k = 0; k < *count && names[k] != AT(deps, vault_dep_t, i)->interest; k++) {
        }
        if (k == *count) {
            names[(*count)++] = AT(deps, vault_dep_t, i)->interest;
        }
    }
}

/* An upper bound for the number of interests: those that occur several times are counted several times. */
static apr_uint32_t interests_bound(const vault_state_t *s)
{
    apr_uint32_t n = 0;
    int i;

    for (i = 0; i < s->cursors->nelts; i++) {
        n += (apr_uint32_t)AT(s->cursors, vault_cursor_t, i)->deps->nelts;
    }
    for (i = 0; i < s->methods->nelts; i++) {
        n += AT(s->methods, vault_method_t, i)->deps ? (apr_uint32_t)AT(s->methods, vault_method_t, i)->deps->nelts : 0;
    }
    return n;
}

static void put_scope(vault_packer_t *w, const vault_state_t *s, const char *scope)
{
    const vault_method_t *m = vault_state_method(s, scope);

    if (m) {
        vault_pack_pair(w, SCOPE | (apr_uint32_t)(m - AT(s->methods, vault_method_t, 0)), 0);
    }
    else {
        vault_pack_text(w, scope);
    }
}

static void put_refusal(vault_packer_t *w, const vault_refusal_t *refusal)
{
    vault_pack_pair(w, refusal->status, refusal->seconds);
    if (refusal->status) {
        vault_pack_u64(w, (apr_uint64_t)refusal->until);
    }
}

static void put_lists(vault_packer_t *w, const vault_state_t *s)
{
    int i;

    for (i = 0; i < s->properties->nelts; i++) {
        vault_pack_text(w, AT(s->properties, vault_property_t, i)->key);
        vault_pack_text(w, AT(s->properties, vault_property_t, i)->value);
    }
    for (i = 0; i < s->methods->nelts; i++) {
        vault_pack_text(w, AT(s->methods, vault_method_t, i)->url);
        put_deps(w, AT(s->methods, vault_method_t, i)->deps);
        put_refusal(w, &AT(s->methods, vault_method_t, i)->refusal);
        vault_pack_pair(w, AT(s->methods, vault_method_t, i)->shared, AT(s->methods, vault_method_t, i)->personal);
    }
    for (i = 0; i < s->cursors->nelts; i++) {
        vault_cursor_t *c = AT(s->cursors, vault_cursor_t, i);
        put_scope(w, s, c->scope);
        vault_pack_text(w, c->key);
        vault_pack_text(w, c->value);
        put_deps(w, c->deps);
    }
    for (i = 0; i < s->acks->nelts; i++) {
        vault_pack_text(w, AT(s->acks, vault_ack_t, i)->feed);
        vault_pack_text(w, AT(s->acks, vault_ack_t, i)->data);
    }
}

apr_size_t vault_state_size(const vault_state_t *state)
{
    vault_packer_t w = {NULL, sizeof(header_t)};

    w.size += VAULT_PACK_ALIGN(interests_bound(state) * sizeof(apr_uint32_t));
    put_lists(&w, state);
    return w.size;
}

void vault_state_encode(const vault_state_t *state, void *block, apr_size_t size)
{
    header_t *h = block;
    apr_uint32_t *names = (apr_uint32_t *)(h + 1);
    vault_packer_t w = {block, sizeof(*h)};
    int i;

    w.size += VAULT_PACK_ALIGN(interests_bound(state) * sizeof(apr_uint32_t));
    memset(h, 0, w.size);
    h->magic = STATE_MAGIC;
    h->seq = state->seq;
    for (i = 0; i < state->cursors->nelts; i++) {
        name_each_once(names, &h->interests, AT(state->cursors, vault_cursor_t, i)->deps);
    }
    for (i = 0; i < state->methods->nelts; i++) {
        name_each_once(names, &h->interests, AT(state->methods, vault_method_t, i)->deps);
    }
    w.size = sizeof(*h) + VAULT_PACK_ALIGN(h->interests * sizeof(apr_uint32_t));
    h->properties = (apr_uint32_t)state->properties->nelts;
    h->cursors = (apr_uint32_t)state->cursors->nelts;
    h->methods = (apr_uint32_t)state->methods->nelts;
    h->acks = (apr_uint32_t)state->acks->nelts;
    put_lists(&w, state);
    h->bytes = (apr_uint32_t)(w.size <= size ? w.size : 0);
}

/* ------------------------------------------------------------------ reading */

static const char *take_name(vault_unpacker_t *r)
{
    const char *s = vault_unpack_text(r);

    if (!s) {
        r->bad = 1;
    }
    return s;
}

static const char *take_scope(vault_unpacker_t *r, const vault_state_t *s)
{
    apr_uint32_t n = vault_unpack_peek(r);

    if (!(n & SCOPE) || n == VAULT_PACK_NULL) {
        return take_name(r);
    }
    vault_unpack_bytes(r, 8);
    if (r->bad || (n & ~SCOPE) >= (apr_uint32_t)s->methods->nelts) {
        r->bad = 1;
        return NULL;
    }
    return AT(s->methods, vault_method_t, n & ~SCOPE)->url;
}

static apr_array_header_t *take_deps(vault_unpacker_t *r, apr_pool_t *pool)
{
    apr_uint32_t n = vault_unpack_pair(r, NULL), i;
    apr_array_header_t *deps;
    const char *pairs;

    if (r->bad || n == VAULT_PACK_NULL || !(pairs = vault_unpack_bytes(r, (apr_size_t)n * 16))) {
        return NULL;
    }
    deps = apr_array_make(pool, n ? (int)n : 1, sizeof(vault_dep_t));
    for (i = 0; i < n; i++) {
        apr_uint64_t pair[2];
        vault_dep_t *d = apr_array_push(deps);
        memcpy(pair, pairs + i * 16, sizeof(pair));
        d->interest = (vault_interest_t)pair[0];
        d->stamp = pair[1];
    }
    return deps;
}

static vault_refusal_t take_refusal(vault_unpacker_t *r)
{
    vault_refusal_t refusal = {0};
    apr_uint32_t seconds, status = vault_unpack_pair(r, &seconds);

    refusal.status = status;
    refusal.seconds = seconds;
    refusal.until = status ? (apr_time_t)vault_unpack_u64(r) : 0;
    r->bad |= status ? status < 300 || status > 499 || seconds > VAULT_REFUSAL_MOST || refusal.until < 0 : seconds != 0;
    return refusal;
}

static void take_sharing(vault_unpacker_t *r, vault_method_t *m)
{
    apr_uint32_t personal;

    m->shared = vault_unpack_pair(r, &personal);
    m->personal = personal;
    r->bad |= m->personal >= VAULT_PERSONAL_COUNT;
}

static void take_lists(vault_unpacker_t *r, vault_state_t *s, const header_t *h)
{
    apr_uint32_t i;

    for (i = 0; i < h->properties && !r->bad; i++) {
        vault_property_t *p = apr_array_push(s->properties);
        p->key = take_name(r);
        p->value = take_name(r);
    }
    for (i = 0; i < h->methods && !r->bad; i++) {
        vault_method_t *m = apr_array_push(s->methods);
        m->url = take_name(r);
        m->deps = take_deps(r, s->pool);
        m->refusal = take_refusal(r);
        take_sharing(r, m);
    }
    for (i = 0; i < h->cursors && !r->bad; i++) {
        vault_cursor_t *c = apr_array_push(s->cursors);
        c->scope = take_scope(r, s);
        c->key = take_name(r);
        c->value = vault_unpack_text(r);
        c->deps = take_deps(r, s->pool);
        r->bad |= c->deps == NULL;
    }
    for (i = 0; i < h->acks && !r->bad; i++) {
        vault_ack_t *a = apr_array_push(s->acks);
        a->feed = take_name(r);
        a->data = take_name(r);
    }
}

vault_state_t *vault_state_decode(const void *block, apr_size_t size, apr_pool_t *pool)
{
    header_t h;
    vault_state_t *s;
    vault_unpacker_t r;

    if (size < sizeof(h)) {
        return NULL;
    }
    memcpy(&h, block, sizeof(h));
    if (h.magic != STATE_MAGIC || h.bytes < sizeof(h) || h.bytes > size) {
        return NULL;
    }
    r = (vault_unpacker_t){block, h.bytes, 0};
    s = vault_state_create(pool);
    s->seq = h.seq;
    vault_unpack_bytes(&r, sizeof(h));
    vault_unpack_bytes(&r, VAULT_PACK_ALIGN((apr_size_t)h.interests * sizeof(apr_uint32_t)));
    take_lists(&r, s, &h);
    return r.bad ? NULL : s;
}

void vault_state_number(void *block, apr_uint64_t seq, apr_uint64_t from)
{
    ((header_t *)block)->seq = seq;
    ((header_t *)block)->behind = (apr_uint32_t)(seq - from);
}

apr_size_t vault_state_bytes(const void *block)
{
    return ((const header_t *)block)->bytes;
}

apr_uint64_t vault_state_seq(const void *block)
{
    return ((const header_t *)block)->seq;
}

apr_uint64_t vault_state_from(const void *block)
{
    return ((const header_t *)block)->seq - ((const header_t *)block)->behind;
}

int vault_state_has_acks(const void *block)
{
    return ((const header_t *)block)->acks != 0;
}

void vault_state_drop_acks(void *block)
{
    ((header_t *)block)->acks = 0;
}

int vault_state_names(const void *block, vault_interest_t interest)
{
    const header_t *h = block;
    const apr_uint32_t *names = (const apr_uint32_t *)(h + 1);
    apr_uint32_t i;

    for (i = 0; i < h->interests; i++) {
        if (names[i] == interest) {
            return 1;
        }
    }
    return 0;
}
