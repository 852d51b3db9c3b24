/* SPDX-License-Identifier: Apache-2.0 */
/* Each notify is a message to all servers, under one subject that all of them subscribe to when they connect. So an
 * interest is settled as soon as it is held.
 *
 * The engine may be a routed NATS cluster, where flush() says nothing of the other engines: a message that one of them
 * takes may be lost before the subscription is known there, or while two engines are not connected. So each server
 * numbers its messages, and tells the number once a second. One that finds a gap has its pages check for changes. It
 * does so as well when it hears a link of another server for the first time.
 *
 * A message is "LINK NUMBER NAME". NAME may be empty: then NUMBER is that of the last message that has one. */
#include "gateway/strategy.h"

#include <stdlib.h>
#include <string.h>

#include "apr_general.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include "base/now.h"
#include "gateway/senders.h"
#include "mod_vault/vault.h"

#define NOTIFIES "n"
/* A name of a link, a number, and two spaces. */
#define HEAD_MAX (VAULT_SENDER_NAME + 21)

typedef struct broadcast_t {
    vault_senders_t others;
    char name[VAULT_SENDER_NAME]; /* of this link */
    apr_uint64_t sent;            /* messages with a name */
    apr_time_t tells_at;          /* when to tell their number again */
} broadcast_t;

static int start(vault_link_t *l)
{
    broadcast_t *b = calloc(1, sizeof(*b));

    l->state = b;
    if (b) {
        vault_senders_init(&b->others);
    }
    return b != NULL;
}

static void stop(vault_link_t *l)
{
    free(l->state);
}

static void begin(vault_link_t *l)
{
    broadcast_t *b = l->state;

    vault_link_name(b->name);
    b->sent = 0;
    b->tells_at = 0;
    vault_senders_forget(&b->others, APR_INT64_MAX); /* messages sent while the link was lost did not arrive */
    vault_link_subscribe(l, NOTIFIES);
}

static int held(vault_link_t *l, vault_link_interest_t *interest, const char *name, apr_uint64_t *mark)
{
    return 1;
}

static void dropped(vault_link_t *l, vault_link_interest_t *interest)
{
}

static int publish(vault_link_t *l, const char *name)
{
    broadcast_t *b = l->state;
    char subject[VAULT_ENGINE_SUBJECT_MAX], text[HEAD_MAX + VAULT_INTEREST_MAX + 1];
    int length = apr_snprintf(text, sizeof(text), "%s %" APR_UINT64_T_FMT " %s", b->name, b->sent, name);

    vault_link_subject(l, subject, NOTIFIES, NULL);
    return *name ? vault_link_send(l, subject, text, (apr_size_t)length)
                 : vault_link_publish(l, subject, text, (apr_size_t)length);
}

static int notify(vault_link_t *l, const char *name)
{
    broadcast_t *b = l->state;

    b->sent++;
    return publish(l, name);
}

/* @return what follows the number; NULL: it is no message of this strategy */
static const char *parse(char *text, const char **name, apr_uint64_t *number)
{
    char *end = strchr(text, ' ');

    if (!end || end - text != VAULT_SENDER_NAME - 1 || !apr_isdigit(end[1])) {
        return NULL;
    }
    *end = '\0';
    *name = text;
    *number = strtoull(end + 1, &end, 10);
    return *end == ' ' ? end + 1 : NULL;
}

static void message(vault_link_t *l, const char *kind, const void *data, apr_size_t size)
{
    broadcast_t *b = l->state;
    char text[HEAD_MAX + VAULT_INTEREST_MAX + 1];
    const char *name, *interest;
    apr_uint64_t number;

    if (strcmp(kind, NOTIFIES) || size >= sizeof(text)) {
        return;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    interest = parse(text, &name, &number);
    if (!interest) {
        return;
    }
    if (vault_senders_hear(&b->others, name, number, *interest != '\0', vault_now())) {
        vault_link_check_all(l);
    }
    if (*interest) {
        vault_link_notified(l, interest);
    }
}

static void taken(vault_link_t *l, int is_notified)
{
    vault_link_settle_interests(l, 0, 1);
}

static apr_time_t tick(vault_link_t *l, apr_time_t now)
{
    broadcast_t *b = l->state;

    vault_link_settle_interests(l, 0, 1);
    if (now >= b->tells_at) {
        b->tells_at = now + VAULT_GATEWAY_HEARTBEAT;
        publish(l, "");
        vault_senders_forget(&b->others, now - VAULT_GATEWAY_SILENCE);
    }
    return b->tells_at;
}

const vault_strategy_t vault_strategy_broadcast = {
    .name = "broadcast",
    .start = start,
    .stop = stop,
    .begin = begin,
    .held = held,
    .dropped = dropped,
    .notify = notify,
    .message = message,
    .taken = taken,
    .tick = tick,
};
