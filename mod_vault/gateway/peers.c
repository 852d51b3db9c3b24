/* SPDX-License-Identifier: Apache-2.0 */
/* The other servers that the engines reach. */
#include "gateway/peers.h"

#include <jansson.h>
#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

apr_status_t vault_peers_init(vault_peers_t *p)
{
    return vault_lock_init(&p->lock);
}

/* --------------------------------------------------------------------- format */

static json_t *figures_json(const vault_facts_t *facts)
{
    json_t *figures = json_object();

#define SET(field, name, meaning) json_object_set_new(figures, name, json_integer((json_int_t)facts->field));
    VAULT_FACTS_FIGURES(SET)
#undef SET
    return figures;
}

void vault_peers_format(char *text, const char *server, apr_uint64_t ring, const vault_facts_t *facts)
{
    char digits[20];
    json_t *beat;
    size_t length;

    apr_snprintf(digits, sizeof(digits), "%" APR_UINT64_T_HEX_FMT, ring);
    beat = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:o}", "version", VAULT_PEERS_VERSION, "server", server, "ring",
                     digits, "address", facts->address, "release", facts->release, "strategy", facts->strategy,
                     "figures", figures_json(facts));
    length = json_dumpb(beat, text, VAULT_PEERS_BEAT_MAX - 1, JSON_COMPACT);
    text[length < VAULT_PEERS_BEAT_MAX ? length : 0] = '\0';
    json_decref(beat);
}

/* ---------------------------------------------------------------------- parse */

static void copy_text(char *copy, apr_size_t room, const char *text)
{
    char *at;

    apr_cpystrn(copy, text ? text : "", room);
    for (at = copy; *at; at++) {
        *at = apr_isascii(*at) && apr_isprint(*at) ? *at : '?';
    }
}

void vault_facts_copy_text(char copy[VAULT_FACTS_TEXT_MAX], const char *text)
{
    copy_text(copy, VAULT_FACTS_TEXT_MAX, text);
}

static apr_uint64_t figure_of(const json_t *figures, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(figures, name));

    return value > 0 ? (apr_uint64_t)value : 0;
}

static void parse_facts(vault_facts_t *facts, const json_t *beat)
{
    const json_t *figures = json_object_get(beat, "figures");

    vault_facts_copy_text(facts->address, json_string_value(json_object_get(beat, "address")));
    vault_facts_copy_text(facts->release, json_string_value(json_object_get(beat, "release")));
    vault_facts_copy_text(facts->strategy, json_string_value(json_object_get(beat, "strategy")));
#define GET(field, name, meaning) facts->field = figure_of(figures, name);
    VAULT_FACTS_FIGURES(GET)
#undef GET
}

/* ---------------------------------------------------------------------- table */

static vault_peer_t *find_locked(vault_peers_t *p, const char *name)
{
    unsigned i;

    for (i = 0; i < p->count; i++) {
        if (!strcmp(p->peers[i].name, name)) {
            return &p->peers[i];
        }
    }
    return NULL;
}

static void forget_locked(vault_peers_t *p, vault_peer_t *peer)
{
    *peer = p->peers[--p->count];
}

static vault_peers_heard_t hear_locked(vault_peers_t *p, const char *name, const vault_facts_t *facts, int is_stranger,
                                       apr_time_t now)
{
    vault_peer_t *peer = find_locked(p, name);
    int is_new = !peer;

    if (!peer && p->count < VAULT_PEERS_MAX) {
        peer = &p->peers[p->count++];
        memset(peer, 0, sizeof(*peer));
        apr_cpystrn(peer->name, name, sizeof(peer->name));
        peer->since = now;
    }
    if (!peer) {
        return VAULT_PEERS_KNOWN;
    }
    is_new |= peer->is_stranger != is_stranger;
    peer->heard = now;
    peer->facts = *facts;
    peer->is_stranger = is_stranger;
    return !is_new ? VAULT_PEERS_KNOWN : is_stranger ? VAULT_PEERS_STRANGER : VAULT_PEERS_JOINED;
}

vault_peers_heard_t vault_peers_hear(vault_peers_t *p, const void *text, apr_size_t size, const char *own,
                                     apr_uint64_t ring, apr_time_t now, char name[VAULT_PEER_NAME_MAX])
{
    json_t *beat = size < VAULT_PEERS_BEAT_MAX ? json_loadb(text, size, 0, NULL) : NULL;
    const char *server = json_string_value(json_object_get(beat, "server"));
    const char *theirs = json_string_value(json_object_get(beat, "ring"));
    vault_peers_heard_t heard = VAULT_PEERS_KNOWN;
    vault_facts_t facts = {0};
    char ours[20];

    if (server && strcmp(server, own)) {
        int version = (int)json_integer_value(json_object_get(beat, "version"));
        apr_snprintf(ours, sizeof(ours), "%" APR_UINT64_T_HEX_FMT, ring);
        copy_text(name, VAULT_PEER_NAME_MAX, server);
        parse_facts(&facts, beat);
        vault_lock_acquire(&p->lock);
        heard = hear_locked(p, name, &facts, version != VAULT_PEERS_VERSION || !theirs || strcmp(theirs, ours), now);
        vault_lock_release(&p->lock);
    }
    json_decref(beat);
    return heard;
}

int vault_peers_drop_silent(vault_peers_t *p, apr_time_t before, char name[VAULT_PEER_NAME_MAX])
{
    unsigned i;
    int found = 0;

    vault_lock_acquire(&p->lock);
    for (i = 0; i < p->count && !found; i++) {
        if (p->peers[i].heard < before) {
            apr_cpystrn(name, p->peers[i].name, VAULT_PEER_NAME_MAX);
            forget_locked(p, &p->peers[i]);
            found = 1;
        }
    }
    vault_lock_release(&p->lock);
    return found;
}

unsigned vault_peers_count(vault_peers_t *p)
{
    unsigned count;

    vault_lock_acquire(&p->lock);
    count = p->count;
    vault_lock_release(&p->lock);
    return count;
}

unsigned vault_peers_copy(vault_peers_t *p, vault_peer_t *copy)
{
    unsigned count;

    vault_lock_acquire(&p->lock);
    count = p->count;
    memcpy(copy, p->peers, count * sizeof(*copy));
    vault_lock_release(&p->lock);
    return count;
}
