/* SPDX-License-Identifier: Apache-2.0 */
/* Reports and what follows from them: see filter_peers.h. */
#include "gateway/filter_peers.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

void vault_filter_peers_init(vault_filter_peers_t *p)
{
    memset(p, 0, sizeof(*p));
    pthread_mutex_init(&p->lock, NULL);
}

static void forget_locked(vault_filter_peers_t *p, vault_filter_peer_t *peer)
{
    free(peer->bits.bits);
    *peer = p->peers[--p->count];
}

static void forget_all_locked(vault_filter_peers_t *p)
{
    while (p->count) {
        forget_locked(p, &p->peers[0]);
    }
}

void vault_filter_peers_free(vault_filter_peers_t *p)
{
    forget_all_locked(p);
    free(p->peers);
    pthread_mutex_destroy(&p->lock);
}

void vault_filter_peers_begin(vault_filter_peers_t *p, const char *link)
{
    pthread_mutex_lock(&p->lock);
    forget_all_locked(p);
    apr_cpystrn(p->link, link, sizeof(p->link));
    p->version = 0;
    pthread_mutex_unlock(&p->lock);
}

/* --------------------------------------------------------------------- writing */

static json_t *known_locked(const vault_filter_peers_t *p)
{
    json_t *known = json_object();
    unsigned i;

    for (i = 0; i < p->count; i++) {
        const vault_filter_peer_t *peer = &p->peers[i];
        json_object_set_new(known, peer->link, json_pack("[I,I]", (json_int_t)peer->entry, (json_int_t)peer->version));
    }
    return known;
}

/* @return the text, and the bits behind its NUL */
static char *join(const char *text, const vault_bloom_t *filter, apr_size_t *size)
{
    apr_size_t length = strlen(text) + 1, bits = filter ? filter->positions / 8 : 0;
    char *report = malloc(length + bits);

    if (report) {
        memcpy(report, text, length);
        if (filter) {
            vault_bloom_write(filter, (unsigned char *)report + length);
        }
        *size = length + bits;
    }
    return report;
}

char *vault_filter_peers_report(vault_filter_peers_t *p, const char *server, const vault_bloom_t *filter,
                                apr_size_t *size)
{
    json_t *head;
    char *text, *report = NULL;

    pthread_mutex_lock(&p->lock);
    head = json_pack("{s:s,s:s,s:o,s:I}", "link", p->link, "server", server, "known", known_locked(p), "version",
                     (json_int_t)(p->version + (filter ? 1 : 0)));
    if (filter) {
        json_object_set_new(head, "positions", json_integer(filter->positions));
        json_object_set_new(head, "hashes", json_integer(filter->hashes));
    }
    text = json_dumps(head, JSON_COMPACT);
    report = text ? join(text, filter, size) : NULL;
    if (report && filter) {
        p->version++;
    }
    pthread_mutex_unlock(&p->lock);
    free(text);
    json_decref(head);
    return report;
}

/* --------------------------------------------------------------------- reading */

typedef struct report_t {
    json_t *head;
    const char *link, *server;
    apr_uint64_t version, entry, knows;
    vault_bloom_bits_t filter; /* bits borrowed; NULL: none */
} report_t;

static apr_uint64_t number_of(const json_t *value)
{
    return json_integer_value(value) > 0 ? (apr_uint64_t)json_integer_value(value) : 0;
}

/* @return 0: the bits are not those of a filter */
static int parse_filter(report_t *r, const char *bits, apr_size_t size)
{
    apr_uint64_t positions = number_of(json_object_get(r->head, "positions"));
    apr_uint64_t hashes = number_of(json_object_get(r->head, "hashes"));

    if (!positions && !size) {
        return 1;
    }
    if (!positions || positions > VAULT_BLOOM_POSITIONS_MAX || positions % 8 || positions / 8 != size || !hashes ||
        hashes > VAULT_BLOOM_HASHES_MAX || !r->version) {
        return 0;
    }
    r->filter = (vault_bloom_bits_t){(unsigned char *)bits, (apr_uint32_t)positions, (unsigned)hashes};
    return 1;
}

/* @return 0: it is no report. r->head must be released in any case */
static int parse(report_t *r, const char *text, apr_size_t size, const char *own)
{
    const char *end = memchr(text, '\0', size);
    json_t *mine;

    memset(r, 0, sizeof(*r));
    r->head = end ? json_loadb(text, (size_t)(end - text), 0, NULL) : NULL;
    r->link = json_string_value(json_object_get(r->head, "link"));
    r->server = json_string_value(json_object_get(r->head, "server"));
    if (!r->link || strlen(r->link) != VAULT_FILTER_LINK - 1 ||
        strspn(r->link, "0123456789abcdef") != VAULT_FILTER_LINK - 1 || !r->server ||
        strlen(r->server) >= VAULT_FILTER_SERVER) {
        return 0;
    }
    r->version = number_of(json_object_get(r->head, "version"));
    mine = json_object_get(json_object_get(r->head, "known"), own);
    r->entry = number_of(json_array_get(mine, 0));
    r->knows = number_of(json_array_get(mine, 1));
    return parse_filter(r, end + 1, size - (apr_size_t)(end + 1 - text));
}

/* Its next link takes the place of the one that a server had before. */
static vault_filter_peer_t *find_locked(vault_filter_peers_t *p, const report_t *r)
{
    vault_filter_peer_t *found = NULL;
    unsigned i;

    for (i = 0; i < p->count;) {
        if (strcmp(p->peers[i].server, r->server)) {
            i++;
        }
        else if (strcmp(p->peers[i].link, r->link)) {
            forget_locked(p, &p->peers[i]);
        }
        else {
            found = &p->peers[i++];
        }
    }
    return found;
}

