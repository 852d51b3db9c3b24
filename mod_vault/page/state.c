/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a page, as arrays and as one block of shared memory.
 *
 * A block: header | interests, each once (u32, padded) | properties | methods | cursors | acks.
 * A string is (u32 length, bytes, NUL) padded to 8; a length of NONE means NULL. The scope of a cursor is
 * usually the URL of one of the methods. It is then stored as (u32 SCOPE + number of the method, u32 0), since
 * URLs can be long. Dependencies are (u32 count, u32 0) and pairs of u64; a count of NONE means NULL. A refusal
 * is (u32 status, u32 seconds) and, if the status is not 0, the u64 `until`. After it a method has (u32 shared,
 * u32 personal).
 * The order is that of the arrays. The acks come last, so that setting their number to 0 removes them.
 */
#include "page/state.h"

#include <string.h>

#include "apr_strings.h"

#define STATE_MAGIC 0x76537435u /* "vSt5" */
#define NONE 0xffffffffu
#define SCOPE 0x80000000u /* larger than the length of any string */
#define ALIGN8(n) (((apr_size_t)(n) + 7) & ~(apr_size_t)7)

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

/* The same code measures (at == NULL) and writes. */
typedef struct writer_t {
    char *at;
    apr_size_t size;
} writer_t;

static void put_pair(writer_t *w, apr_uint32_t a, apr_uint32_t b)
{
    if (w->at) {
        memcpy(w->at + w->size, &a, sizeof(a));
        memcpy(w->at + w->size + 4, &b, sizeof(b));
    }
    w->size += 8;
}

static void put_u64(writer_t *w, apr_uint64_t n)
{
    if (w->at) {
        memcpy(w->at + w->size, &n, sizeof(n));
    }
    w->size += 8;
}

static void put_string(writer_t *w, const char *s)
{
    apr_size_t len = s ? strlen(s) : 0, padded = ALIGN8(4 + len + 1);
    apr_uint32_t n = s ? (apr_uint32_t)len : NONE;

    if (w->at) {
        memset(w->at + w->size + padded - 8, 0, 8);
        memcpy(w->at + w->size, &n, sizeof(n));
        memcpy(w->at + w->size + 4, s ? s : "", len + 1);
    }
    w->size += padded;
}

