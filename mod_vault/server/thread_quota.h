/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file thread_quota.h
 * How many suspended requests hold a thread each: VaultLongPollThreads.
 *
 * A request that cannot be parked with the MPM waits in the thread that handles it. It holds that thread from its
 * first wait to its answer. If a child has several threads, the limit applies to each child. If a child has one
 * thread (prefork), the limit applies to all children together: a limit for each child would let waiting polls occupy
 * every process of the server.
 *
 * Any thread of a child may call these functions after child_init. The count is in the slot of the child. So it goes
 * when the child is killed.
 */
#ifndef VAULT_THREAD_QUOTA_H
#define VAULT_THREAD_QUOTA_H

/** Count one more request that holds a thread.
 * @return 1; 0 the limit is reached: nothing is counted */
int vault_thread_quota_take(void);

/** The request no longer holds its thread. */
void vault_thread_quota_release(void);

/** Is the limit reached now? For a decision before the request waits; it may be outdated then. */
int vault_thread_quota_is_used_up(void);

/** Does each child have one thread, so that the limit applies to all children together? */
int vault_thread_quota_is_shared(void);

#endif
