/* SPDX-License-Identifier: Apache-2.0 */
/* The interests of the engine of one link that are held on this server. */
#include "gateway/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "gateway/strategy.h"
#include "mod_vault/vault.h"

int vault_link_has(const vault_link_t *l, const char *name)
{
    return vault_exchange_crosses(name) && vault_hash_ring_owner(l->ring, name) == l->number;
}

/* @return 0: there is no memory */
static int will_settle(vault_link_t *l, vault_interest_t interest, apr_uint64_t mark)
{
    if (l->settling_count == l->settling_room) {
        unsigned room = l->settling_room ? 2 * l->settling_room : 256;
        vault_link_settling_t *more = realloc(l->settling, room * sizeof(*more));
        if (!more) {
            return 0;
        }
        l->settling = more;
        l->settling_room = room;
    }
    l->settling[l->settling_count++] = (vault_link_settling_t){interest, mark};
    return 1;
}

static void forget(vault_link_t *l, vault_link_interest_t *i)
{
    i->is_held = 0;
    if (i->is_settled) {
        i->is_settled = 0;
        vault_count(l->counters, engine_interests, -1);
    }
}

/* Give the strategy the interest that this index names now, and take back the one that it named before. If the strategy
 * cannot take it, the link is lost, and the next link begins with all. */
static void look_at(vault_link_t *l, vault_interest_t interest)
{
    vault_link_interest_t *i = &l->interests[interest];
    char name[VAULT_INTEREST_MAX + 1];
    apr_uint64_t hash, mark = 0;

    vault_interest_name(l->options->notifier, interest, name, sizeof(name));
    hash = vault_hash_text(l->seed, name);
    if (i->is_held && i->name == hash) {
        return;
    }
    if (i->is_held) {
        l->strategy->dropped(l, i);
        forget(l, i);
    }
    if (!*name || !vault_link_has(l, name)) {
        return;
    }
    i->name = hash;
    i->is_held = l->strategy->held(l, i, name, &mark);
    if (i->is_held && !will_settle(l, interest, mark)) {
        l->owes_all = 1;
    }
}

void vault_link_look_at_all(vault_link_t *l)
{
    vault_interest_t i, last = vault_notifier_interests(l->options->notifier);

    l->held_at = vault_journal_end(vault_exchange_held(l->options->exchange));
    for (i = 1; i <= last; i++) {
        if (l->interests[i].is_held || vault_interest_holders(l->options->notifier, i)) {
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

/* The pages that hold the interest may have read their data before. */
static void settle_one(vault_link_t *l, vault_interest_t interest, int is_notified)
{
    vault_link_interest_t *i = &l->interests[interest];

    if (!is_notified) {
        vault_notifier_notify_interest(l->options->notifier, interest, l->options->slot);
    }
    if (i->is_held && !i->is_settled) {
        i->is_settled = 1;
        vault_count(l->counters, engine_interests, 1);
    }
}

void vault_link_settle_interests(vault_link_t *l, apr_uint64_t mark, int is_notified)
{
    unsigned i;

    for (i = 0; i < l->settling_count && l->settling[i].mark <= mark; i++) {
        settle_one(l, l->settling[i].interest, is_notified);
    }
    if (i) { /* before the first, there is no array */
        l->settling_count -= i;
        memmove(l->settling, l->settling + i, l->settling_count * sizeof(*l->settling));
    }
}

void vault_link_forget_interests(vault_link_t *l)
{
    vault_interest_t i, last = vault_notifier_interests(l->options->notifier);

    for (i = 1; i <= last; i++) {
        forget(l, &l->interests[i]);
    }
}