/* @return 0: there is no memory */
static int make_room_locked(vault_filter_peers_t *p)
{
    unsigned room = p->room ? 2 * p->room : 16;
    vault_filter_peer_t *more;

    if (p->count < p->room) {
        return 1;
    }
    more = realloc(p->peers, room * sizeof(*more));
    if (more) {
        p->peers = more;
        p->room = room;
    }
    return more != NULL;
}

static vault_filter_peer_t *add_locked(vault_filter_peers_t *p, const report_t *r)
{
    vault_filter_peer_t *peer;

    if (p->count == VAULT_PEERS_MAX || !make_room_locked(p)) {
        return NULL;
    }
    peer = &p->peers[p->count++];
    memset(peer, 0, sizeof(*peer));
    apr_cpystrn(peer->link, r->link, sizeof(peer->link));
    apr_cpystrn(peer->server, r->server, sizeof(peer->server));
    peer->entry = ++p->entries;
    peer->needs = p->version ? p->version : 1;
    return peer;
}

/* @return VAULT_FILTER_TELL, if there is something that the sender waits for */
static unsigned take_filter(vault_filter_peer_t *peer, const report_t *r)
{
    apr_size_t size = r->filter.positions / 8;
    unsigned char *bits = r->filter.bits && r->version >= peer->version ? malloc(size) : NULL;

    if (!bits) {
        return 0;
    }
    memcpy(bits, r->filter.bits, size);
    free(peer->bits.bits);
    peer->bits = (vault_bloom_bits_t){bits, r->filter.positions, r->filter.hashes};
    peer->version = r->version;
    return VAULT_FILTER_TELL;
}

/* What the sender knows of this server. */
static unsigned take_known_locked(const vault_filter_peers_t *p, vault_filter_peer_t *peer, const report_t *r)
{
    unsigned follows = 0;

    if (r->entry != peer->its_entry) { /* it has forgotten this server, or heard it for the first time */
        peer->its_entry = r->entry;
        peer->has_joined = 0;
        peer->knows = 0;
        peer->needs = p->version ? p->version : 1;
        follows |= VAULT_FILTER_BITS;
    }
    if (r->knows > peer->knows && r->knows <= p->version) {
        peer->knows = r->knows;
        follows |= VAULT_FILTER_KNOWN;
    }
    if (!peer->has_joined && peer->its_entry && peer->knows >= peer->needs) {
        peer->has_joined = 1;
        follows |= VAULT_FILTER_JOINED;
    }
    return follows;
}

static unsigned hear_locked(vault_filter_peers_t *p, const report_t *r, apr_time_t now)
{
    vault_filter_peer_t *peer = find_locked(p, r);
    unsigned follows = 0;

    if (!peer) {
        peer = add_locked(p, r);
        follows = VAULT_FILTER_TELL | VAULT_FILTER_BITS;
    }
    if (!peer) {
        return 0;
    }
    peer->heard = now;
    follows |= take_filter(peer, r);
    return follows | take_known_locked(p, peer, r);
}

unsigned vault_filter_peers_hear(vault_filter_peers_t *p, const void *report, apr_size_t size, const char *server,
                                 apr_time_t now)
{
    report_t r;
    unsigned follows = 0;

    pthread_mutex_lock(&p->lock);
    if (parse(&r, report, size, p->link) && strcmp(r.server, server)) {
        follows = hear_locked(p, &r, now);
    }
    pthread_mutex_unlock(&p->lock);
    json_decref(r.head);
    return follows;
}

unsigned vault_filter_peers_forget(vault_filter_peers_t *p, apr_time_t before)
{
    unsigned i, forgotten = 0;

    pthread_mutex_lock(&p->lock);
    for (i = 0; i < p->count;) {
        if (p->peers[i].heard < before) {
            forget_locked(p, &p->peers[i]);
            forgotten++;
        }
        else {
            i++;
        }
    }
    pthread_mutex_unlock(&p->lock);
    return forgotten;
}

apr_uint64_t vault_filter_peers_known(vault_filter_peers_t *p)
{
    apr_uint64_t known;
    unsigned i;

    pthread_mutex_lock(&p->lock);
    known = p->version;
    for (i = 0; i < p->count; i++) {
        known = p->peers[i].knows < known ? p->peers[i].knows : known;
    }
    pthread_mutex_unlock(&p->lock);
    return known;
}

static unsigned links_locked(const vault_filter_peers_t *p, apr_uint64_t hash, vault_filter_link_t *links)
{
    unsigned i, found = 0;

    for (i = 0; i < p->count; i++) {
        const vault_filter_peer_t *peer = &p->peers[i];
        if (peer->version && vault_bloom_has(&peer->bits, hash)) {
            memcpy(links[found++], peer->link, VAULT_FILTER_LINK);
        }
    }
    return found;
}

apr_status_t vault_filter_peers_find(vault_filter_peers_t *p, apr_uint64_t hash, vault_filter_link_t **links,
                                     unsigned *count)
{
    apr_status_t rv = APR_SUCCESS;

    pthread_mutex_lock(&p->lock);
    *links = NULL;
    *count = 0;
    if (p->count) {
        *links = calloc(p->count, sizeof(**links));
        rv = *links ? APR_SUCCESS : APR_ENOMEM;
    }
    if (*links) {
        *count = links_locked(p, hash, *links);
    }
    pthread_mutex_unlock(&p->lock);
    return rv;
}
