/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file thread_quota.h
 * How many suspended requests hold a thread each: VaultLongPollThreads.
 *
 * A request that cannot be parked with the MPM waits in the thread that handles it, and holds it from its first wait to its answer. In a child of
 * several threads the limit counts for the child, whose other threads serve its other connections. Where a child is one thread (prefork), it
 * counts for all children together: a limit of its own for each child would let waiting polls take every process of the server.
 *
 * Any thread of a child, after child_init. The count lies in the child's slot, so a child that is killed takes its places along.
 */
#ifndef VAULT_THREAD_QUOTA_H
#define VAULT_THREAD_QUOTA_H

/** Take a place.
 * @return 1; 0 all places are taken */
int vault_thread_quota_take(void);

/** Give a place back. */
void vault_thread_quota_release(void);

/** Are all places taken now? For an answer that has to be decided before anything waits. */
int vault_thread_quota_is_used_up(void);

/** Does a child have one thread only, so that the limit counts for all children together? */
int vault_thread_quota_is_shared(void);

#endif