static void put_deps(writer_t *w, const apr_array_header_t *deps)
{
    int i;

    put_pair(w, deps ? (apr_uint32_t)deps->nelts : NONE, 0);
    for (i = 0; deps && i < deps->nelts; i++) {
        put_u64(w, AT(deps, vault_dep_t, i)->interest);
        put_u64(w, AT(deps, vault_dep_t, i)->stamp);
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

static void put_scope(writer_t *w, const vault_state_t *s, const char *scope)
{
    const vault_method_t *m = vault_state_method(s, scope);

    if (m) {
        put_pair(w, SCOPE | (apr_uint32_t)(m - AT(s->methods, vault_method_t, 0)), 0);
    }
    else {
        put_string(w, scope);
    }
}

static void put_refusal(writer_t *w, const vault_refusal_t *refusal)
{
    put_pair(w, refusal->status, refusal->seconds);
    if (refusal->status) {
        put_u64(w, (apr_uint64_t)refusal->until);
    }
}

static void put_lists(writer_t *w, const vault_state_t *s)
{
    int i;

    for (i = 0; i < s->properties->nelts; i++) {
        put_string(w, AT(s->properties, vault_property_t, i)->key);
        put_string(w, AT(s->properties, vault_property_t, i)->value);
    }
    for (i = 0; i < s->methods->nelts; i++) {
        put_string(w, AT(s->methods, vault_method_t, i)->url);
        put_deps(w, AT(s->methods, vault_method_t, i)->deps);
        put_refusal(w, &AT(s->methods, vault_method_t, i)->refusal);
        put_pair(w, AT(s->methods, vault_method_t, i)->shared, AT(s->methods, vault_method_t, i)->personal);
    }
    for (i = 0; i < s->cursors->nelts; i++) {
        vault_cursor_t *c = AT(s->cursors, vault_cursor_t, i);
        put_scope(w, s, c->scope);
        put_string(w, c->key);
        put_string(w, c->value);
        put_deps(w, c->deps);
    }
    for (i = 0; i < s->acks->nelts; i++) {
        put_string(w, AT(s->acks, vault_ack_t, i)->feed);
        put_string(w, AT(s->acks, vault_ack_t, i)->data);
    }
}

apr_size_t vault_state_size(const vault_state_t *state)
{
    writer_t w = {NULL, sizeof(header_t)};

    w.size += ALIGN8(interests_bound(state) * sizeof(apr_uint32_t));
    put_lists(&w, state);
    return w.size;
}

void vault_state_encode(const vault_state_t *state, void *block, apr_size_t size)
{
    header_t *h = block;
    apr_uint32_t *names = (apr_uint32_t *)(h + 1);
    writer_t w = {block, sizeof(*h)};
    int i;

    w.size += ALIGN8(interests_bound(state) * sizeof(apr_uint32_t));
    memset(h, 0, w.size);
    h->magic = STATE_MAGIC;
    h->seq = state->seq;
    for (i = 0; i < state->cursors->nelts; i++) {
        name_each_once(names, &h->interests, AT(state->cursors, vault_cursor_t, i)->deps);
    }
    for (i = 0; i < state->methods->nelts; i++) {
        name_each_once(names, &h->interests, AT(state->methods, vault_method_t, i)->deps);
    }
    w.size = sizeof(*h) + ALIGN8(h->interests * sizeof(apr_uint32_t));
    h->properties = (apr_uint32_t)state->properties->nelts;
    h->cursors = (apr_uint32_t)state->cursors->nelts;
    h->methods = (apr_uint32_t)state->methods->nelts;
    h->acks = (apr_uint32_t)state->acks->nelts;
    put_lists(&w, state);
    h->bytes = (apr_uint32_t)(w.size <= size ? w.size : 0);
}

/* ------------------------------------------------------------------ reading */

typedef struct reader_t {
    const char *at;
    apr_size_t left;
    int bad;
    apr_pool_t *pool;
} reader_t;

static const char *take(reader_t *r, apr_size_t n)
{
    const char *at = r->at;

    if (r->bad || n > r->left) {
        r->bad = 1;
        return NULL;
    }
    r->at += n;
    r->left -= n;
    return at;
}

static apr_uint32_t peek_u32(reader_t *r)
{
    apr_uint32_t n = 0;

    if (r->bad || r->left < sizeof(n)) {
        r->bad = 1;
        return 0;
    }
    memcpy(&n, r->at, sizeof(n));
    return n;
}

static const char *take_string(reader_t *r)
{
    apr_uint32_t len = peek_u32(r);
    const char *s = take(r, ALIGN8(4 + (apr_size_t)(len == NONE ? 0 : len) + 1));

    if (!s || len == NONE) {
        return NULL;
    }
    if (s[4 + (apr_size_t)len] != '\0') {
        r->bad = 1;
        return NULL;
    }
    return s + 4;
}

static const char *take_name(reader_t *r)
{
    const char *s = take_string(r);

    if (!s) {
        r->bad = 1;
    }
    return s;
}

static const char *take_scope(reader_t *r, const vault_state_t *s)
{
    apr_uint32_t n = peek_u32(r);

    if (!(n & SCOPE) || n == NONE) {
        return take_name(r);
    }
    take(r, 8);
    if (r->bad || (n & ~SCOPE) >= (apr_uint32_t)s->methods->nelts) {
        r->bad = 1;
        return NULL;
    }
    return AT(s->methods, vault_method_t, n & ~SCOPE)->url;
}

static apr_array_header_t *take_deps(reader_t *r)
{
    apr_uint32_t n = peek_u32(r), i;
    apr_array_header_t *deps;
    const char *pairs;

    take(r, 8);
    if (r->bad || n == NONE || !(pairs = take(r, (apr_size_t)n * 16))) {
        return NULL;
    }
    deps = apr_array_make(r->pool, n ? (int)n : 1, sizeof(vault_dep_t));
    for (i = 0; i < n; i++) {
        apr_uint64_t pair[2];
        vault_dep_t *d = apr_array_push(deps);
        memcpy(pair, pairs + i * 16, sizeof(pair));
        d->interest = (vault_interest_t)pair[0];
        d->stamp = pair[1];
    }
    return deps;
}

static vault_refusal_t take_refusal(reader_t *r)
{
    vault_refusal_t refusal = {0};
    apr_uint32_t pair[2] = {0};
    const char *at = take(r, sizeof(pair));

    if (at) {
        memcpy(pair, at, sizeof(pair));
    }
    if (pair[0] && (at = take(r, sizeof(refusal.until)))) {
        memcpy(&refusal.until, at, sizeof(refusal.until));
    }
    refusal.status = pair[0];
    refusal.seconds = pair[1];
    r->bad |=
        pair[0] ? pair[0] < 300 || pair[0] > 499 || pair[1] > VAULT_REFUSAL_MOST || refusal.until < 0 : pair[1] != 0;
    return refusal;
}

static void take_sharing(reader_t *r, vault_method_t *m)
{
    apr_uint32_t pair[2] = {0};
    const char *at = take(r, sizeof(pair));

    if (at) {
        memcpy(pair, at, sizeof(pair));
    }
    m->shared = pair[0];
    m->personal = pair[1];
    r->bad |= m->personal >= VAULT_PERSONAL_COUNT;
}

static void take_lists(reader_t *r, vault_state_t *s, const header_t *h)
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
        m->deps = take_deps(r);
        m->refusal = take_refusal(r);
        take_sharing(r, m);
    }
    for (i = 0; i < h->cursors && !r->bad; i++) {
        vault_cursor_t *c = apr_array_push(s->cursors);
        c->scope = take_scope(r, s);
        c->key = take_name(r);
        c->value = take_string(r);
        c->deps = take_deps(r);
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
    reader_t r;

    if (size < sizeof(h)) {
        return NULL;
    }
    memcpy(&h, block, sizeof(h));
    if (h.magic != STATE_MAGIC || h.bytes < sizeof(h) || h.bytes > size) {
        return NULL;
    }
    r.at = block;
    r.left = h.bytes;
    r.bad = 0;
    r.pool = pool;
    s = vault_state_create(pool);
    s->seq = h.seq;
    take(&r, sizeof(h));
    take(&r, ALIGN8((apr_size_t)h.interests * sizeof(apr_uint32_t)));
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
