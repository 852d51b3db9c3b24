/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file messages-bench.c
 * How long it takes to post a message to all subscribers of a channel, in one transaction, without httpd around it.
 *
 *     messages-bench                                           SQLite, in a file of its own below $TMPDIR
 *     messages-bench driver=pgsql host=/run/postgresql database=bench user=me 1000
 *
 * Parameters are those of the VaultFeed; numbers are how many subscribe. The tables of the messages stay in the
 * database.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apr_general.h"
#include "apr_strings.h"
#include "apr_time.h"

#include "mod_vault/vault.h"

#define POSTS 41

struct vault_call_t {
    apr_pool_t *pool;
    const char *error;
};

typedef struct bench_t {
    void *self;
    apr_pool_t *pool;
} bench_t;

extern const vault_feed_t vault_feed;

static _Atomic apr_uint64_t notified; /* atomic: by the thread of the tailer */
static _Atomic int begun;             /* atomic: set by the thread of the tailer */

/* ------------------------------------------------------------------ a host, without pages */

static int create_interest(vault_call_t *call, const char *interest)
{
    return 1;
}

static void remove_interest(vault_call_t *call, const char *interest)
{
}

static const char *cursor_get(vault_call_t *call)
{
    return NULL;
}

static apr_status_t cursor_set(vault_call_t *call, const char *value)
{
    return APR_SUCCESS;
}

static const char *page_get(vault_call_t *call, const char *key)
{
    return NULL;
}

static apr_status_t page_set(vault_call_t *call, const char *key, const char *value)
{
    return APR_NOTFOUND;
}

static apr_status_t notify(const char *interest)
{
    notified++;
    return APR_NOTFOUND;
}

/* The tailer has begun. */
static void notify_all(void)
{
    begun = 1;
}

static const char *user(vault_call_t *call)
{
    return NULL;
}

static apr_pool_t *pool_of(vault_call_t *call)
{
    return call->pool;
}

static apr_status_t fail(vault_call_t *call, apr_status_t status, const char *fmt, ...)
{
    va_list values;

    va_start(values, fmt);
    call->error = apr_pvsprintf(call->pool, fmt, values);
    va_end(values);
    return status;
}

static void write_log(int level, const char *fmt, ...)
{
}

static const vault_host_t host = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_host_t),
    .create_interest = create_interest,
    .remove_interest = remove_interest,
    .cursor_get = cursor_get,
    .cursor_set = cursor_set,
    .page_get = page_get,
    .page_set = page_set,
    .notify = notify,
    .notify_all = notify_all,
    .user = user,
    .pool = pool_of,
    .fail = fail,
    .log = write_log,
};

/* ------------------------------------------------------------------ calls */

/* The call must succeed. Releases `args`. */
static void ask(bench_t *b, const char *method, json_t *args)
{
    const vault_feed_method_t *m = vault_feed.methods;
    vault_call_t call = {0};
    json_t *rows = NULL;

    while (strcmp(m->name, method) != 0) {
        m++;
    }
    apr_pool_create(&call.pool, b->pool);
    if (args == NULL || m->call(b->self, &call, args, &rows) != APR_SUCCESS) {
        fprintf(stderr, "messages-bench: %s: %s\n", method, call.error != NULL ? call.error : "failed");
        exit(1);
    }
    json_decref(rows);
    json_decref(args);
    apr_pool_destroy(call.pool);
}

static void subscribe(bench_t *b, const char *channel, int subscribers)
{
    ask(b, "create_channel", json_pack("{s:s,s:s}", "user", "user 0", "channel", channel));
    for (int i = 0; i < subscribers; i++) {
        ask(b, "subscribe", json_pack("{s:s,s:s}", "user", apr_psprintf(b->pool, "user %d", i), "channel", channel));
    }
}

static int compare(const void *one, const void *two)
{
    double difference = *(const double *)one - *(const double *)two;

    return difference < 0 ? -1 : difference > 0;
}

