/* SPDX-License-Identifier: Apache-2.0 */
/* A whole feed: the lines of a text file that grows, as `tail -f` shows them. docs/writing-feeds.md walks through
 * it. */
#include <string.h>

#include <apr_file_io.h>
#include <apr_strings.h>
#include <apr_thread_cond.h>
#include <apr_thread_proc.h>

#include <mod_vault/vault.h>

#define CHUNK 65536 /* bytes that one call reads, at most */
#define LIMIT_MAX 1000
#define INTEREST_PREFIX "lines-"

typedef struct lines_t {
    const vault_host_t *host; /* const after open, as the next three are */
    const char *file;
    const char *interest;
    apr_interval_time_t pause;
    apr_thread_t *watcher; /* of this child, as all below */
    apr_thread_mutex_t *lock;
    apr_thread_cond_t *wake;
    int stopping;   /* lock */
    apr_off_t size; /* lock; of the file at the last check; -1: it does not exist */
} lines_t;

static const vault_feed_param_t params[] = {
    {"file", NULL, "the path of a text file that grows", VAULT_PARAM_PATH},
    {"pause", "1", "seconds between two checks of the file, 1 to 3600", 0},
    {NULL, NULL, NULL, 0},
};

/* ------------------------------------------------------------------- reading */

static int parse(apr_int64_t *number, const char *text, apr_int64_t most)
{
    char *end;

    *number = apr_strtoi64(text, &end, 10);
    return *text && !*end && *number >= 1 && *number <= most;
}

/* A text that is not UTF-8 cannot be in JSON. */
static json_t *line_of(char *text, apr_size_t length)
{
    json_t *string = json_stringn(text, length);
    apr_size_t i;

    for (i = 0; !string && i < length; i++) {
        if (text[i] & 0x80) {
            text[i] = '?';
        }
    }
    return string ? string : json_stringn(text, length);
}

/* A row for each whole line of the chunk; `at` is the offset of the chunk in the file. @return the bytes used */
static apr_size_t split(json_t *rows, char *chunk, apr_size_t length, apr_off_t at)
{
    apr_size_t begin = 0;
    char *end;

    while ((end = memchr(chunk + begin, '\n', length - begin))) {
        apr_size_t next = (apr_size_t)(end - chunk) + 1;
        json_array_append_new(rows, json_pack("{s:I, s:o}", "at", (json_int_t)(at + (apr_off_t)begin), "line",
                                              line_of(chunk + begin, next - 1 - begin)));
        begin = next;
    }
    if (begin == 0 && length == CHUNK) { /* a line longer than a chunk comes in pieces */
        json_array_append_new(rows, json_pack("{s:I, s:o}", "at", (json_int_t)at, "line", line_of(chunk, length)));
        begin = length;
    }
    return begin;
}

/* Where this page continues. The cursor is "INODE OFFSET". A file that was replaced or truncated is read from its
 * beginning. */
static apr_off_t place(const char *cursor, const apr_finfo_t *info)
{
    char *rest = NULL;
    apr_off_t at;

    if (!cursor) { /* a first view: the end of the file */
        return info->size > CHUNK ? info->size - CHUNK : 0;
    }
    if (apr_strtoi64(cursor, &rest, 10) != (apr_int64_t)info->inode) {
        return 0;
    }
    at = apr_strtoi64(rest, NULL, 10);
    return at <= info->size ? at : 0;
}

static apr_status_t read_lines(lines_t *f, vault_call_t *call, apr_file_t *file, apr_int64_t limit, json_t *rows)
{
    const char *cursor = f->host->cursor_get(call);
    apr_pool_t *pool = f->host->pool(call);
    char *chunk = apr_palloc(pool, CHUNK);
    apr_size_t length = CHUNK, taken;
    apr_finfo_t info;
    apr_off_t at;
    apr_status_t rv = apr_file_info_get(&info, APR_FINFO_SIZE | APR_FINFO_INODE, file);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    at = place(cursor, &info);
    if ((rv = apr_file_seek(file, APR_SET, &at)) != APR_SUCCESS) {
        return rv;
    }
    rv = apr_file_read_full(file, chunk, length, &length);
    if (rv != APR_SUCCESS && !APR_STATUS_IS_EOF(rv)) {
        return rv;
    }
    taken = split(rows, chunk, length, at);
    if (!cursor && at > 0 && json_array_size(rows) > 0) {
        json_array_remove(rows, 0); /* the middle of a line */
    }
    while (!cursor && json_array_size(rows) > (size_t)limit) {
        json_array_remove(rows, 0);
    }
    at += (apr_off_t)taken;
    if (length == CHUNK && at < info.size) {
        f->host->notify(f->interest); /* this page has more lines to read: run its method again */
    }
    return f->host->cursor_set(call,
                               apr_psprintf(pool, "%" APR_INT64_T_FMT " %" APR_OFF_T_FMT, (apr_int64_t)info.inode, at));
}

/* The values of a page are texts. Lua and C may pass a number, or another type. @return 0: it is wrong */
static int take_limit(apr_int64_t *most, const json_t *args)
{
    const json_t *limit = json_object_get(args, "limit");

    *most = LIMIT_MAX;
    if (json_object_size(args) > (limit ? 1 : 0)) {
        return 0;
    }
    if (json_is_integer(limit)) {
        *most = json_integer_value(limit);
        return *most >= 1 && *most <= LIMIT_MAX;
    }
    return !limit || (json_is_string(limit) && parse(most, json_string_value(limit), LIMIT_MAX));
}

/** The lines that are new to this page: [{"at": 4711, "line": "…"}, …]. Argument: limit, how many the first view
 * shows. */
