/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file journal.h
 * A ring of entries in shared memory. Any process appends; each reader keeps its own position.
 *
 * A writer never waits for readers: it overwrites the oldest entries. A reader that has fallen behind is told that it
 * has missed some, and then it must do without them, such as by looking at everything anew.
 *
 * An entry is any bytes. A process that is killed inside may leave a half entry; then all readers are told that they
 * have missed some.
 *
 * Threads: the parent calls create before any fork. Any thread of any process may call the others. One robust lock
 * guards the ring, and no other lock is taken under it. It is held while an entry is copied.
 */
#ifndef VAULT_JOURNAL_H
#define VAULT_JOURNAL_H

#include "shm/segment.h"

typedef struct vault_journal_t vault_journal_t; /* a handle made before the fork, the same in every process */

/** A position in a journal: the number of bytes that were appended before it. It never wraps around. */
typedef apr_uint64_t vault_journal_at_t;

/** What a journal of `size` bytes needs of a segment. */
apr_uint64_t vault_journal_space(apr_uint32_t size);

/** The most threads that can wait for entries. */
#define VAULT_JOURNAL_READERS 16

/** Make a journal, and an eventfd for each reader that waits for new entries.
 * @param size     bytes for entries, with 4 bytes more for each; a power of two, 64 or more
 * @param readers  how many, at most VAULT_JOURNAL_READERS
 * @return APR_SUCCESS; APR_EINVAL the size or the number is not one of these; APR_ENOSPC the segment has not so much
 *         left; or an error of eventfd() */
apr_status_t vault_journal_create(vault_journal_t **journal, vault_segment_t *segment, apr_uint32_t size,
                                  unsigned readers, apr_pool_t *pool);

/** Append an entry. @return APR_SUCCESS; APR_ENOSPC it is empty or longer than a quarter of the ring */
apr_status_t vault_journal_append(vault_journal_t *j, const void *entry, apr_uint32_t size);

/** Something was not appended that should have been: tell each reader that it has missed entries. */
void vault_journal_lose(vault_journal_t *j);

/** Where the next entry goes. A new reader begins here. */
vault_journal_at_t vault_journal_end(vault_journal_t *j);

typedef enum vault_journal_read_t {
    VAULT_JOURNAL_NONE, /* there is nothing at this position yet */
    VAULT_JOURNAL_READ, /* an entry was copied, and the position moved behind it */
    VAULT_JOURNAL_LOST  /* entries at this position were overwritten; the position is now the end of the ring */
} vault_journal_read_t;

/** Read the next entry.
 * @param at    the reader's position; moved
 * @param room  of `entry`, in bytes; a longer entry is cut
 * @param size  the bytes that were copied */
vault_journal_read_t vault_journal_read(vault_journal_t *j, vault_journal_at_t *at, void *entry, apr_uint32_t room,
                                        apr_uint32_t *size);

/** Readable when there may be new entries for this reader, 0 and up. The reader calls vault_journal_hush() first, then
 * it reads until there is nothing more. */
int vault_journal_fd(const vault_journal_t *j, unsigned reader);
void vault_journal_hush(vault_journal_t *j, unsigned reader);

#endif
