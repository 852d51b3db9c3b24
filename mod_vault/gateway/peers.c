/* SPDX-License-Identifier: Apache-2.0 */
/* The other servers that the engines reach. */
#include "gateway/peers.h"

#include <jansson.h>
#include <string.h>

#include "apr_strings.h"

apr_status_t vault_peers_init(vault_peers_t *p)
{
    return vault_lock_init(&p->lock);
}

void vault_peers_format(char *text, apr_size_t room, const char *server, apr_uint64_t ring)
{
    apr_snprintf(text, room, "{\"version\": %d, \"server\": \"%s\", \"ring\": \"%" APR_UINT64_T_HEX_FMT "\"}",
                 VAULT_PEERS_VERSION, server, ring);
}

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

static vault_peers_heard_t hear_locked(vault_peers_t *p, const char *name, int is_stranger, apr_time_t now)
{
    vault_peer_t *peer = find_locked(p, name);
    int is_new = !peer;

    if (!peer && p->count < VAULT_PEERS_MAX) {
        peer = &p->peers[p->count++];
        memset(peer, 0, sizeof(*peer));
        apr_cpystrn(peer->name, name, sizeof(peer->name));
    }
    if (!peer) {
        return VAULT_PEERS_KNOWN;
    }
    is_new |= peer->is_stranger != is_stranger;
    peer->heard = now;
    peer->is_stranger = is_stranger;
    return !is_new ? VAULT_PEERS_KNOWN : is_stranger ? VAULT_PEERS_STRANGER : VAULT_PEERS_JOINED;
}

vault_peers_heard_t vault_peers_hear(vault_peers_t *p, const void *text, apr_size_t size, const char *own,
                                     apr_uint64_t ring, apr_time_t now, char name[VAULT_PEER_NAME_MAX])
{
    json_t *beat = json_loadb(text, size, 0, NULL);
    const char *server = json_string_value(json_object_get(beat, "server"));
    const char *theirs = json_string_value(json_object_get(beat, "ring"));
    vault_peers_heard_t heard = VAULT_PEERS_KNOWN;
    char ours[20];

    if (server && strcmp(server, own)) {
        int version = (int)json_integer_value(json_object_get(beat, "version"));
        apr_snprintf(ours, sizeof(ours), "%" APR_UINT64_T_HEX_FMT, ring);
        apr_cpystrn(name, server, VAULT_PEER_NAME_MAX);
        vault_lock_acquire(&p->lock);
        heard = hear_locked(p, name, version != VAULT_PEERS_VERSION || !theirs || strcmp(theirs, ours), now);
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
