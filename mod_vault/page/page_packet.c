/* SPDX-License-Identifier: Apache-2.0 */
/* A block: the head, the name of the user, and the states (state.h), each after its size and the number of the state
 * that it was made from. Everything is padded to 8. The checksum covers everything behind it. */
#include "page/page_packet.h"

#include <stddef.h>
#include <string.h>

#include "apr_strings.h"

#include "base/hash.h"

/* The last character counts the layouts of this file. Another byte order reads another number. */
#define MAGIC APR_UINT64_C(0x76706167652d7031) /* "vpage-p1" */
#define ALIGN8(n) (((apr_size_t)(n) + 7) & ~(apr_size_t)7)
#define DAMAGED "it is damaged, belongs to another page, or a server with another secret has written it"
#define INVALID "another version of mod_vault has written it"
/* Such a name is longer than any header of a request. */
#define USER_MAX (64 * 1024)

typedef struct head_t {
    apr_uint64_t magic, checksum;
    apr_uint64_t host, realm;
    apr_uint64_t tab[2];
    apr_uint64_t last_seq, head;
    apr_uint32_t streams, count;
    apr_uint64_t user_size; /* with its final NUL; 0: none */
} head_t;

typedef struct state_head_t {
    apr_uint64_t size, from;
} state_head_t;

/* The checksum covers everything from here on. */
#define SUMMED offsetof(head_t, host)

/* The id of the page is part of the seed, and not of the block: it is a secret of the browser. */
static apr_uint64_t checksum(const vault_page_packet_t *p, apr_uint64_t seed, const char *block, apr_size_t size)
{
    const apr_uint64_t id[] = {p->page.id[0], p->page.id[1], p->page.key};
    apr_uint64_t sum = vault_hash(vault_hash(seed, id, sizeof(id)), block + SUMMED, size - SUMMED);

    return sum + !sum;
}

/* --------------------------------------------------------------------- encode */

/* The lists of properties and of reports to feeds are shared with `s`. */
static vault_state_t *without_interests(const vault_state_t *s, apr_pool_t *pool)
{
    vault_state_t *copy = vault_state_create(pool);
    int i;

    copy->seq = s->seq;
    copy->properties = s->properties;
    copy->acks = s->acks;
    copy->methods = apr_array_copy(pool, s->methods);
    copy->cursors = apr_array_copy(pool, s->cursors);
    for (i = 0; i < copy->methods->nelts; i++) {
        vault_method_t *m = &APR_ARRAY_IDX(copy->methods, i, vault_method_t);
        m->deps = m->deps ? apr_array_make(pool, 1, sizeof(vault_dep_t)) : NULL;
        m->refusal.seconds = 0;
        m->refusal.until = 0;
    }
    for (i = 0; i < copy->cursors->nelts; i++) {
        APR_ARRAY_IDX(copy->cursors, i, vault_cursor_t).deps = apr_array_make(pool, 1, sizeof(vault_dep_t));
    }
    return copy;
}

static head_t make_head(const vault_page_packet_t *p)
{
    const vault_page_snapshot_t *s = &p->snapshot;
    head_t head = {.magic = MAGIC,
                   .host = p->host,
                   .realm = p->realm,
                   .tab = {s->tab[0], s->tab[1]},
                   .last_seq = s->last_seq,
                   .head = s->head,
                   .streams = s->streams,
                   .count = s->count,
                   .user_size = s->user ? strlen(s->user) + 1 : 0};

    return head;
}