static apr_status_t get_new_lines(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    lines_t *f = self;
    apr_int64_t most;
    apr_file_t *file;
    apr_status_t rv;
    char why[120];

    if (!take_limit(&most, args)) {
        return f->host->fail(call, APR_EINVAL, "one argument is accepted: limit, a whole number from 1 to %d",
                             LIMIT_MAX);
    }
    if (!f->host->create_interest(call, f->interest)) {
        return APR_SUCCESS; /* nothing new: the file is not even opened */
    }
    rv = apr_file_open(&file, f->file, APR_FOPEN_READ, APR_FPROT_OS_DEFAULT, f->host->pool(call));
    if (rv == APR_SUCCESS) {
        *rows = json_array();
        rv = read_lines(f, call, file, most, *rows);
        apr_file_close(file);
    }
    if (rv != APR_SUCCESS) {
        return f->host->fail(call, APR_EAGAIN, "the file %s cannot be read: %s", f->file,
                             apr_strerror(rv, why, sizeof(why)));
    }
    if (json_array_size(*rows) == 0) {
        json_decref(*rows);
        *rows = NULL;
    }
    return APR_SUCCESS;
}

static const vault_feed_method_t methods[] = {{"get_new_lines", 0, get_new_lines}, {NULL, 0, NULL}};

/* ------------------------------------------------------------------ watching */

/* The first check counts as a change: the file was not watched while the server was restarted. */
static void look(lines_t *f, apr_finfo_t *last, apr_pool_t *pool)
{
    apr_finfo_t now = {0};

    apr_stat(&now, f->file, APR_FINFO_SIZE | APR_FINFO_INODE | APR_FINFO_MTIME, pool);
    if (now.inode != last->inode || now.size != last->size || now.mtime != last->mtime) {
        f->host->notify(f->interest);
    }
    *last = now;
    apr_thread_mutex_lock(f->lock);
    f->size = now.inode ? now.size : -1;
    apr_thread_mutex_unlock(f->lock);
    apr_pool_clear(pool);
}

static void *APR_THREAD_FUNC watch(apr_thread_t *thread, void *self)
{
    lines_t *f = self;
    apr_finfo_t last = {.size = -1};
    apr_pool_t *pool;

    apr_pool_create(&pool, apr_thread_pool_get(thread));
    apr_thread_mutex_lock(f->lock);
    while (!f->stopping) {
        apr_thread_mutex_unlock(f->lock);
        look(f, &last, pool);
        apr_thread_mutex_lock(f->lock);
        if (!f->stopping) {
            apr_thread_cond_timedwait(f->wake, f->lock, f->pause);
        }
    }
    apr_thread_mutex_unlock(f->lock);
    return NULL;
}

/* ----------------------------------------------------------------- reporting */

static const vault_feed_figure_t figures[] = {
    {"File", "the file that is watched", VAULT_FIGURE_FACT},
    {"Size", "bytes of the file at the last check", VAULT_FIGURE_GAUGE},
    {NULL, NULL, 0},
};

/* The watcher holds the lock for a moment only, and not while it reads the file. */
static json_t *report(void *self)
{
    lines_t *f = self;
    apr_off_t size;

    apr_thread_mutex_lock(f->lock);
    size = f->size;
    apr_thread_mutex_unlock(f->lock);
    return json_pack("{s:s, s:o}", "File", f->file, "Size", size >= 0 ? json_integer(size) : json_null());
}

/* --------------------------------------------------------------- life */

static const char *open_lines(void **self, const vault_host_t *host, const apr_table_t *given, apr_pool_t *pool)
{
    lines_t *f = apr_pcalloc(pool, sizeof(*f));
    const char *file = apr_table_get(given, "file"), *pause = apr_table_get(given, "pause");
    apr_int64_t seconds;

    if (!*file || strlen(INTEREST_PREFIX) + strlen(file) > VAULT_INTEREST_MAX) {
        return apr_psprintf(pool, "file=%s: a path of 1 to %d bytes is accepted", file,
                            VAULT_INTEREST_MAX - (int)strlen(INTEREST_PREFIX));
    }
    if (!parse(&seconds, pause, 3600)) {
        return apr_psprintf(pool, "pause=%s: a whole number from 1 to 3600 is accepted", pause);
    }
    f->host = host;
    f->file = apr_pstrdup(pool, file);
    f->interest = apr_pstrcat(pool, INTEREST_PREFIX, file, NULL);
    f->pause = apr_time_from_sec(seconds);
    *self = f;
    return NULL;
}

static const char *start(void *self, apr_pool_t *pchild)
{
    lines_t *f = self;

    f->stopping = 0;
    f->size = -1;
    if (apr_thread_mutex_create(&f->lock, APR_THREAD_MUTEX_DEFAULT, pchild) != APR_SUCCESS ||
        apr_thread_cond_create(&f->wake, pchild) != APR_SUCCESS ||
        apr_thread_create(&f->watcher, NULL, watch, f, pchild) != APR_SUCCESS) {
        return "no thread can be started to watch the file";
    }
    return NULL;
}

static void stop(void *self)
{
    lines_t *f = self;
    apr_status_t ended;

    apr_thread_mutex_lock(f->lock);
    f->stopping = 1;
    apr_thread_cond_signal(f->wake);
    apr_thread_mutex_unlock(f->lock);
    apr_thread_join(&ended, f->watcher);
}

const vault_feed_t vault_feed = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_feed_t),
    .name = "lines",
    .params = params,
    .methods = methods,
    .open = open_lines,
    .child_start = start,
    .child_stop = stop,
    .figures = figures,
    .report = report,
};
