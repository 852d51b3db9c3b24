/* SPDX-License-Identifier: Apache-2.0 */
/* What the database feed reports to the status: from shared memory, whatever becomes of the tailer. */
#include <CUnit/CUnit.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/now.h"
#include "log/shared.h"
#include "database_scene.h"
#include "unit.h"

void vault_database_report_suite(void);

/* A feed that no child has started: it has no tailer, and nothing reaches a database. */
static change_log_t *open_only(const char *given)
{
    void *self = NULL;

    CU_ASSERT_PTR_NULL_FATAL(vault_feed.open(&self, &host, parameters(given, suite_pool), suite_pool));
    return self;
}

static const char *text_of(change_log_t *feed, const char *name)
{
    json_t *report = vault_feed.report(feed);
    const json_t *value = json_object_get(report, name);
    const char *text = json_is_string(value)    ? apr_pstrdup(suite_pool, json_string_value(value))
                       : json_is_integer(value) ? apr_psprintf(suite_pool, "%d", (int)json_integer_value(value))
                       : json_is_null(value)    ? "null"
                                                : "nothing";

    json_decref(report);
    return text;
}

static void check_report(change_log_t *feed, const char *name, const char *expected)
{
    const char *text = text_of(feed, name);

    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0) {
        printf("\n%s: %s, expected: %s\n", name, text, expected);
    }
}

/* Every figure has its value, and nothing else is told. */
static void test_all_are_told(void)
{
    change_log_t *feed = open_only("database=/nowhere/a.db poll=100");
    json_t *report = vault_feed.report(feed);
    size_t count = 0;

    for (const vault_feed_figure_t *f = vault_feed.figures; f->name != NULL; f++, count++) {
        const json_t *value = json_object_get(report, f->name);

        CU_ASSERT_PTR_NOT_NULL(value);
        CU_ASSERT_TRUE(f->kind == VAULT_FIGURE_FACT || json_is_integer(value) || json_is_null(value));
    }
    CU_ASSERT_EQUAL(json_object_size(report), count);
    json_decref(report);
    check_report(feed, "State", "there is no tailer at the moment");
    check_report(feed, "TailerPid", "0");
    check_report(feed, "TailerReads", "0");
    check_report(feed, "Position", "null");
    check_report(feed, "RingBytes", "1048576");
    check_report(feed, "RingOldestSeconds", "null");
}

