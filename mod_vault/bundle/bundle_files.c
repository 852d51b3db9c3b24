/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and joins the files of a bundle. */
#include "bundle/bundle_files.h"

#include <pthread.h>
#include <string.h>

#include "apr_cstr.h"
#include "apr_file_io.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include "base/hash.h"
#include "base/utf8.h"

/* Any constant: the text comes from the administrator. */
#define SEED 0x62756e646c65ULL
/* How often the files are read if they change while they are read. */
#define TRIES 5
/* Linux sets the time of a change by a clock that ticks every 1 to 10 ms. */
#define TICK apr_time_from_msec(20)

struct vault_bundle_memo_t {
    pthread_mutex_t lock;
    vault_bundle_stat_t *stats; /* lock */
    apr_uint64_t hash;          /* lock; 0: none */
};

void vault_bundle_files_init(vault_bundle_files_t *files, apr_pool_t *pool)
{
    files->memo = apr_pcalloc(pool, sizeof(*files->memo));
    pthread_mutex_init(&files->memo->lock, NULL);
    files->memo->stats = apr_pcalloc(pool, (apr_size_t)files->paths->nelts * sizeof(vault_bundle_stat_t));
}

static apr_size_t stats_size(const vault_bundle_files_t *files)
{
    return (apr_size_t)files->paths->nelts * sizeof(vault_bundle_stat_t);
}

static const char *path_of(const vault_bundle_files_t *files, int i)
{
    return APR_ARRAY_IDX(files->paths, i, const char *);
}

/* -------------------------------------------------------------------- stat */

static const char *error_text(const char *path, apr_status_t rv, apr_pool_t *pool)
{
    char text[120];

    return apr_psprintf(pool, "%s: %s", path, apr_strerror(rv, text, sizeof(text)));
}

static void copy_stat(vault_bundle_stat_t *stat, const apr_finfo_t *info)
{
    stat->device = (apr_uint64_t)info->device;
    stat->inode = (apr_uint64_t)info->inode;
    stat->size = (apr_uint64_t)info->size;
    stat->mtime = info->mtime;
}

static const char *stat_one(const char *path, vault_bundle_stat_t *stat, apr_pool_t *pool)
{
    const apr_int32_t wanted = APR_FINFO_IDENT | APR_FINFO_SIZE | APR_FINFO_MTIME | APR_FINFO_TYPE;
    apr_finfo_t info;
    apr_status_t rv = apr_stat(&info, path, wanted, pool);

    if (rv != APR_SUCCESS) {
        return error_text(path, rv, pool);
    }
    if (info.filetype != APR_REG) {
        return apr_pstrcat(pool, path, ": it is not a file", NULL);
    }
    copy_stat(stat, &info);
    return NULL;
}

