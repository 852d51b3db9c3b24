/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps in the numbers of messages: see senders.h. */
#include "gateway/senders.h"

#include <string.h>

#include "apr_strings.h"

void vault_senders_init(vault_senders_t *s)
{
    memset(s, 0, sizeof(*s));
    pthread_mutex_init(&s->lock, NULL);
}

static vault_sender_t *find_locked(vault_senders_t *s, const char *name)
{
    unsigned i;

    for (i = 0; i < s->count; i++) {
        if (!strcmp(s->senders[i].name, name)) {
            return &s->senders[i];
        }
    }
    return NULL;
}

/* If the table is full, the sender remains unknown, and each message of it counts as one after a gap. */
static void add_locked(vault_senders_t *s, const char *name, apr_uint64_t number, apr_time_t now)
{
    if (s->count < VAULT_SENDERS_MAX) {
        vault_sender_t *sender = &s->senders[s->count++];
        apr_cpystrn(sender->name, name, sizeof(sender->name));
        sender->last = number;
        sender->heard = now;
    }
}

int vault_senders_hear(vault_senders_t *s, const char *name, apr_uint64_t number, int is_numbered, apr_time_t now)
{
    vault_sender_t *sender;
    int has_gap = 1;

    pthread_mutex_lock(&s->lock);
    sender = find_locked(s, name);
    if (!sender) {
        add_locked(s, name, number, now);
    }
    else {
        has_gap = number > sender->last + (is_numbered ? 1 : 0);
        sender->last = number > sender->last ? number : sender->last;
        sender->heard = now;
    }
    pthread_mutex_unlock(&s->lock);
    return has_gap;
}

void vault_senders_forget(vault_senders_t *s, apr_time_t before)
{
    unsigned i;

    pthread_mutex_lock(&s->lock);
    for (i = 0; i < s->count;) {
        if (s->senders[i].heard < before) {
            s->senders[i] = s->senders[--s->count];
        }
        else {
            i++;
        }
    }
    pthread_mutex_unlock(&s->lock);
}
