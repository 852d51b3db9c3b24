/* SPDX-License-Identifier: Apache-2.0 */
/* The subscriptions of one link: to the interests of its engine that are held on this server. */
#include "gateway/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "gateway/subject.h"
#include "mod_vault/vault.h"

int vault_link_has(const vault_link_t *l, const char *name)
{
    return vault_exchange_crosses(name) && vault_hash_ring_owner(l->ring, name) == l->number;
}

/* @return 0: there is no memory */
static int will_settle(vault_link_t *l, vault_interest_t interest)
{
    if (l->settling_count == l->settling_room) {
        unsigned room = l->settling_room ? 2 * l->settling_room : 256;
        vault_interest_t *more = realloc(l->settling, room * sizeof(*more));
        if (!more) {
            return 0;
        }
        l->settling = more;
        l->settling_room = room;
    }
    l->settling[l->settling_count++] = interest;
    return 1;
}

static void unsettle(vault_link_t *l, vault_link_sub_t *s)
{
    if (s->is_settled) {
        s->is_settled = 0;
        vault_count(l->counters, engine_interests, -1);
    }
}

static void drop_subscription(vault_link_t *l, vault_link_sub_t *s)
{
    if (s->subscription) {
        l->options->engine->unsubscribe(l->link, s->subscription);
        s->subscription = NULL;
        unsettle(l, s);
    }
}

/* Subscribe to the interest that this index names now, and drop the subscription to the one that it named before. If a
 * subscription cannot be made, the link is lost, and the next link subscribes to all. */
static void look_at(vault_link_t *l, vault_interest_t interest)
{
    vault_link_sub_t *s = &l->subs[interest];
    char name[VAULT_INTEREST_MAX + 1], subject[VAULT_ENGINE_SUBJECT_MAX];
    apr_size_t length = strlen(l->prefix) + strlen(VAULT_LINK_INTERESTS);
    apr_uint64_t hash;

    vault_interest_name(l->options->notifier, interest, name, sizeof(name));
    hash = vault_hash_text(l->seed, name);
    if (s->subscription && s->name == hash) {
        return;
    }
    drop_subscription(l, s);
    if (!*name || !vault_link_has(l, name)) {
        return;
    }
    memcpy(subject, l->prefix, strlen(l->prefix));
    memcpy(subject + strlen(l->prefix), VAULT_LINK_INTERESTS, strlen(VAULT_LINK_INTERESTS));
    if (!vault_subject_of(name, subject + length, sizeof(subject) - length) ||
        l->options->engine->subscribe(l->link, subject, &s->subscription) != APR_SUCCESS) {
        s->subscription = NULL;
        return;
    }
    s->name = hash;
    l->is_dirty = 1;
    if (!will_settle(l, interest)) {
        l->owes_all = 1;
    }
}

void vault_link_look_at_all(vault_link_t *l)
{
    vault_interest_t i, last = vault_notifier_interests(l->options->notifier);

    l->held_at = vault_journal_end(vault_exchange_held(l->options->exchange));
    for (i = 1; i <= last; i++) {
        if (l->subs[i].subscription || vault_interest_holders(l->options->notifier, i)) {
            look_at(l, i);
        }
    }
}

int vault_link_follow_interests(vault_link_t *l)
{
    vault_journal_t *held = vault_exchange_held(l->options->exchange);
    vault_interest_t interest = 0;
    apr_uint32_t size;
    int i;

    for (i = 0; i < VAULT_LINK_BATCH; i++) {
        switch (vault_journal_read(held, &l->held_at, &interest, sizeof(interest), &size)) {
        case VAULT_JOURNAL_NONE:
            return 0;
        case VAULT_JOURNAL_LOST:
            vault_link_look_at_all(l);
            break;
        case VAULT_JOURNAL_READ:
            if (interest && interest <= vault_notifier_interests(l->options->notifier)) {
                look_at(l, interest);
            }
            break;
        }
    }
    return 1;
}

/* The engine has taken the subscription. The pages that hold the interest may have read their data before. */
static void settle_one(vault_link_t *l, vault_interest_t interest, int is_notified)
{
    vault_link_sub_t *s = &l->subs[interest];

    if (!is_notified) {
        vault_notifier_notify_interest(l->options->notifier, interest, l->options->slot);
    }
    if (s->subscription && !s->is_settled) {
        s->is_settled = 1;
        vault_count(l->counters, engine_interests, 1);
    }
}

void vault_link_settle_interests(vault_link_t *l, int is_notified)
{
    unsigned i;

    for (i = 0; i < l->settling_count; i++) {
        settle_one(l, l->settling[i], is_notified);
    }
    l->settling_count = 0;
}

void vault_link_forget_interests(vault_link_t *l)
{
    vault_interest_t i, last = vault_notifier_interests(l->options->notifier);

    for (i = 1; i <= last; i++) {
        l->subs[i].subscription = NULL;
        unsettle(l, &l->subs[i]);
    }
}
