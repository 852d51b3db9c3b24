/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file exchange.h
 * What the children of a server tell its gateway, in shared memory: which interests are held, and what was notified.
 * And what one gateway leaves to the next: how far each engine has taken the notifies, and which other servers there
 * are.
 *
 * One child at a time has the gateway: the connections to the notification engines. It has a lease, so when this child
 * ends, another one continues, from the position up to which the engines have taken the notifies of this server.
 *
 * Threads: the parent calls create before any fork. Any thread of any process may call the others.
 */
#ifndef VAULT_EXCHANGE_H
#define VAULT_EXCHANGE_H

#include "gateway/peers.h"
#include "notify/slot.h"
#include "shm/journal.h"

/** The most engines. */
#define VAULT_EXCHANGE_LINKS VAULT_JOURNAL_READERS

typedef struct vault_exchange_t vault_exchange_t; /* a handle made before the fork, the same in every process */

/** What an exchange needs of a segment, in bytes. */
apr_uint64_t vault_exchange_space(void);

/** Make it, and let the notifier report which interests are held.
 * @param links  how many engines
 * @return as vault_journal_create() */
apr_status_t vault_exchange_create(vault_exchange_t **exchange, vault_segment_t *segment, vault_notifier_t *notifier,
                                   unsigned links, apr_pool_t *pool);

unsigned vault_exchange_links(const vault_exchange_t *x);

/** A random name that identifies this server to the others, the same in all its processes, until it is stopped. */
const char *vault_exchange_server(const vault_exchange_t *x);

/** When the exchange was created, as vault_now(). */
apr_time_t vault_exchange_since(const vault_exchange_t *x);

/** Does the interest concern other servers? Not if it is one that mod_vault makes for pages, sessions and outputs of
 * one server. */
int vault_exchange_crosses(const char *interest);

/** An interest was notified on this server: the gateway passes it on. */
void vault_exchange_notified(vault_exchange_t *x, const char *interest);

/** Something was perhaps not notified: the gateway has all other servers check for changes. */
void vault_exchange_notified_all(vault_exchange_t *x);

/** Become the gateway. @return 1: this child is it; 0: another one is, and lives */
int vault_exchange_claim(vault_exchange_t *x, unsigned slot);

/** Let another child be the gateway. */
void vault_exchange_yield(vault_exchange_t *x, unsigned slot);

/** The child that is the gateway; 0: none. */
unsigned vault_exchange_owner(const vault_exchange_t *x);

/** The journal of interests: entries are numbers of interests (vault_interest_t) that are held or released now. The
 * reader looks up whether the interest is held when it reads the entry. */
vault_journal_t *vault_exchange_held(const vault_exchange_t *x);

/** The journal of notifies: entries are names, without NUL. An entry of one NUL means: all. */
vault_journal_t *vault_exchange_outbox(const vault_exchange_t *x);

/** The other servers. */
vault_peers_t *vault_exchange_peers(const vault_exchange_t *x);

/** Which engine is that of which link: the gateway calls this before the next two. A graceful restart may have put the
 * engines into another order, or may have replaced some. An engine that was there before keeps its position. If some
 * were replaced, an interest may belong to another engine now, so each engine gets the lowest position of all, and
 * all other servers check for changes.
 * @param names  of the engines, one for each link */
void vault_exchange_set_engines(vault_exchange_t *x, const char *const *names);

/** How far the engine of a link has taken the outbox. Written by the gateway only. */
vault_journal_at_t vault_exchange_taken(const vault_exchange_t *x, unsigned link);
void vault_exchange_set_taken(vault_exchange_t *x, unsigned link, vault_journal_at_t at);

#endif