static void print_row(bench_t *b, int subscribers)
{
    const char *channel = apr_psprintf(b->pool, "channel %ld of %d", (long)getpid(), subscribers);
    double ms[POSTS];
    double read_ms;
    apr_time_t begin;

    subscribe(b, channel, subscribers);
    notified = 0;
    for (int i = 0; i < POSTS; i++) {
        begin = apr_time_now();
        ask(b, "post_message",
            json_pack("{s:s,s:s,s:s}", "user", "user 0", "channel", channel, "text",
                      "The kettle is on: who wants tea?"));
        ms[i] = (double)(apr_time_now() - begin) / 1000;
    }
    /* Posts that the tailer reads together cause one notify. */
    if (notified < (apr_uint64_t)subscribers) {
        fprintf(stderr, "messages-bench: %d posts to %d subscribers notified %lu times\n", POSTS, subscribers,
                (unsigned long)notified);
        exit(1);
    }
    begin = apr_time_now();
    ask(b, "get_new_messages", json_pack("{s:s,s:s,s:i}", "user", "user 0", "channel", channel, "limit", 20));
    read_ms = (double)(apr_time_now() - begin) / 1000;
    qsort(ms, POSTS, sizeof(ms[0]), compare);
    printf("%11d %10.2f %10.2f %14.2f %14.2f\n", subscribers, ms[POSTS / 2], ms[POSTS - 1],
           1000 * ms[POSTS / 2] / subscribers, read_ms);
    fflush(stdout);
}

/* ------------------------------------------------------------------ parameters */

static apr_table_t *parameters(int argc, char **argv, apr_pool_t *pool)
{
    const char *folder = getenv("TMPDIR");
    apr_table_t *given = apr_table_make(pool, 16);

    apr_table_setn(given, "anonymous", "yes");
    apr_table_setn(given, "rate", "1000000");
    apr_table_setn(given, "users", "1000000");
    apr_table_setn(given, "channels", "1000000");
    apr_table_setn(given, "user_channels", "1000000");
    apr_table_setn(given, "subscribers", "1000000");
    apr_table_setn(given, "timeout", "60");
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');

        if (equals != NULL) {
            apr_table_set(given, apr_pstrmemdup(pool, argv[i], (apr_size_t)(equals - argv[i])), equals + 1);
        }
    }
    if (apr_table_get(given, "database") == NULL) {
        apr_table_set(given, "database",
                      apr_psprintf(pool, "%s/messages-bench.%ld.db", folder != NULL ? folder : "/tmp", (long)getpid()));
    }
    for (const vault_feed_param_t *p = vault_feed.params; p->name != NULL; p++) {
        if (apr_table_get(given, p->name) == NULL) {
            apr_table_setn(given, p->name, p->fallback);
        }
    }
    return given;
}

static void remove_file(const char *path, apr_pool_t *pool)
{
    static const char *const ends[] = {"", "-wal", "-shm"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        unlink(apr_pstrcat(pool, path, ends[i], NULL));
    }
}

int main(int argc, char **argv)
{
    static const int usual[] = {1, 100, 1000, 5000};
    bench_t b = {0};
    apr_table_t *given;
    const char *wrong;
    int rows = 0;

    apr_initialize();
    apr_pool_create(&b.pool, NULL);
    given = parameters(argc, argv, b.pool);
    wrong = vault_feed.open(&b.self, &host, given, b.pool);
    if (wrong == NULL) {
        wrong = vault_feed.child_start(b.self, b.pool);
    }
    if (wrong != NULL) {
        fprintf(stderr, "messages-bench: %s\n", wrong);
        return 1;
    }
    while (!begun) {
        apr_sleep(1000);
    }
    printf("%s, one thread, the median and the worst of %d posts\n\n", apr_table_get(given, "driver"), POSTS);
    printf("%11s %10s %10s %14s %14s\n", "subscribers", "a post ms", "worst ms", "a recipient us", "a view of 20 ms");
    for (int i = 1; i < argc; i++) {
        if (isdigit((unsigned char)argv[i][0])) {
            print_row(&b, atoi(argv[i]));
            rows++;
        }
    }
    for (size_t i = 0; rows == 0 && i < sizeof(usual) / sizeof(usual[0]); i++) {
        print_row(&b, usual[i]);
    }
    vault_feed.child_stop(b.self);
    if (strstr(apr_table_get(given, "database"), "/messages-bench.") != NULL) {
        remove_file(apr_table_get(given, "database"), b.pool);
    }
    apr_terminate();
    return 0;
}
