/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file templates.c
 * A cache of compiled template files, which detects that a file has changed.
 *
 * Each compiled file has its own memory and a count of holders: the table and each rendering hold it, and the
 * last one to release it frees it. So the table can replace a changed file at once, while renderings of the old
 * version finish. The lock is held only for lookups and counting; stat(), reading, compiling, rendering and
 * freeing happen without it.
 */
#include "template/templates_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apr_hash.h"
#include "apr_strings.h"
#include "apr_thread_mutex.h"
#include "apr_time.h"

/* File timestamps have a granularity: a tick of the kernel, or a second on old file systems. A file that was
 * read so soon after its last change may change again with the same timestamp. The cache uses such a version
 * once and then reads the file again. */
#define GRAIN apr_time_from_msec(1100)

struct vault_templates_t {
    apr_pool_t *pool; /* its own */
    apr_abortfunc_t no_memory;
    apr_thread_mutex_t *lock;
    apr_hash_t *files;          /* lock: by path */
    vault_template_file_t used; /* lock; only an anchor in the ring, between the oldest and the newest file */
};

/* ------------------------------------------------------------------ files */

static int same_state(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Was the last change old enough when the file was read? A timestamp in the future counts as old, since such a
 * file could never be cached otherwise. */
static int is_settled(const vault_template_file_t *file)
{
    apr_time_t changed = apr_time_from_sec(file->state.st_mtim.tv_sec) + file->state.st_mtim.tv_nsec / 1000;

    return changed < file->read - GRAIN || changed > file->read + GRAIN;
}

static void destroy_files(vault_template_file_t *dead)
{
    while (dead) {
        vault_template_file_t *file = dead;

        dead = file->next_dead;
        apr_pool_destroy(file->pool);
    }
}

/* Releases one hold. The last one adds the file to `dead`. */
static void let_go_locked(vault_template_file_t *file, vault_template_file_t **dead)
{
    if (--file->holders == 0) {
        file->next_dead = *dead;
        *dead = file;
    }
}

static void mark_used_locked(vault_templates_t *cache, vault_template_file_t *file)
{
    file->older = cache->used.older;
    file->newer = &cache->used;
    file->older->newer = file;
    cache->used.older = file;
}

static void unmark_locked(vault_template_file_t *file)
{
    file->older->newer = file->newer;
    file->newer->older = file->older;
}

static void drop_locked(vault_templates_t *cache, vault_template_file_t *file, vault_template_file_t **dead)
{
    apr_hash_set(cache->files, file->path, APR_HASH_KEY_STRING, NULL);
    unmark_locked(file);
    let_go_locked(file, dead);
}

void vault_templates_release(vault_templates_t *cache, vault_template_file_t *file)
{
    vault_template_file_t *dead = NULL;

    apr_thread_mutex_lock(cache->lock);
    let_go_locked(file, &dead);
    apr_thread_mutex_unlock(cache->lock);
    destroy_files(dead);
}

static vault_template_file_t *hold_locked(vault_templates_t *cache, vault_template_file_t *file)
{
    file->holders++;
    unmark_locked(file);
    mark_used_locked(cache, file);
    return file;
}

/* @return the compiled file if its version is `state`, held for the caller; otherwise NULL */
static vault_template_file_t *find(vault_templates_t *cache, const char *path, const struct stat *state)
{
    vault_template_file_t *file;

    apr_thread_mutex_lock(cache->lock);
    file = apr_hash_get(cache->files, path, APR_HASH_KEY_STRING);
    if (file) {
        file = same_state(&file->state, state) && is_settled(file) ? hold_locked(cache, file) : NULL;
    }
    apr_thread_mutex_unlock(cache->lock);
    return file;
}

/* Removes the least recently used files that are not being rendered until the table is within its limit. */
static void evict_locked(vault_templates_t *cache, vault_template_file_t **dead)
{
    vault_template_file_t *file = cache->used.newer, *newer;

    while (apr_hash_count(cache->files) > VAULT_TEMPLATE_FILES_MAX && file != &cache->used) {
        newer = file->newer;
        if (file->holders == 1) {
            drop_locked(cache, file, dead);
        }
        file = newer;
    }
}

/* Inserts a file that the caller holds, and replaces the version in the table. */
static void insert(vault_templates_t *cache, vault_template_file_t *file)
{
    vault_template_file_t *old, *dead = NULL;

    apr_thread_mutex_lock(cache->lock);
    old = apr_hash_get(cache->files, file->path, APR_HASH_KEY_STRING);
    if (!old || old->read <= file->read) { /* otherwise another thread has read the file later */
        if (old) {
            drop_locked(cache, old, &dead);
        }
        apr_hash_set(cache->files, file->path, APR_HASH_KEY_STRING, file);
        mark_used_locked(cache, file);
        file->holders++;
        evict_locked(cache, &dead);
    }
    apr_thread_mutex_unlock(cache->lock);
    destroy_files(dead);
}

/* ---------------------------------------------------------------- reading */

static apr_status_t unreadable(apr_status_t status, const char *path, const char **error, apr_pool_t *scratch)
{
    char reason[200];

    *error = apr_psprintf(scratch, "%s: cannot be read: %s", path, apr_strerror(status, reason, sizeof reason));
    return status;
}

static apr_status_t check_state(const struct stat *state, const char *path, const char **error, apr_pool_t *scratch)
{
    if (S_ISDIR(state->st_mode)) {
        return unreadable(EISDIR, path, error, scratch);
    }
    if (!S_ISREG(state->st_mode)) {
        *error = apr_psprintf(scratch, "%s: cannot be read: not a plain file", path);
        return ENODEV;
    }
    if (state->st_size > VAULT_TEMPLATE_MAX) {
        *error = apr_psprintf(scratch, "%s: cannot be read: longer than %d bytes", path, VAULT_TEMPLATE_MAX);
        return EFBIG;
    }
    return APR_SUCCESS;
}

static apr_status_t read_all(int fd, char *text, apr_size_t size, apr_size_t *len)
{
    ssize_t got;

    *len = 0;
    while (*len < size) {
        got = read(fd, text + *len, size - *len);
        if (got < 0 && errno != EINTR) {
            return errno;
        }
        if (got == 0) {
            break;
        }
        *len += got > 0 ? (apr_size_t)got : 0;
    }
    return APR_SUCCESS;
}

static void compile(vault_template_file_t *file, const char *text, apr_size_t len)
{
    const char *error;

    if (len >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) { /* the byte order mark of some editors */
        text += 3;
        len -= 3;
    }
    if (vault_mustache_compile(&file->template, text, len, &error, file->pool) != APR_SUCCESS) {
        file->error = apr_pstrcat(file->pool, file->path, ": ", error, NULL);
    }
}

static apr_status_t make_file(vault_templates_t *cache, vault_template_file_t **made, const char *path,
                              const char *text, apr_size_t len)
{
    apr_pool_t *pool;
    apr_status_t status = apr_pool_create_unmanaged_ex(&pool, cache->no_memory, NULL);

    if (status != APR_SUCCESS) {
        return status;
    }
    apr_allocator_max_free_set(apr_pool_allocator_get(pool), 4096); /* the memory that compiling has used is returned */
    *made = apr_pcalloc(pool, sizeof **made);
    (*made)->pool = pool;
    (*made)->path = apr_pstrdup(pool, path);
    (*made)->holders = 1;
    compile(*made, text, len);
    return APR_SUCCESS;
}

/* Reads and compiles a file. The caller holds the result. */
static apr_status_t load(vault_templates_t *cache, vault_template_file_t **file, const char *path, const char **error,
                         apr_pool_t *scratch)
{
    apr_time_t now = apr_time_now();
    struct stat state;
    char *text = NULL;
    apr_size_t len = 0;
    apr_status_t status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 || fstat(fd, &state) != 0) {
        status = unreadable(errno, path, error, scratch);
        goto out;
    }
    status = check_state(&state, path, error, scratch);
    if (status != APR_SUCCESS) {
        goto out;
    }
    text = malloc((apr_size_t)state.st_size + 1);
    status = text ? read_all(fd, text, (apr_size_t)state.st_size, &len) : APR_ENOMEM;
    if (status == APR_SUCCESS) {
        status = make_file(cache, file, path, text, len);
    }
    if (status == APR_SUCCESS) {
        (*file)->state = state;
        (*file)->read = now;
    }
    else {
        unreadable(status, path, error, scratch);
    }
out:
    if (fd >= 0) {
        close(fd);
    }
    free(text);
    return status;
}

