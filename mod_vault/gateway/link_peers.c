/* SPDX-License-Identifier: Apache-2.0 */
/* Heartbeats: what one link tells the other servers, and hears of them. */
#include "gateway/link.h"

#include <string.h>

#include "base/hash.h"
#include "base/now.h"
#include "gateway/strategy.h"

/* Servers with other engines or another strategy do not understand each other. Those of a routed cluster of engines may
 * each know another one of them. */
static apr_uint64_t version_of(const vault_link_t *l)
{
    apr_uint64_t version = vault_hash_ring_version(l->ring);

    if (l->options->count == 1 && vault_strategy_is_for_routed(l->strategy)) {
        version = 0;
    }
    return l->strategy == &vault_strategy_subscriptions ? version : vault_hash_text(version, l->strategy->name);
}

void vault_link_beat(vault_link_t *l)
{
    char text[VAULT_PEERS_BEAT_MAX];
    vault_facts_t facts = {0};

    l->options->look(&facts);
    vault_peers_format(text, l->options->server, version_of(l), &facts);
    vault_link_publish_kind(l, VAULT_LINK_BEATS, text, strlen(text));
}

/* A server that is heard for the first time may take the place of one that was cut off, then notified on its own side,
 * and died before it was heard again. */
void vault_link_hear(vault_link_t *l, const void *data, apr_size_t size)
{
    char name[VAULT_PEER_NAME_MAX];

    switch (vault_peers_hear(vault_exchange_peers(l->options->exchange), data, size, l->options->server, version_of(l),
                             vault_now(), name)) {
    case VAULT_PEERS_STRANGER:
        vault_link_say(l, VAULT_GATEWAY_STRANGER, name);
        break;
    case VAULT_PEERS_JOINED:
        vault_link_check_all(l);
        break;
    case VAULT_PEERS_KNOWN:
        break;
    }
}

/* While the engine does not answer, and while this process was stopped, no server can be heard. */
void vault_link_drop_silent(vault_link_t *l, apr_time_t now)
{
    char name[VAULT_PEER_NAME_MAX];

    if (!l->answers_since || now - l->answers_since < VAULT_GATEWAY_SILENCE) {
        return;
    }
    while (vault_peers_drop_silent(vault_exchange_peers(l->options->exchange), now - VAULT_GATEWAY_SILENCE, name)) {
        vault_link_say(l, VAULT_GATEWAY_SILENT, name);
        vault_link_check_all(l);
    }
}
