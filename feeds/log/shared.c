/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the children share: a lock, tickets and the ring. */
#include "log/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "apr_file_info.h"
#include "apr_strings.h"

#include "base/now.h"
#include "log/dialect.h"
#include "log/digest.h"

/* The version of the layout and of its meaning: children with different versions use different memory. */
#define SHARED_VERSION 9
/* Room for the text of an incarnation, with its NUL. */
#define INCARNATION_BYTES 64

struct log_shared_t {
    char incarnation[INCARNATION_BYTES];   /* written by the tailer */
    _Atomic pid_t tailer;                  /* atomic: the process that is the tailer, once it has registered; 0: none */
    _Atomic int reading;                   /* atomic: a log_reading_t */
    _Atomic apr_uint32_t asked;            /* atomic: how many tickets were taken */
    _Atomic apr_uint32_t served;           /* atomic: the last ticket that was served; a futex */
    _Atomic apr_uint64_t from_ring;        /* atomic: reads of pages from the ring */
    _Atomic apr_uint64_t by_sql[LOG_WHYS]; /* atomic, each: reads of pages by SQL, by their reason */
    sql_sight_t sights[SQL_SIGHTS];        /* atomic, each */
    apr_uint64_t ring[];                   /* ring.h */
};

/* ------------------------------------------------------------ open */

static apr_size_t ring_bytes(const change_log_t *feed)
{
    return (apr_size_t)feed->ring * 1024;
}

static apr_size_t memory_of(const change_log_t *feed)
{
    return sizeof(log_shared_t) + log_ring_memory(ring_bytes(feed));
}

const char *log_parameter_poll(change_log_t *log, const apr_table_t *given, int may_be_off, apr_pool_t *pool)
{
    const char *old = apr_table_get(given, "look");
    const char *name = old != NULL && old[0] != '\0' ? "look" : "poll";
    const sql_number_t poll[] = {{name, &log->poll, 10, 60000}, {NULL, NULL, 0, 0}};
    const char *value = apr_table_get(given, name), *wrong;

    if (may_be_off && value != NULL && strcmp(value, "0") == 0) {
        return NULL;
    }
    wrong = sql_parameter_numbers(poll, given, pool);
    return wrong != NULL && may_be_off ? apr_pstrcat(pool, wrong, ", and 0", NULL) : wrong;
}

/* The pool of the process: its data outlive restarts. */
static apr_pool_t *lasting_pool(apr_pool_t *pool)
{
    apr_pool_t *parent = apr_pool_parent_get(pool);

    while (parent != NULL && apr_pool_parent_get(parent) != NULL) {
        pool = parent;
        parent = apr_pool_parent_get(pool);
    }
    return pool;
}

/* Identifies a VaultFeed over restarts: its shared memory is kept as long as its parameters, and the interests that it
 * touches, are the same. */
static const char *key_of(const change_log_t *feed, const apr_table_t *given, const char *touches, apr_pool_t *pool)
{
    const apr_array_header_t *list = apr_table_elts(given);
    const char *all = "";

    for (int i = 0; i < list->nelts; i++) {
        const apr_table_entry_t *entry = &APR_ARRAY_IDX(list, i, apr_table_entry_t);

        all = apr_pstrcat(pool, all, entry->key, "=", entry->val, "\n", NULL);
    }
    return apr_psprintf(pool, "vault_feed shared %d of %d bytes %s %s", SHARED_VERSION, (int)memory_of(feed),
                        log_digest(all, pool), touches);
}

