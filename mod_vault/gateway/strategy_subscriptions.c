/* SPDX-License-Identifier: Apache-2.0 */
/* Each interest that is held is a subscription at the engine, so servers receive only what concerns them. An interest
 * is settled when the engine has taken its subscription. */
#include "gateway/strategy.h"

#include <string.h>

#include "gateway/subject.h"

/* What follows the prefix in the subject of an interest. */
#define INTERESTS "i."

static void begin(vault_link_t *l)
{
}

static int held(vault_link_t *l, vault_link_interest_t *interest, const char *name, apr_uint64_t *mark)
{
    char subject[VAULT_ENGINE_SUBJECT_MAX];

    if (!vault_link_subject(l, subject, INTERESTS, name) ||
        l->options->engine->subscribe(l->link, subject, &interest->of.subscription) != APR_SUCCESS) {
        return 0;
    }
    l->is_dirty = 1;
    return 1;
}

static void dropped(vault_link_t *l, vault_link_interest_t *interest)
{
    l->options->engine->unsubscribe(l->link, interest->of.subscription);
}

static int notify(vault_link_t *l, const char *name)
{
    char subject[VAULT_ENGINE_SUBJECT_MAX];

    return !vault_link_subject(l, subject, INTERESTS, name) || vault_link_send(l, subject, NULL, 0);
}

static void message(vault_link_t *l, const char *kind, const void *data, apr_size_t size)
{
    char interest[VAULT_SUBJECT_MAX];

    if (!strncmp(kind, INTERESTS, strlen(INTERESTS)) &&
        vault_subject_interest(kind + strlen(INTERESTS), interest, sizeof(interest))) {
        vault_link_notified(l, interest);
    }
}

static void taken(vault_link_t *l, int is_notified)
{
    vault_link_settle_interests(l, 0, is_notified);
}

const vault_strategy_t vault_strategy_subscriptions = {
    .name = "subscriptions",
    .begin = begin,
    .held = held,
    .dropped = dropped,
    .notify = notify,
    .message = message,
    .taken = taken,
};