const char *vault_bundle_files_stat(const vault_bundle_files_t *files, vault_bundle_stat_t **stats, apr_pool_t *pool)
{
    apr_uint64_t size = 0;
    const char *error;
    int i;

    *stats = apr_pcalloc(pool, stats_size(files));
    for (i = 0; i < files->paths->nelts; i++) {
        if ((error = stat_one(path_of(files, i), *stats + i, pool))) {
            return error;
        }
        size += (*stats)[i].size;
        if ((*stats)[i].size > VAULT_BUNDLE_MAX || size > VAULT_BUNDLE_MAX) {
            return apr_psprintf(pool, "%s: with it the bundle is larger than %dM", path_of(files, i),
                                (int)(VAULT_BUNDLE_MAX >> 20));
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------- reading */

/* A part of the text that is joined. */
typedef struct span_t {
    const char *text, *end;
} span_t;

/* @return NULL; or a sentence. Sets `changed` if the file is not as `stat` says */
static const char *read_one(const char *path, const vault_bundle_stat_t *stat, span_t *span, int *changed,
                            apr_pool_t *pool)
{
    vault_bundle_stat_t now = {.device = 0};
    apr_size_t size = (apr_size_t)stat->size;
    char *text = apr_palloc(pool, size + 1);
    apr_file_t *file;
    apr_status_t rv = apr_file_open(&file, path, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_FPROT_OS_DEFAULT, pool);

    if (rv != APR_SUCCESS) {
        return error_text(path, rv, pool);
    }
    rv = apr_file_read_full(file, text, size, &size);
    apr_file_close(file);
    if (rv != APR_SUCCESS && rv != APR_EOF) {
        return error_text(path, rv, pool);
    }
    span->text = text;
    span->end = text + size;
    *changed = size != stat->size || stat_one(path, &now, pool) || memcmp(&now, stat, sizeof(now)) != 0;
    return NULL;
}

/* Another change in the same tick of the clock would not change the timestamp: waits until the tick is over. */
static void wait_for_tick(const vault_bundle_files_t *files, const vault_bundle_stat_t *stats)
{
    apr_time_t now = apr_time_now();
    int i;

    for (i = 0; i < files->paths->nelts; i++) {
        if (stats[i].mtime <= now && now - stats[i].mtime < TICK) {
            apr_sleep(TICK);
            return;
        }
    }
}

/* @return 0: a file has changed meanwhile */
static int read_all(const vault_bundle_files_t *files, const vault_bundle_stat_t *stats, span_t *spans,
                    const char **error, apr_pool_t *pool)
{
    int i, changed = 0;

    for (i = 0; i < files->paths->nelts && !changed; i++) {
        if ((*error = read_one(path_of(files, i), stats + i, spans + i, &changed, pool))) {
            return 1;
        }
    }
    return !changed;
}

/* ------------------------------------------------------------------- joining */

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* Skips white space and comments of CSS. */
static const char *skip_comments(const char *p, const char *end)
{
    for (;;) {
        while (p < end && is_space(*p)) {
            p++;
        }
        if (end - p < 2 || p[0] != '/' || p[1] != '*') {
            return p;
        }
        for (p += 2; p < end && !(p[0] == '*' && end - p > 1 && p[1] == '/'); p++) {
        }
        p = end - p > 2 ? p + 2 : end;
    }
}

static int begins(const char *p, const char *end, const char *word)
{
    apr_size_t length = strlen(word);

    return (apr_size_t)(end - p) >= length && !apr_cstr_casecmpn(p, word, length);
}

/* Removes a byte order mark, which is valid only before the first byte of what is sent. */
static void drop_bom(span_t *span)
{
    if (begins(span->text, span->end, "\xef\xbb\xbf")) {
        span->text += 3;
    }
}

/* Removes @charset, which is valid only at the first byte, and says what the header Content-Type says.
 * @return NULL; or half a sentence: it names another one */
static const char *drop_charset(span_t *span)
{
    const char *p = span->text;

    if (!begins(p, span->end, "@charset \"")) {
        return NULL;
    }
    p += strlen("@charset \"");
    if (!begins(p, span->end, "utf-8\";") && !begins(p, span->end, "us-ascii\";")) {
        return "only UTF-8 is accepted in a bundle, and its @charset says something else";
    }
    span->text = (const char *)memchr(p, ';', (apr_size_t)(span->end - p)) + 1;
    return NULL;
}

/* Skips statements `@layer a, b;`, which may stand before @import. */
static const char *skip_layers(const char *p, const char *end)
{
    const char *close;

    p = skip_comments(p, end);
    while (begins(p, end, "@layer") && (close = memchr(p, ';', (apr_size_t)(end - p))) &&
           !memchr(p, '{', (apr_size_t)(close - p))) {
        p = skip_comments(close + 1, end);
    }
    return p;
}

/* @return NULL; or half a sentence on what a browser would ignore */
static const char *check_css(const span_t *span, int first)
{
    const char *p;

    if (first) {
        return NULL;
    }
    p = skip_layers(span->text, span->end);
    return begins(p, span->end, "@import") || begins(p, span->end, "@namespace")
               ? "only the first file of a bundle may begin with @import or @namespace: browsers ignore them after "
                 "other rules"
               : NULL;
}

static int is_utf8(const span_t *span)
{
    const char *p = span->text;

    while (p < span->end) {
        apr_size_t length = vault_utf8_length(p, (apr_size_t)(span->end - p));
        if (!length) {
            return 0;
        }
        p += length;
    }
    return 1;
}

static const char *check_and_trim(vault_bundle_kind_t kind, span_t *span, int first)
{
    const char *wrong = NULL;

    drop_bom(span);
    if (!is_utf8(span)) {
        return "it is not UTF-8";
    }
    if (kind == VAULT_BUNDLE_CSS && !(wrong = drop_charset(span))) {
        wrong = check_css(span, first);
    }
    return wrong;
}

static void concatenate(const vault_bundle_files_t *files, const span_t *spans, vault_bundle_text_t *joined,
                        apr_pool_t *pool)
{
    const char *between = files->kind == VAULT_BUNDLE_JS ? "\n;\n" : "\n";
    apr_size_t between_size = strlen(between), size = 0;
    char *to;
    int i;

    for (i = 0; i < files->paths->nelts; i++) {
        size += (apr_size_t)(spans[i].end - spans[i].text) + between_size;
    }
    joined->text = to = apr_palloc(pool, size + 1);
    for (i = 0; i < files->paths->nelts; i++) {
        apr_size_t length = (apr_size_t)(spans[i].end - spans[i].text);
        memcpy(to, spans[i].text, length);
        to += length;
        if (i + 1 < files->paths->nelts) {
            memcpy(to, between, between_size);
            to += between_size;
        }
    }
    *to = '\0';
    joined->size = (apr_size_t)(to - joined->text);
}

const char *vault_bundle_files_join(const vault_bundle_files_t *files, vault_bundle_stat_t **stats,
                                    vault_bundle_text_t *joined, apr_pool_t *pool)
{
    span_t *spans = apr_pcalloc(pool, (apr_size_t)files->paths->nelts * sizeof(span_t));
    const char *error = NULL, *wrong;
    int i, tries = 0;

    wait_for_tick(files, *stats);
    while (!read_all(files, *stats, spans, &error, pool) && ++tries < TRIES) {
        if ((error = vault_bundle_files_stat(files, stats, pool))) {
            break;
        }
        wait_for_tick(files, *stats);
    }
    if (error || tries == TRIES) {
        return error ? error : "the files change again and again while they are read";
    }
    joined->warning = NULL;
    for (i = 0; i < files->paths->nelts; i++) {
        wrong = check_and_trim(files->kind, spans + i, i == 0);
        if (wrong && !joined->warning) {
            joined->warning = apr_pstrcat(pool, path_of(files, i), ": ", wrong, NULL);
        }
    }
    concatenate(files, spans, joined, pool);
    return NULL;
}

/* ---------------------------------------------------------------------- hash */

static apr_uint64_t cached_hash(const vault_bundle_files_t *files, const vault_bundle_stat_t *stats)
{
    struct vault_bundle_memo_t *memo = files->memo;
    apr_uint64_t hash;

    pthread_mutex_lock(&memo->lock);
    hash = !stats || !memcmp(memo->stats, stats, stats_size(files)) ? memo->hash : 0;
    pthread_mutex_unlock(&memo->lock);
    return hash;
}

static void cache_hash(const vault_bundle_files_t *files, const vault_bundle_stat_t *stats, apr_uint64_t hash)
{
    struct vault_bundle_memo_t *memo = files->memo;

    pthread_mutex_lock(&memo->lock);
    memcpy(memo->stats, stats, stats_size(files));
    memo->hash = hash;
    pthread_mutex_unlock(&memo->lock);
}

const char *vault_bundle_files_hash(const vault_bundle_files_t *files, vault_bundle_stat_t **stats, apr_uint64_t *hash,
                                    apr_pool_t *pool)
{
    vault_bundle_text_t joined;
    const char *error;

    if ((*hash = cached_hash(files, *stats))) {
        return NULL;
    }
    if ((error = vault_bundle_files_join(files, stats, &joined, pool))) {
        return error;
    }
    *hash = vault_hash(SEED, joined.text, joined.size);
    *hash = *hash ? *hash : 1;
    cache_hash(files, *stats, *hash);
    return NULL;
}

apr_uint64_t vault_bundle_files_last_hash(const vault_bundle_files_t *files)
{
    return cached_hash(files, NULL);
}
