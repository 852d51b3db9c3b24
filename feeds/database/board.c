/* SPDX-License-Identifier: Apache-2.0 */
/* A lock, a place and marks in memory that children share. */
#include "board.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apr_file_info.h"
#include "apr_strings.h"

#include "dialect.h"
#include "interests.h"
#include "knock.h"

/* Which interests a change touches (interests.c) is a part of what a mark says, and this its version. */
#define INTERESTS_VERSION 1

/* Marks that writers may leave between two looks without telling who watches: far fewer than there is room for. */
#define QUIET_MARKS (DATABASE_MARKS / 4)

/* Of what is in it, and what it means: children of two versions do not share one. */
#define BOARD_VERSION 7
/* Of an incarnation, with its NUL. */
#define INCARNATION_BYTES 64

struct database_board_t {
    char place[DATABASE_PLACE_BYTES];              /* who holds the lock; in a page of its own */
    char incarnation[INCARNATION_BYTES];           /* who holds the lock */
    _Atomic pid_t holder;                          /* atomic: who holds the lock, when it has said so; 0: nobody has */
    _Atomic apr_int64_t floor;                     /* atomic: one more than the number; 0: none */
    _Atomic apr_uint64_t known;                    /* atomic: 0: none */
    _Atomic apr_int64_t seen;                      /* atomic: 0: never */
    _Atomic database_era_t era;                    /* atomic */
    _Atomic int is_quiet;                          /* atomic */
    _Atomic apr_uint32_t next;                     /* atomic: how many marks were ever left, */
    _Atomic apr_uint32_t cleared;                  /* atomic: and how many of them before the last look */
    _Atomic database_mark_t marks[DATABASE_MARKS]; /* atomic, each */
    database_recent_t recent;
    sql_sight_t sights[SQL_SIGHTS]; /* atomic, each */
};

/* ------------------------------------------------------------ open */

/* The pool of the whole process: its data outlive restarts. */
static apr_pool_t *lasting_pool(apr_pool_t *pool)
{
    apr_pool_t *parent = apr_pool_parent_get(pool);

    while (parent != NULL && apr_pool_parent_get(parent) != NULL) {
        pool = parent;
        parent = apr_pool_parent_get(pool);
    }
    return pool;
}