apr_status_t vault_templates_acquire(vault_templates_t *cache, vault_template_file_t **acquired, const char *path,
                                     const char **error, apr_pool_t *scratch)
{
    struct stat state;
    apr_status_t status;
    vault_template_file_t *file;

    if (stat(path, &state) != 0) {
        return unreadable(errno, path, error, scratch);
    }
    file = find(cache, path, &state);
    if (!file) {
        status = load(cache, &file, path, error, scratch);
        if (status != APR_SUCCESS) {
            return status;
        }
        insert(cache, file);
    }
    if (!file->template) {
        *error = apr_pstrdup(scratch, file->error);
        vault_templates_release(cache, file);
        return APR_EINVAL;
    }
    *acquired = file;
    return APR_SUCCESS;
}

/* ------------------------------------------------------------------ cache */

static apr_status_t destroy_cb(void *data)
{
    vault_templates_t *cache = data;
    vault_template_file_t *dead = NULL;

    while (cache->used.newer != &cache->used) {
        drop_locked(cache, cache->used.newer, &dead);
    }
    destroy_files(dead);
    apr_pool_destroy(cache->pool);
    return APR_SUCCESS;
}

apr_status_t vault_templates_create(vault_templates_t **cache, apr_pool_t *pool)
{
    apr_pool_t *own;
    apr_status_t status = apr_pool_create_unmanaged_ex(&own, apr_pool_abort_get(pool), NULL);

    if (status != APR_SUCCESS) {
        return status;
    }
    *cache = apr_pcalloc(own, sizeof **cache);
    (*cache)->pool = own;
    (*cache)->no_memory = apr_pool_abort_get(pool);
    (*cache)->files = apr_hash_make(own);
    (*cache)->used.older = (*cache)->used.newer = &(*cache)->used;
    status = apr_thread_mutex_create(&(*cache)->lock, APR_THREAD_MUTEX_DEFAULT, own);
    if (status != APR_SUCCESS) {
        apr_pool_destroy(own);
        return status;
    }
    apr_pool_cleanup_register(pool, *cache, destroy_cb, apr_pool_cleanup_null);
    return APR_SUCCESS;
}
