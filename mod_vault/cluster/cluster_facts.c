/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of this server, and those that the others have sent with their heartbeats. */
#include "cluster/cluster_facts.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "ap_listen.h"
#include "apr_strings.h"

#include "base/now.h"
#include "cluster/cluster_conf.h"
#include "gateway/exchange.h"
#include "notify/notifier.h"
#include "page/page.h"
#include "server/server.h"

#define AT(field) offsetof(vault_counters_t, field)

static apr_uint64_t sum_of(apr_size_t offset)
{
    const vault_notifier_t *n = vault_server->notifier;
    apr_uint64_t sum = 0;
    unsigned slot;

    for (slot = 0; slot <= vault_slot_last(n); slot++) {
        if (slot == 0 || vault_slot_pid(n, slot)) {
            const char *counters = (const char *)vault_slot_counters(n, slot);
            sum += __atomic_load_n((const apr_uint64_t *)(const void *)(counters + offset), __ATOMIC_RELAXED);
        }
    }
    return sum;
}

/* Servers may have the same ServerName, and those of one machine the same name of the machine. */
static void set_address(vault_facts_t *facts)
{
    char host[APRMAXHOSTLEN + 1] = "", text[APRMAXHOSTLEN + 8];

    gethostname(host, sizeof(host) - 1);
    apr_snprintf(text, sizeof(text), "%.*s:%d", VAULT_FACTS_TEXT_MAX - 8, host,
                 ap_listeners ? (int)ap_listeners->bind_addr->port : 0);
    vault_facts_copy_text(facts->address, text);
}

void vault_cluster_facts(vault_facts_t *facts)
{
    const vault_cluster_conf_t *conf = vault_cluster_conf();

    set_address(facts);
    vault_facts_copy_text(facts->release, VAULT_VERSION);
    vault_facts_copy_text(facts->strategy, vault_strategy_name(conf->strategy));
    facts->pages = vault_pages_count(vault_server->pages);
    facts->waiting = sum_of(AT(waiting));
    facts->interests = vault_interest_count(vault_server->notifier);
    facts->sent = sum_of(AT(notifies_sent));
    facts->received = sum_of(AT(notifies_received));
    facts->extraneous = sum_of(AT(notifies_extraneous));
    facts->engines = sum_of(AT(engines));
    facts->engines_max = conf->count;
}

unsigned vault_cluster_servers(vault_peer_t *servers)
{
    const vault_exchange_t *x = vault_server->exchange;

    if (!x) {
        return 0;
    }
    memset(servers, 0, sizeof(*servers));
    apr_cpystrn(servers->name, vault_exchange_server(x), sizeof(servers->name));
    servers->since = vault_exchange_since(x);
    servers->heard = vault_now();
    vault_cluster_facts(&servers->facts);
    return 1 + vault_peers_copy(vault_exchange_peers(x), servers + 1);
}

unsigned vault_cluster_count(void)
{
    const vault_exchange_t *x = vault_server->exchange;

    return x ? 1 + vault_peers_count(vault_exchange_peers(x)) : 0;
}