static const char *model_digest(const database_t *feed, apr_pool_t *pool)
{
    char *entities = feed->model != NULL ? json_dumps(feed->model->entities, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    const char *digest = database_digest(entities != NULL ? entities : "", pool);

    free(entities);
    return digest;
}

/* Names a VaultFeed over restarts: as long as its parameters and its model stay, so does its place. With another model other interests are
 * touched, of which the old generation's watcher, still there, knows nothing. */
static const char *key_of(const database_t *feed, const apr_table_t *given, apr_pool_t *pool)
{
    const apr_array_header_t *list = apr_table_elts(given);
    const char *all = "";

    for (int i = 0; i < list->nelts; i++) {
        const apr_table_entry_t *entry = &APR_ARRAY_IDX(list, i, apr_table_entry_t);

        all = apr_pstrcat(pool, all, entry->key, "=", entry->val, "\n", NULL);
    }
    return apr_psprintf(pool, "vault_feed_database board %d of %d bytes %s %s", BOARD_VERSION,
                        (int)sizeof(database_board_t), database_digest(all, pool), model_digest(feed, pool));
}

static int make_memory(void)
{
    int fd = memfd_create("vault-watch", MFD_CLOEXEC);

    if (fd >= 0 && ftruncate(fd, sizeof(database_board_t)) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static apr_status_t unmap(void *board)
{
    munmap(board, sizeof(database_board_t));
    return APR_SUCCESS;
}

/* It lies beside the file that a link leads to, not beside the link. */
static const char *journal_of(const database_t *feed, apr_pool_t *pool)
{
    const database_dialect_t *dialect = database_dialect_of(&feed->sql);
    apr_finfo_t found;

    if (dialect == NULL || dialect->journal == NULL ||
        (apr_stat(&found, feed->sql.database, APR_FINFO_LINK | APR_FINFO_TYPE, pool) == APR_SUCCESS &&
         found.filetype == APR_LNK)) {
        return NULL;
    }
    return apr_pstrcat(pool, feed->sql.database, dialect->journal, NULL);
}

const char *database_board_open(database_t *feed, const apr_table_t *given, apr_pool_t *pconf)
{
    apr_pool_t *pool = lasting_pool(pconf);
    const char *key = key_of(feed, given, pconf);
    void *found = NULL;
    void *memory;

    apr_pool_userdata_get(&found, key, pool);
    if (found == NULL) {
        /* A number, so that nothing of this object has to stay when it is unloaded. */
        found = (void *)(apr_uintptr_t)(make_memory() + 1);
        if (found == NULL) {
            return apr_psprintf(pconf, "no memory for the place of the watcher: %s", strerror(errno));
        }
        apr_pool_userdata_set(found, key, NULL, pool);
    }
    feed->board_fd = (int)(apr_uintptr_t)found - 1;
    memory = mmap(NULL, sizeof(database_board_t), PROT_READ | PROT_WRITE, MAP_SHARED, feed->board_fd, 0);
    if (memory == MAP_FAILED) {
        return apr_psprintf(pconf, "no memory for the place of the watcher: %s", strerror(errno));
    }
    feed->board = memory;
    feed->sql.sights = feed->board->sights;
    feed->journal = journal_of(feed, pconf);
    feed->knock = feed->journal != NULL && feed->look != 0 ? database_knock_open(pconf) : -1;
    feed->marked_as = apr_psprintf(pconf, "%d %s", INTERESTS_VERSION, model_digest(feed, pconf));
    apr_pool_cleanup_register(pconf, memory, unmap, apr_pool_cleanup_null);
    return NULL;
}

/* ------------------------------------------------------------ the lock, the place */

/* Of the process, not of the descriptor that children inherit: it goes when the process does. */
static int set_lock(const database_t *feed, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(feed->board_fd, F_SETLK, &lock) == 0;
}

int database_board_lock(const database_t *feed)
{
    int is_locked = set_lock(feed, F_WRLCK);

    if (is_locked) {
        feed->board->holder = getpid();
    }
    return is_locked;
}

void database_board_unlock(const database_t *feed)
{
    feed->board->holder = 0;
    (void)set_lock(feed, F_UNLCK);
}

int database_board_await(const database_t *feed)
{
    pid_t holder = feed->board->holder;

    return holder > 0 ? (int)syscall(SYS_pidfd_open, holder, 0) : -1;
}

/* By the kernel, which copies whole a page that a process is killed in: half a place might be one far ahead. */
void database_board_read_place(const database_t *feed, char *place)
{
    memset(place, 0, DATABASE_PLACE_BYTES);
    if (pread(feed->board_fd, place, DATABASE_PLACE_BYTES - 1, offsetof(database_board_t, place)) < 0) {
        place[0] = '\0';
    }
}

static apr_int64_t floor_of(const database_t *feed, const char *place)
{
    const database_dialect_t *dialect = database_dialect_of(&feed->sql);

    return dialect != NULL && dialect->floor_of != NULL ? dialect->floor_of(place) : apr_strtoi64(place, NULL, 10);
}

void database_board_keep_place(const database_t *feed, const char *place)
{
    char kept[DATABASE_PLACE_BYTES] = "";

    apr_cpystrn(kept, place, sizeof(kept));
    (void)pwrite(feed->board_fd, kept, sizeof(kept), offsetof(database_board_t, place));
    feed->board->floor = place[0] != '\0' ? floor_of(feed, place) + 1 : 0;
}

/* One that is half written, by a process that was killed then, is no database's. */
int database_board_is_of(const database_t *feed, const char *incarnation)
{
    return incarnation == NULL || strncmp(feed->board->incarnation, incarnation, INCARNATION_BYTES - 1) == 0;
}

void database_board_keep_incarnation(const database_t *feed, const char *incarnation)
{
    apr_cpystrn(feed->board->incarnation, incarnation != NULL ? incarnation : "", INCARNATION_BYTES);
}

apr_int64_t database_board_floor(const database_t *feed)
{
    return feed->board->floor - 1;
}

/* Two writers may come here in either order: the lower one costs some reading. */
void database_board_raise_floor(const database_t *feed, apr_int64_t floor)
{
    feed->board->floor = floor + 1;
}

apr_uint64_t database_board_known(const database_t *feed)
{
    return feed->board->known;
}

void database_board_know(const database_t *feed, apr_uint64_t footprint)
{
    feed->board->known = footprint;
}

apr_time_t database_board_seen(const database_t *feed)
{
    return feed->board->seen;
}

/* Two looks may come here in either order: the older one costs a look of the watcher. */
void database_board_see(const database_t *feed, apr_time_t began)
{
    feed->board->seen = began;
}

int database_board_is_quiet(const database_t *feed)
{
    const database_board_t *board = feed->board;

    return board->is_quiet && (apr_uint32_t)(board->next - board->cleared) < QUIET_MARKS;
}

void database_board_set_quiet(const database_t *feed, int quiet)
{
    feed->board->is_quiet = quiet;
}

database_recent_t *database_board_recent(const database_t *feed)
{
    return &feed->board->recent;
}

/* ------------------------------------------------------------ marks */

database_era_t database_board_era(const database_t *feed)
{
    return feed->board->era;
}

void database_board_end_era(const database_t *feed)
{
    feed->board->era++;
}

/* Two marks that are not of the same are the same once in 2^64: nobody draws them. */
static database_mark_t mix(database_mark_t mark, apr_uint64_t value)
{
    mark = (mark ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return mark ^ mark >> 29;
}

/* With its NUL, so that texts one after the other stay apart. */
static database_mark_t mix_text(database_mark_t mark, const char *text)
{
    do {
        mark = mix(mark, (unsigned char)*text);
    } while (*text++ != '\0');
    return mark;
}

database_mark_t database_board_mark(const database_t *feed, database_era_t era, const char *epoch, apr_int64_t id)
{
    database_mark_t mark = mix_text(mix_text(1, feed->marked_as), epoch);

    mark = mix(mix(mark, era), (apr_uint64_t)id);
    return mark != 0 ? mark : 1;
}

void database_board_leave(const database_t *feed, const database_mark_t *marks, int count)
{
    for (int i = 0; i < count; i++) {
        feed->board->marks[feed->board->next++ % DATABASE_MARKS] = marks[i];
    }
}

int database_board_has(const database_t *feed, database_mark_t mark)
{
    for (int i = 0; i < DATABASE_MARKS; i++) {
        if (feed->board->marks[i] == mark) {
            return 1;
        }
    }
    return 0;
}

void database_board_copy(const database_t *feed, database_marks_t *marks)
{
    marks->era = feed->board->era;
    marks->next = feed->board->next;
    for (int i = 0; i < DATABASE_MARKS; i++) {
        marks->at[i] = feed->board->marks[i];
    }
}

int database_marks_have(const database_marks_t *marks, database_mark_t mark)
{
    for (int i = 0; i < DATABASE_MARKS; i++) {
        if (marks->at[i] == mark) {
            return 1;
        }
    }
    return 0;
}

void database_board_clear(const database_t *feed, const database_marks_t *marks)
{
    for (int i = 0; i < DATABASE_MARKS; i++) {
        database_mark_t was = marks->at[i];

        /* One that was left meanwhile stays. */
        if (was != 0) {
            atomic_compare_exchange_strong(&feed->board->marks[i], &was, 0);
        }
    }
    feed->board->cleared = marks->next;
}