/* Like `mv`, so that no process sees half a file. */
static void write_model(const char *path, const char *text)
{
    const char *other = apr_pstrcat(suite_pool, path, ".new", NULL);
    FILE *file = fopen(other, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
    CU_ASSERT_EQUAL_FATAL(rename(other, path), 0);
}

static void test_a_changed_model_is_told(void)
{
    char path[] = "/tmp/vault-unit-XXXXXX";
    change_log_t *feed;
    int fd = mkstemp(path);

    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    check_report(open_only("database=/nowhere/a.db"), "Model", "null");
    write_model(path, "{\"entities\": {}}");
    feed = open_only(apr_psprintf(suite_pool, "database=/nowhere/a.db model=%s", path));
    check_report(feed, "Model", "as the file is");
    write_model(path, "{\"queries\": {} }");
    check_report(feed, "Model", "the file has changed: a graceful restart takes it up");
    check_report(open_only(apr_psprintf(suite_pool, "database=/nowhere/a.db model=%s", path)), "Model",
                 "as the file is");
    CU_ASSERT_EQUAL(unlink(path), 0);
    check_report(feed, "Model", "the file cannot be read any more: a restart would fail");
}

/* ------------------------------------------------------------ the tailer */

/* A process that becomes the tailer, and is it until it is killed. */
static pid_t begin_tailer(const change_log_t *feed)
{
    int ready[2];
    char byte;
    pid_t pid;

    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (log_shared_lock(feed) && write(ready[1], "x", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    CU_ASSERT_EQUAL_FATAL(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void test_tailer(void)
{
    static const struct {
        log_reading_t reading;
        const char *reads, *state;
    } rows[] = {
        {LOG_READING_NOT, "0", "the tailer begins"},
        {LOG_READING_UNREACHABLE, "0", "the tailer cannot read the database"},
        {LOG_READING_UNWATCHED, "0", "no table is watched"},
        {LOG_READING_DONE, "1", "the tailer reads the changes"},
    };
    change_log_t *feed = open_only("database=/nowhere/b.db poll=100");
    pid_t pid = begin_tailer(feed);
    int status;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        log_shared_set_reading(feed, rows[i].reading);
        check_report(feed, "State", rows[i].state);
        check_report(feed, "TailerReads", rows[i].reads);
        check_report(feed, "TailerPid", apr_psprintf(suite_pool, "%d", (int)pid));
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    check_report(feed, "TailerPid", "0"); /* though it could not say that it has left */
    check_report(feed, "TailerReads", "0");
    check_report(feed, "State", "there is no tailer at the moment");

    CU_ASSERT_TRUE(log_shared_lock(feed));
    check_report(feed, "TailerPid", apr_psprintf(suite_pool, "%d", (int)getpid()));
    log_shared_unlock(feed);
    check_report(feed, "TailerPid", "0");
}

static void test_no_tailer(void)
{
    check_report(open_only("database=/nowhere/c.db poll=0"), "State", "there is no tailer: poll=0");
}

/* ------------------------------------------------------------ the ring */

static void test_ring(void)
{
    change_log_t *feed = open_only("database=/nowhere/d.db poll=100 ring=64");
    log_ring_t *ring = log_shared_ring(feed);
    const log_entry_t entry = {
        .change = {.id = 1}, .at = vault_now() - apr_time_from_sec(3600), .table = "logs", .op = "I"};
    log_head_t head = {.boot = 1, .position = "41"};

    check_report(feed, "RingBytes", "65536");
    log_ring_publish(ring, &head);
    check_report(feed, "Position", "41");
    check_report(feed, "RingOldestSeconds", "null");
    log_ring_append(ring, &entry);
    log_ring_publish(ring, &head);
    CU_ASSERT_TRUE(atoi(text_of(feed, "RingOldestSeconds")) >= 3600);
    CU_ASSERT_TRUE(atoi(text_of(feed, "RingOldestSeconds")) < 7200);
}

/* ------------------------------------------------------------ reads */

static void test_reads(void)
{
    static const struct {
        const char *method, *args, *interest;
        int is_new; /* the page has asked before: 0 */
        const char *grows;
    } rows[] = {
        {"get_new_instances", "{\"table\":\"logs\"}", "DB-logs", 1, "SqlFirstView"},
        {"get_new_instances", "{\"table\":\"logs\"}", "DB-logs", 0, "SqlNotInRing"},
        {"get_new_instances", "{\"table\":\"plain\",\"cursor\":\"largest-key\"}", "DB-plain", 1, "SqlUnwatched"},
        {"get_modified_instance", "{\"table\":\"logs\",\"key\":\"1\"}", "DB-logs-1", 1, "SqlFirstView"},
        {"all", "{\"table\":\"logs\"}", "DB-logs", 1, NULL},
    };
    host_page_t page = {0};
    scene_t s;

    scene_begin(&s, "report_reads.db", "logs", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int all = atoi(text_of(s.feed.self, "SqlReads"));
        int one = rows[i].grows != NULL ? atoi(text_of(s.feed.self, rows[i].grows)) : 0;

        if (rows[i].is_new) {
            page = (host_page_t){0};
        }
        host_notify(rows[i].interest);
        ask(&s.feed, &page, rows[i].method, rows[i].args);
        CU_ASSERT_EQUAL(atoi(text_of(s.feed.self, "SqlReads")), all + (rows[i].grows != NULL));
        if (rows[i].grows != NULL) {
            CU_ASSERT_EQUAL(atoi(text_of(s.feed.self, rows[i].grows)), one + 1);
        }
    }
    check_report(s.feed.self, "RingReads", "0");
    scene_end(&s);
}

void vault_database_report_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_report", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "a model that has changed", test_all_are_told);
    CU_add_test(suite, "every figure is told", test_a_changed_model_is_told);
    CU_add_test(suite, "what the tailer does, also when it was killed", test_tailer);
    CU_add_test(suite, "no tailer", test_no_tailer);
    CU_add_test(suite, "the position and the ring", test_ring);
    CU_add_test(suite, "what pages read, and why by SQL", test_reads);
}