static int make_memory(const change_log_t *feed)
{
    int fd = memfd_create("vault-feed", MFD_CLOEXEC);

    if (fd >= 0 && ftruncate(fd, (off_t)memory_of(feed)) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int make_poke(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/* What the process keeps of a VaultFeed over restarts. It is in the pool of the process, because this shared object is
 * unloaded meanwhile. */
typedef struct kept_t {
    const char *key; /* NULL: this entry is free */
    int shared_fd, poke;
    int users;     /* feeds that are open */
    unsigned used; /* the number of the last configuration that had such a feed */
} kept_t;

typedef struct keeper_t {
    apr_array_header_t *all; /* of kept_t * */
    unsigned configuration;
    int is_closing; /* a feed was closed since one was opened: a new configuration begins */
} keeper_t;

static keeper_t *keeper_of(apr_pool_t *pool)
{
    static const char key[] = "vault_feed keeper " APR_STRINGIFY(SHARED_VERSION);
    void *found = NULL;

    apr_pool_userdata_get(&found, key, pool);
    if (found == NULL) {
        keeper_t *keeper = apr_pcalloc(pool, sizeof(*keeper));

        keeper->all = apr_array_make(pool, 4, sizeof(kept_t *));
        apr_pool_userdata_set(keeper, key, NULL, pool);
        found = keeper;
    }
    return found;
}

static void let_go(kept_t *kept)
{
    if (kept->shared_fd >= 0) {
        close(kept->shared_fd);
    }
    if (kept->poke >= 0) {
        close(kept->poke);
    }
    *kept = (kept_t){.shared_fd = -1, .poke = -1};
}

/* Frees what neither this configuration nor the previous one uses. Children of an earlier configuration have duplicates
 * of the descriptors. */
static void let_old_go(const keeper_t *keeper)
{
    for (int i = 0; i < keeper->all->nelts; i++) {
        kept_t *kept = APR_ARRAY_IDX(keeper->all, i, kept_t *);

        if (kept->key != NULL && kept->users == 0 && kept->used + 1 < keeper->configuration) {
            let_go(kept);
        }
    }
}

static kept_t *find_kept(const keeper_t *keeper, const char *key)
{
    for (int i = 0; i < keeper->all->nelts; i++) {
        kept_t *kept = APR_ARRAY_IDX(keeper->all, i, kept_t *);

        if (kept->key != NULL && strcmp(kept->key, key) == 0) {
            return kept;
        }
    }
    return NULL;
}

/* @return NULL: there is no memory for it */
static kept_t *keep(const change_log_t *feed, keeper_t *keeper, const char *key, apr_pool_t *pool)
{
    kept_t *kept;

    keeper->configuration += (unsigned)keeper->is_closing;
    keeper->is_closing = 0;
    let_old_go(keeper);
    kept = find_kept(keeper, key);
    if (kept == NULL) {
        kept = apr_palloc(pool, sizeof(*kept));
        *kept = (kept_t){.key = apr_pstrdup(pool, key), .shared_fd = make_memory(feed), .poke = make_poke()};
        if (kept->shared_fd < 0 || kept->poke < 0) {
            let_go(kept);
            return NULL;
        }
        APR_ARRAY_PUSH(keeper->all, kept_t *) = kept;
    }
    kept->users++;
    kept->used = keeper->configuration;
    return kept;
}

/* A feed that is open in one configuration. */
typedef struct opened_t {
    change_log_t *feed;
    keeper_t *keeper;
    kept_t *kept;
} opened_t;

static apr_status_t close_cb(void *data)
{
    opened_t *opened = data;

    munmap(opened->feed->shared, memory_of(opened->feed));
    opened->kept->users--;
    opened->keeper->is_closing = 1;
    return APR_SUCCESS;
}

/* The journal is beside the file that a link points to, not beside the link. */
static const char *journal_of(const change_log_t *feed, apr_pool_t *pool)
{
    const log_dialect_t *dialect = log_dialect_of(&feed->sql);
    apr_finfo_t found;

    if (dialect == NULL || dialect->journal == NULL ||
        (apr_stat(&found, feed->sql.database, APR_FINFO_LINK | APR_FINFO_TYPE, pool) == APR_SUCCESS &&
         found.filetype == APR_LNK)) {
        return NULL;
    }
    return apr_pstrcat(pool, feed->sql.database, dialect->journal, NULL);
}

const char *log_shared_open(change_log_t *feed, const apr_table_t *given, const char *touches, apr_pool_t *pconf)
{
    const char *key = key_of(feed, given, touches, pconf);
    apr_pool_t *pool = lasting_pool(pconf);
    opened_t *opened = apr_palloc(pconf, sizeof(*opened));
    void *memory;

    *opened = (opened_t){.feed = feed, .keeper = keeper_of(pool)};
    opened->kept = keep(feed, opened->keeper, key, pool);
    if (opened->kept == NULL) {
        return apr_psprintf(pconf, "no memory for the ring: %s", strerror(errno));
    }
    feed->shared_fd = opened->kept->shared_fd;
    feed->poke = opened->kept->poke;
    memory = mmap(NULL, memory_of(feed), PROT_READ | PROT_WRITE, MAP_SHARED, feed->shared_fd, 0);
    if (memory == MAP_FAILED) {
        opened->kept->users--;
        return apr_psprintf(pconf, "no memory for the ring: %s", strerror(errno));
    }
    feed->shared = memory;
    feed->sql.sights = feed->shared->sights;
    feed->journal = journal_of(feed, pconf);
    (void)log_ring_of(feed->shared->ring, ring_bytes(feed));
    apr_pool_cleanup_register(pconf, opened, close_cb, apr_pool_cleanup_null);
    return NULL;
}

/* ------------------------------------------------------------ the lock */

/* A lock of the process, not of the inherited descriptor: it is released when the process ends. */
static int set_lock(const change_log_t *feed, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(feed->shared_fd, F_SETLK, &lock) == 0;
}

int log_shared_lock(const change_log_t *feed)
{
    int is_locked = set_lock(feed, F_WRLCK);

    if (is_locked) {
        feed->shared->tailer = getpid();
    }
    return is_locked;
}

void log_shared_unlock(const change_log_t *feed)
{
    feed->shared->tailer = 0;
    (void)set_lock(feed, F_UNLCK);
}

int log_shared_await(const change_log_t *feed)
{
    pid_t tailer = feed->shared->tailer;

    return tailer > 0 ? (int)syscall(SYS_pidfd_open, tailer, 0) : -1;
}

/* A process that was killed could not clear its registration. The kernel knows whether the lock is held, but does not
 * name the process that calls. */
pid_t log_shared_tailer(const change_log_t *feed)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    if (feed->shared->tailer == getpid()) {
        return getpid();
    }
    return fcntl(feed->shared_fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

/* If a process was killed while it wrote the text, the text matches no database. */
int log_shared_is_of(const change_log_t *feed, const char *incarnation)
{
    return incarnation == NULL || strncmp(feed->shared->incarnation, incarnation, INCARNATION_BYTES - 1) == 0;
}

void log_shared_keep_incarnation(const change_log_t *feed, const char *incarnation)
{
    apr_cpystrn(feed->shared->incarnation, incarnation != NULL ? incarnation : "", INCARNATION_BYTES);
}

log_ring_t *log_shared_ring(const change_log_t *feed)
{
    return (log_ring_t *)feed->shared->ring;
}

apr_uint64_t log_shared_boot(const change_log_t *feed)
{
    log_head_t head;

    log_ring_head(log_shared_ring(feed), &head);
    return head.boot;
}

/* ------------------------------------------------------------ tickets */

static int is_served(const log_shared_t *shared, apr_uint32_t ticket)
{
    return (apr_int32_t)(shared->served - ticket) >= 0;
}

/* Waits until the last ticket that was served is not `served` any more, or until the time is over. */
static void wait_for_change(log_shared_t *shared, apr_uint32_t served, apr_time_t left)
{
    const struct timespec time = {.tv_sec = left / APR_USEC_PER_SEC, .tv_nsec = left % APR_USEC_PER_SEC * 1000};

    syscall(SYS_futex, &shared->served, FUTEX_WAIT, served, &time, NULL, 0);
}

int log_shared_ask(const change_log_t *feed)
{
    log_shared_t *shared = feed->shared;
    const apr_uint64_t one = 1;
    apr_time_t until = vault_now() + apr_time_from_msec(LOG_WRITER_WAIT), now;
    apr_uint32_t ticket = ++shared->asked;

    (void)!write(feed->poke, &one, sizeof(one)); /* if the tailer has found no watched table, it now finds one */
    if (shared->reading != LOG_READING_DONE) {
        return 0;
    }
    while (!is_served(shared, ticket) && (now = vault_now()) < until) {
        apr_uint32_t served = shared->served;

        if (!is_served(shared, ticket)) {
            wait_for_change(shared, served, until - now);
        }
    }
    return is_served(shared, ticket) && shared->reading == LOG_READING_DONE;
}

apr_uint32_t log_shared_take(const change_log_t *feed)
{
    apr_uint64_t pokes;

    (void)!read(feed->poke, &pokes, sizeof(pokes));
    return feed->shared->asked;
}

void log_shared_serve(const change_log_t *feed, apr_uint32_t ticket)
{
    feed->shared->served = ticket;
    syscall(SYS_futex, &feed->shared->served, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void log_shared_set_reading(const change_log_t *feed, log_reading_t reading)
{
    feed->shared->reading = (int)reading;
}

log_reading_t log_shared_reading(const change_log_t *feed)
{
    return (log_reading_t)feed->shared->reading;
}

/* ------------------------------------------------------------ figures */

void log_shared_count_ring(const change_log_t *feed)
{
    feed->shared->from_ring++;
}

void log_shared_count_sql(const change_log_t *feed, log_why_t why)
{
    feed->shared->by_sql[why]++;
}

void log_shared_figures(const change_log_t *feed, log_figures_t *figures)
{
    figures->from_ring = feed->shared->from_ring;
    for (int i = 0; i < LOG_WHYS; i++) {
        figures->by_sql[i] = feed->shared->by_sql[i];
    }
}
