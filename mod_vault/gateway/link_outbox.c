/* SPDX-License-Identifier: Apache-2.0 */
/* What one link sends: subscriptions, messages, and the notifies of this server, which wait in the outbox. */
#include "gateway/link.h"

#include <string.h>

#include "apr_strings.h"

#include "gateway/strategy.h"
#include "gateway/subject.h"
#include "mod_vault/vault.h"

int vault_link_subject(const vault_link_t *l, char *subject, const char *kind, const char *interest)
{
    apr_size_t length = strlen(l->prefix) + strlen(kind);

    memcpy(subject, l->prefix, strlen(l->prefix));
    memcpy(subject + strlen(l->prefix), kind, strlen(kind) + 1);
    return !interest || vault_subject_of(interest, subject + length, VAULT_ENGINE_SUBJECT_MAX - length);
}

void vault_link_subscribe(vault_link_t *l, const char *kind)
{
    void *ignored;

    l->options->engine->subscribe(l->link, apr_pstrcat(l->pool, l->prefix, kind, NULL), &ignored);
    l->is_dirty = 1;
}

int vault_link_publish(vault_link_t *l, const char *subject, const void *data, apr_size_t size)
{
    l->is_dirty = 1;
    return l->options->engine->publish(l->link, subject, data, size) == APR_SUCCESS;
}

int vault_link_send(vault_link_t *l, const char *subject, const void *data, apr_size_t size)
{
    vault_count(l->counters, notifies_sent, 1);
    return vault_link_publish(l, subject, data, size);
}

int vault_link_publish_kind(vault_link_t *l, const char *kind, const void *data, apr_size_t size)
{
    char subject[VAULT_ENGINE_SUBJECT_MAX];

    vault_link_subject(l, subject, kind, NULL);
    return vault_link_publish(l, subject, data, size);
}

/* An entry of the outbox. @return 0: it was not sent */
static int publish_entry(vault_link_t *l, char *name, apr_uint32_t size)
{
    name[size] = '\0';
    if (!*name) {
        return vault_link_publish_kind(l, VAULT_LINK_ALL, NULL, 0);
    }
    if (!vault_link_has(l, name)) {
        return 1;
    }
    return l->strategy->notify(l, name);
}

int vault_link_publish_outbox(vault_link_t *l)
{
    vault_journal_t *outbox = vault_exchange_outbox(l->options->exchange);
    char name[VAULT_INTEREST_MAX + 1];
    apr_uint32_t size;
    int i;

    for (i = 0; i < VAULT_LINK_BATCH; i++) {
        vault_journal_at_t at = l->sent_at;
        int is_sent = 1;

        switch (vault_journal_read(outbox, &at, name, sizeof(name) - 1, &size)) {
        case VAULT_JOURNAL_NONE:
            return 0;
        case VAULT_JOURNAL_LOST:
            vault_link_say(l, VAULT_GATEWAY_OVERRUN, NULL);
            is_sent = vault_link_publish_kind(l, VAULT_LINK_ALL, NULL, 0);
            break;
        case VAULT_JOURNAL_READ:
            is_sent = publish_entry(l, name, size);
            break;
        }
        if (!is_sent) {
            return 0; /* it stays in the outbox */
        }
        l->sent_at = at;
    }
    return 1;
}