char *vault_page_packet_encode(vault_page_packet_t *p, apr_uint64_t seed, apr_size_t *size, apr_pool_t *pool)
{
    const vault_page_snapshot_t *s = &p->snapshot;
    vault_state_t *states[VAULT_SNAPSHOT_STATES];
    head_t head = make_head(p);
    char *block, *at;
    unsigned i;

    *size = sizeof(head) + ALIGN8(head.user_size);
    for (i = 0; i < s->count; i++) {
        states[i] = without_interests(s->states[i].state, pool);
        *size += sizeof(state_head_t) + ALIGN8(vault_state_size(states[i]));
    }
    block = apr_pcalloc(pool, *size);
    memcpy(block, &head, sizeof(head));
    at = block + sizeof(head);
    if (s->user) {
        memcpy(at, s->user, head.user_size);
        at += ALIGN8(head.user_size);
    }
    for (i = 0; i < s->count; i++) {
        state_head_t of = {vault_state_size(states[i]), s->states[i].from};
        memcpy(at, &of, sizeof(of));
        vault_state_encode(states[i], at + sizeof(of), of.size);
        at += sizeof(of) + ALIGN8(of.size);
    }
    p->sum = checksum(p, seed, block, *size);
    memcpy(block + offsetof(head_t, checksum), &p->sum, sizeof(p->sum));
    return block;
}

/* --------------------------------------------------------------------- decode */

typedef struct reader_t {
    const char *at;
    apr_size_t left;
} reader_t;

/* @return NULL: so much is not left */
static const char *take(reader_t *r, apr_uint64_t size)
{
    const char *at = r->at;

    if (size > r->left || ALIGN8(size) > r->left) {
        return NULL;
    }
    r->at += ALIGN8(size);
    r->left -= ALIGN8(size);
    return at;
}

static int read_user(vault_page_snapshot_t *s, apr_uint64_t size, reader_t *r, apr_pool_t *pool)
{
    const char *name;

    if (!size) {
        return 1;
    }
    if (size > USER_MAX || !(name = take(r, size)) || name[size - 1]) {
        return 0;
    }
    s->user = apr_pstrdup(pool, name);
    return 1;
}

static int read_state(vault_snapshot_state_t *s, apr_uint64_t most, reader_t *r, apr_pool_t *pool)
{
    const char *at = take(r, sizeof(state_head_t));
    state_head_t of;

    if (!at) {
        return 0;
    }
    memcpy(&of, at, sizeof(of));
    if (of.size > VAULT_STATE_MAX || !(at = take(r, of.size))) {
        return 0;
    }
    s->state = vault_state_decode(apr_pmemdup(pool, at, (apr_size_t)of.size), (apr_size_t)of.size, pool);
    s->from = of.from;
    return s->state && s->state->seq <= most && s->from <= s->state->seq && s->state->seq - s->from <= APR_UINT32_MAX;
}

static int read_contents(vault_page_snapshot_t *s, const head_t *head, reader_t *r, apr_pool_t *pool)
{
    unsigned i;

    memset(s, 0, sizeof(*s));
    if (!read_user(s, head->user_size, r, pool) || head->count < 1 || head->count > VAULT_SNAPSHOT_STATES) {
        return 0;
    }
    for (i = 0; i < head->count; i++) {
        if (!read_state(&s->states[i], head->last_seq, r, pool)) {
            return 0;
        }
    }
    s->count = head->count;
    memcpy(s->tab, head->tab, sizeof(s->tab));
    s->last_seq = head->last_seq;
    s->head = head->head;
    s->streams = head->streams;
    return r->left == 0;
}

const char *vault_page_packet_decode(vault_page_packet_t *p, apr_uint64_t seed, const char *block, apr_size_t size,
                                     apr_pool_t *pool)
{
    reader_t r = {block + sizeof(head_t), size - sizeof(head_t)};
    head_t head;

    if (size < sizeof(head)) {
        return "it is cut";
    }
    memcpy(&head, block, sizeof(head));
    if (head.magic != MAGIC) {
        return INVALID;
    }
    if (head.checksum != checksum(p, seed, block, size)) {
        return DAMAGED;
    }
    p->host = head.host;
    p->realm = head.realm;
    p->sum = head.checksum;
    return read_contents(&p->snapshot, &head, &r, pool) ? NULL : INVALID;
}
