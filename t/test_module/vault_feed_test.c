/* SPDX-License-Identifier: Apache-2.0 */
/* A feed for tests: answers and fails as its arguments say. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"

typedef struct feed_t {
    const vault_host_t *host;
    const char *broken;  /* the result of child_start; NULL: it starts */
    int ticks;           /* atomic */
    const char *journal; /* a file that gets a line for each acknowledgement, and for each report that was held */
    int stops;           /* 1: also a line for each child that stops */
} feed_t;

static const vault_feed_param_t params[] = {
    {"word", NULL, "a word", 0},
    {"broken", "", "why children cannot start it", 0},
    {"journal", "", "a file that gets a line for each acknowledgement", VAULT_PARAM_PATH},
    {"stops", "0", "1: and for each child that stops", 0},
    {NULL, NULL, NULL, 0},
};

/** A row with a number that no other call of this child gets. */
static apr_status_t tick(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    feed_t *f = self;

    *rows = json_pack("[{s:i}]", "tick", __atomic_add_fetch(&f->ticks, 1, __ATOMIC_SEQ_CST));
    return APR_SUCCESS;
}

/** One row, the arguments. */
static apr_status_t echo(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    *rows = json_pack("[o]", json_deep_copy(args));
    return APR_SUCCESS;
}

/** An empty list: read, without rows. */
static apr_status_t empty(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    *rows = json_array();
    return APR_SUCCESS;
}

/** Never anything new. */
static apr_status_t nothing(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    return APR_SUCCESS;
}

/** Fails, with rows that must not be shown. */
static apr_status_t fail(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    feed_t *f = self;

    *rows = json_array();
    return f->host->fail(call, APR_EAGAIN, "it was told to fail");
}

/** Always a first view again. */
static apr_status_t anew(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    feed_t *f = self;

    f->host->reset(call);
    *rows = json_pack("[o]", json_deep_copy(args));
    return APR_SUCCESS;
}

/** Asks for an interest that cannot be held. */
static apr_status_t overreach(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    feed_t *f = self;
    char *name = apr_pcalloc(f->host->pool(call), VAULT_INTEREST_MAX + 2);

    memset(name, 'x', VAULT_INTEREST_MAX + 1);
    f->host->create_interest(call, name);
    *rows = json_pack("[{s:s}]", "text", "must not be seen");
    return APR_SUCCESS;
}

/** The number after the page's last one, each time that `interest` was notified; with `quiet`, without a row.
 * Asks for the acknowledgement; with `deadly`, the first one kills the child. */
static apr_status_t count(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    feed_t *f = self;
    const char *interest = json_string_value(json_object_get(args, "interest")), *before = f->host->cursor_get(call),
               *now;

    if (!f->host->create_interest(call, interest ? interest : "count")) {
        return APR_SUCCESS;
    }
    now = apr_itoa(f->host->pool(call), (before ? atoi(before) : 0) + 1);
    f->host->cursor_set(call, now);
    f->host->on_ack(call,
                    json_object_get(args, "deadly") ? apr_pstrcat(f->host->pool(call), "deadly ", now, NULL) : now);
    *rows = json_object_get(args, "quiet") ? NULL : json_pack("[{s:s}]", "count", now);
    return APR_SUCCESS;
}

/** A row with a position that no other call has got to; args.interest would say that there are more. */
static apr_status_t later(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    feed_t *f = self;
    const char *now =
        apr_psprintf(f->host->pool(call), "%d.%d", (int)getpid(), __atomic_add_fetch(&f->ticks, 1, __ATOMIC_SEQ_CST));

    if (f->host->create_interest(call, json_string_value(json_object_get(args, "interest")))) {
        f->host->cursor_set(call, now);
        *rows = json_pack("[{s:s}]", "at", now);
    }
    return APR_SUCCESS;
}

/** @return 1: this is the first time in any child */
static int is_first(const feed_t *f)
{
    char path[1024];
    int fd;

    apr_snprintf(path, sizeof(path), "%s.died", f->journal);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    return fd >= 0 && close(fd) == 0;
}

/* `pid`: of the child; 0: it does not matter */
static void write_journal(const feed_t *f, const char *word, int pid)
{
    char line[64];
    size_t length = (size_t)(pid ? apr_snprintf(line, sizeof(line), "%s %d\n", word, pid)
                                 : apr_snprintf(line, sizeof(line), "%s\n", word));
    int fd = open(f->journal, O_WRONLY | O_APPEND | O_CREAT, 0666);

    if (fd >= 0) {
        if (write(fd, line, length) != (ssize_t)length) {
            f->host->log(3, "the journal %s cannot be written", f->journal);
        }
        close(fd);
    }
}

static void acked(void *self, const char *data)
{
    feed_t *f = self;

    write_journal(f, data, 0);
    if (!strncmp(data, "deadly", 6) && is_first(f)) {
        kill(getpid(), SIGKILL);
    }
}

