/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of entries in shared memory. Each entry has its length in front of it; both may go around the end. */
#include "shm/journal.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "shm/lock.h"

#define SIZE_MIN 64

typedef struct ring_t {
    _Alignas(64) vault_lock_t lock;
    vault_journal_at_t begin;                 /* lock; entries before it are gone */
    vault_journal_at_t end;                   /* lock */
    apr_uint32_t rung[VAULT_JOURNAL_READERS]; /* atomic, each; the eventfd was written, and not read since */
    char bytes[];                             /* lock */
} ring_t;

struct vault_journal_t {
    ring_t *ring;
    apr_uint32_t size;
    unsigned readers;
    int fds[VAULT_JOURNAL_READERS];
};

apr_uint64_t vault_journal_space(apr_uint32_t size)
{
    return sizeof(ring_t) + size + 128;
}

static apr_status_t open_fds(vault_journal_t *j, unsigned readers)
{
    for (; j->readers < readers; j->readers++) {
        j->fds[j->readers] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (j->fds[j->readers] < 0) {
            apr_status_t rv = APR_FROM_OS_ERROR(errno);
            while (j->readers) {
                close(j->fds[--j->readers]);
            }
            return rv;
        }
    }
    return APR_SUCCESS;
}

apr_status_t vault_journal_create(vault_journal_t **journal, vault_segment_t *segment, apr_uint32_t size,
                                  unsigned readers, apr_pool_t *pool)
{
    vault_journal_t *j = apr_pcalloc(pool, sizeof(*j));
    apr_status_t rv;

    *journal = NULL;
    if (size < SIZE_MIN || (size & (size - 1)) || readers > VAULT_JOURNAL_READERS) {
        return APR_EINVAL;
    }
    j->size = size;
    j->ring = vault_segment_at(segment, vault_segment_carve(segment, sizeof(ring_t) + size), sizeof(ring_t) + size);
    if (!j->ring) {
        return APR_ENOSPC;
    }
    if ((rv = vault_lock_init(&j->ring->lock)) == APR_SUCCESS && (rv = open_fds(j, readers)) == APR_SUCCESS) {
        *journal = j;
    }
    return rv;
}

/* ---------------------------------------------------------------------- bytes */

static void copy_in(vault_journal_t *j, vault_journal_at_t at, const void *from, apr_uint32_t size)
{
    apr_uint32_t place = (apr_uint32_t)(at & (j->size - 1)), first = j->size - place;

    first = first < size ? first : size;
    memcpy(j->ring->bytes + place, from, first);
    memcpy(j->ring->bytes, (const char *)from + first, size - first);
}

static void copy_out(const vault_journal_t *j, vault_journal_at_t at, void *to, apr_uint32_t size)
{
    apr_uint32_t place = (apr_uint32_t)(at & (j->size - 1)), first = j->size - place;

    first = first < size ? first : size;
    memcpy(to, j->ring->bytes + place, first);
    memcpy((char *)to + first, j->ring->bytes, size - first);
}

/* ---------------------------------------------------------------------- lock */

static void lose_locked(ring_t *ring)
{
    /* One byte further, so that a reader that has read everything also sees that it has missed something. */
    ring->begin = ring->end = ring->end + 1;
}

/* A process that was killed inside may have written over entries without having moved `begin`. */
static ring_t *acquire(vault_journal_t *j)
{
    if (vault_lock_acquire(&j->ring->lock)) {
        lose_locked(j->ring);
    }
    return j->ring;
}

static void release_and_ring(vault_journal_t *j)
{
    static const apr_uint64_t one = 1;
    unsigned i;

    vault_lock_release(&j->ring->lock);
    for (i = 0; i < j->readers; i++) {
        if (!__atomic_exchange_n(&j->ring->rung[i], 1, __ATOMIC_SEQ_CST)) {
            while (write(j->fds[i], &one, sizeof(one)) < 0 && errno == EINTR) {
            }
        }
    }
}

/* ------------------------------------------------------------------- writers */

/* Move `begin` behind the entries that `need` bytes at the end will overwrite. */
static void make_room_locked(vault_journal_t *j, apr_uint32_t need)
{
    ring_t *ring = j->ring;

    while (ring->end + need - ring->begin > j->size) {
        apr_uint32_t length;

        copy_out(j, ring->begin, &length, sizeof(length));
        if (length > ring->end - ring->begin) { /* a stray write was here */
            lose_locked(ring);
            return;
        }
        ring->begin += sizeof(length) + length;
    }
}

apr_status_t vault_journal_append(vault_journal_t *j, const void *entry, apr_uint32_t size)
{
    ring_t *ring;

    if (!size || size > j->size / 4) {
        return APR_ENOSPC;
    }
    ring = acquire(j);
    make_room_locked(j, size + (apr_uint32_t)sizeof(size));
    copy_in(j, ring->end, &size, sizeof(size));
    copy_in(j, ring->end + sizeof(size), entry, size);
    ring->end += sizeof(size) + size;
    release_and_ring(j);
    return APR_SUCCESS;
}

void vault_journal_lose(vault_journal_t *j)
{
    lose_locked(acquire(j));
    release_and_ring(j);
}

/* ------------------------------------------------------------------- readers */

vault_journal_at_t vault_journal_end(vault_journal_t *j)
{
    vault_journal_at_t end = acquire(j)->end;

    vault_lock_release(&j->ring->lock);
    return end;
}

static vault_journal_read_t read_locked(vault_journal_t *j, vault_journal_at_t *at, void *entry, apr_uint32_t room,
                                        apr_uint32_t *size)
{
    ring_t *ring = j->ring;
    apr_uint32_t length;

    if (*at == ring->end) {
        return VAULT_JOURNAL_NONE;
    }
    if (*at < ring->begin || *at > ring->end) {
        *at = ring->end;
        return VAULT_JOURNAL_LOST;
    }
    copy_out(j, *at, &length, sizeof(length));
    *size = length < room ? length : room;
    copy_out(j, *at + sizeof(length), entry, *size);
    *at += sizeof(length) + length;
    return VAULT_JOURNAL_READ;
}

vault_journal_read_t vault_journal_read(vault_journal_t *j, vault_journal_at_t *at, void *entry, apr_uint32_t room,
                                        apr_uint32_t *size)
{
    vault_journal_read_t found;

    *size = 0;
    acquire(j);
    found = read_locked(j, at, entry, room, size);
    vault_lock_release(&j->ring->lock);
    return found;
}

int vault_journal_fd(const vault_journal_t *j, unsigned reader)
{
    return j->fds[reader];
}

void vault_journal_hush(vault_journal_t *j, unsigned reader)
{
    apr_uint64_t rings;

    while (read(j->fds[reader], &rings, sizeof(rings)) < 0 && errno == EINTR) {
    }
    __atomic_store_n(&j->ring->rung[reader], 0, __ATOMIC_SEQ_CST);
}