/** A first view each time that args.interest is notified, as if the changes were unknown. */
static apr_status_t again(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    feed_t *f = self;

    if (f->host->create_interest(call, json_string_value(json_object_get(args, "interest")))) {
        f->host->reset(call);
        *rows = json_pack("[{s:i}]", "view", __atomic_add_fetch(&f->ticks, 1, __ATOMIC_SEQ_CST));
    }
    return APR_SUCCESS;
}

/* Writes "read PID" to the journal, and stops as long as nothing has opened the FIFO JOURNAL.gate for writing. Without one it goes on. What
 * happens to the name after "read PID" does not count. */
static void stop_at_gate(const feed_t *f)
{
    char path[1024];
    int gate, fd = -1;

    apr_snprintf(path, sizeof(path), "%s.gate", f->journal);
    gate = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    write_journal(f, "read", (int)getpid());
    if (gate >= 0) {
        apr_snprintf(path, sizeof(path), "/proc/self/fd/%d", gate);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        close(gate);
    }
    if (fd >= 0) {
        close(fd);
    }
}

/** The word in the file JOURNAL.value, each time that args.interest was notified. When it has read it, it writes "read PID" to the journal and
 * stops as long as there is the FIFO JOURNAL.gate and nothing has opened that for writing. */
static apr_status_t value(void *self, vault_call_t *call, const json_t *args, json_t **rows)
{
    feed_t *f = self;
    char path[1024], word[32] = "";
    FILE *file;

    if (!f->host->create_interest(call, json_string_value(json_object_get(args, "interest")))) {
        return APR_SUCCESS;
    }
    apr_snprintf(path, sizeof(path), "%s.value", f->journal);
    file = fopen(path, "r");
    if (!file || fscanf(file, "%31s", word) != 1) {
        word[0] = '\0';
    }
    if (file) {
        fclose(file);
    }
    stop_at_gate(f);
    f->host->cursor_set(call, word);
    *rows = json_pack("[{s:s}]", "word", word);
    return APR_SUCCESS;
}

static const vault_feed_figure_t figures[] = {
    {"Fact", "what is \"so\"", VAULT_FIGURE_FACT},
    {"Gauge", "what rises & falls", VAULT_FIGURE_GAUGE},
    {"Counter", "what grows", VAULT_FIGURE_COUNTER},
    {"Raw", "bytes that are no text", VAULT_FIGURE_FACT},
    {NULL, NULL, 0},
};

static const char raw[] = "a\xff\nFeed1Forged: 1\r<b>\0c";

/* The file JOURNAL.report contains the report. JOURNAL.hold is a FIFO: the report ends when it has been opened
 * for writing. */
static json_t *report(void *self)
{
    const feed_t *f = self;
    char path[1024];
    json_t *said;
    int fd;

    apr_snprintf(path, sizeof(path), "%s.hold", f->journal);
    fd = f->journal[0] ? open(path, O_RDONLY) : -1;
    if (fd >= 0) {
        close(fd);
        write_journal(f, "reported", (int)getpid());
    }
    apr_snprintf(path, sizeof(path), "%s.report", f->journal);
    if (f->journal[0] && access(path, F_OK) == 0) {
        return json_load_file(path, JSON_DECODE_ANY, NULL);
    }
    said = json_pack("{s:s, s:i, s:i}", "Fact", "as it should be", "Gauge", -5, "Counter", 7);
    json_object_set_new(said, "Raw", json_stringn_nocheck(raw, sizeof(raw) - 1));
    return said;
}

static const vault_feed_method_t methods[] = {
    {"tick", 0, tick},   {"echo", 0, echo},   {"empty", 0, empty}, {"nothing", 0, nothing},
    {"anew", 0, anew},   {"again", 0, again}, {"fail", 0, fail},   {"overreach", 0, overreach},
    {"count", 0, count}, {"later", 0, later}, {"value", 0, value}, {NULL, 0, NULL},
};

static const char *open_feed(void **self, const vault_host_t *host, const apr_table_t *given, apr_pool_t *pool)
{
    feed_t *f = apr_pcalloc(pool, sizeof(*f));
    const char *word = apr_table_get(given, "word"), *broken = apr_table_get(given, "broken");

    f->host = host;
    f->broken = broken[0] ? apr_pstrdup(pool, broken) : NULL;
    f->journal = apr_pstrdup(pool, apr_table_get(given, "journal"));
    f->stops = strcmp(apr_table_get(given, "stops"), "1") == 0;
    *self = f;
    return word[0] && !strchr(word, ' ') ? NULL : apr_psprintf(pool, "word=%s: a word is accepted", word);
}

static const char *child_start(void *self, apr_pool_t *pchild)
{
    return ((feed_t *)self)->broken;
}

static void child_stop(void *self)
{
    const feed_t *f = self;

    if (f->stops) {
        write_journal(f, "stopped", (int)getpid());
    }
}

const vault_feed_t vault_feed = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_feed_t),
    .name = "test",
    .params = params,
    .methods = methods,
    .open = open_feed,
    .child_start = child_start,
    .child_stop = child_stop,
    .acked = acked,
    .figures = figures,
    .report = report,
};
