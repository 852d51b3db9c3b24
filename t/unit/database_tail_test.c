/* SPDX-License-Identifier: Apache-2.0 */
/* What the tailer does with one read of SQLite: whatever happens to it or to the database, pages have each
 * change once. */
#include <CUnit/CUnit.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "database_tailer.h"
#include "log/touched.h"
#include "unit.h"

void vault_database_tail_suite(void);

/* A tailer is killed at so many points of the first instructions of each step. VAULT_KILL_POINTS in the environment
 * says another number of them. */
#define POINTS 5
#define WINDOW 4000

/* ------------------------------------------------------------ killed at any instruction */

/* A process that is traced stops when it begins to append an entry, to publish what it has appended, and to notify. */
static int is_traced;

static void begin_step(void)
{
    if (is_traced) {
        raise(SIGSTOP);
    }
}

void __real_log_ring_append(log_ring_t *ring, const log_entry_t *entry);
void __wrap_log_ring_append(log_ring_t *ring, const log_entry_t *entry);
void __real_log_ring_publish(log_ring_t *ring, log_head_t *head);
void __wrap_log_ring_publish(log_ring_t *ring, log_head_t *head);
int __real_log_touched_notify(const log_touched_t *touched);
int __wrap_log_touched_notify(const log_touched_t *touched);

void __wrap_log_ring_append(log_ring_t *ring, const log_entry_t *entry)
{
    begin_step();
    __real_log_ring_append(ring, entry);
}

void __wrap_log_ring_publish(log_ring_t *ring, log_head_t *head)
{
    begin_step();
    __real_log_ring_publish(ring, head);
}

int __wrap_log_touched_notify(const log_touched_t *touched)
{
    begin_step();
    return __real_log_touched_notify(touched);
}

/* A writer is killed when it has committed and is about to poke the tailer. */
static int is_mortal;

int __real_log_shared_ask(const change_log_t *log);
int __wrap_log_shared_ask(const change_log_t *log);

/* What is done while a writer waits for the tailer; NULL: nothing. */
static void (*while_asking)(void *);
static void *while_asking_data;

int __wrap_log_shared_ask(const change_log_t *log)
{
    if (is_mortal) {
        kill(getpid(), SIGKILL);
    }
    if (while_asking != NULL) {
        while_asking(while_asking_data);
    }
    return __real_log_shared_ask(log);
}

static void be_traced(const feed_t *feed)
{
    tailer_t t;

    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(1);
    }
    tailer_begin(&t, feed);
    is_traced = 1;
    tailer_reads(&t);
    _exit(0);
}

/* A tailer is killed when it has begun so many steps, and so many instructions later.
 * @return 0: it had no such step, or it could not be traced */
static int kill_tailer(const feed_t *feed, int steps, long instructions)
{
    pid_t pid = fork();
    int status, is_stopped;

    if (pid == 0) {
        be_traced(feed);
    }
    CU_ASSERT_FATAL(pid > 0 && waitpid(pid, &status, WUNTRACED) == pid);
    for (int i = 0; i < steps && WIFSTOPPED(status); i++) {
        CU_ASSERT_FATAL(ptrace(PTRACE_CONT, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid);
    }
    is_stopped = WIFSTOPPED(status);
    for (long i = 0; i < instructions && WIFSTOPPED(status); i++) {
        CU_ASSERT_FATAL(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid);
    }
    if (WIFSTOPPED(status)) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    atomic_store(&shared->lock, 0); /* the host's lock survives its owner */
    return is_stopped;
}

/* A row is inserted and changed in one transaction, and another one follows. The tailer that reads them is killed. All
 * pages look then, as the parent notifies all, and again when another process has become the tailer.
 * @return as kill_tailer */
static int kill_one(scene_t *s, int steps, long instructions)
{
    host_page_t page = {0};
    apr_uint64_t boot = log_shared_boot(s->feed.self);
    int by_sql = reads_by_sql(&s->feed), was_killed;
    const char *lines;

    ask(&s->feed, &page, "get_new_instances", ARGS);
    stranger_does(s->other, "BEGIN");
    stranger_does(s->other, "INSERT INTO logs(line) VALUES('a')");
    stranger_does(s->other, "UPDATE logs SET line='b' WHERE line='a'");
    stranger_does(s->other, "COMMIT");
    stranger_does(s->other, "INSERT INTO logs(line) VALUES('c')");
    was_killed = kill_tailer(&s->feed, steps, instructions);
    host_notify_all();
    lines = told(&s->feed, &page);
    succeed(&s->feed);
    lines = apr_pstrcat(suite_pool, lines, told(&s->feed, &page), NULL);
    if (strcmp(lines, "b c ") != 0) {
        fprintf(stderr, "\n  killed in step %d, after %ld instructions: the page was told \"%s\"\n", steps,
                instructions, lines);
    }
    CU_ASSERT_STRING_EQUAL(lines, "b c ");
    host_notify_all();
    check_told(&s->feed, &page, "", "there is nothing more");
    CU_ASSERT_EQUAL(page.resets, 0);
    CU_ASSERT_EQUAL(log_shared_boot(s->feed.self), boot); /* the successor goes on with the same ring */
    CU_ASSERT_EQUAL(reads_by_sql(&s->feed), by_sql);
    return was_killed;
}

/* Three entries are appended and published, and pages are notified. */
static void test_killed(void)
{
    const char *wanted = getenv("VAULT_KILL_POINTS");
    long points = wanted != NULL ? atol(wanted) : POINTS;
    int steps = 0;
    scene_t s;

    scene_begin(&s, "tail_killed.db", "logs", "");
    succeed(&s.feed);
    while (kill_one(&s, steps, 0)) {
        for (long i = 1; i < points; i++) {
            kill_one(&s, steps, i * WINDOW / points);
        }
        steps++;
    }
    if (steps == 0) {
        printf("\n    not allowed to trace a process: skipped ");
    }
    CU_ASSERT_TRUE(steps == 0 || steps == 5);
    scene_end(&s);
}

/* Its change is found as that of any other program. */
static void test_writer_killed(void)
{
    host_page_t page = {0};
    tailer_t t;
    scene_t s;
    pid_t pid;
    int status;

    scene_begin(&s, "tail_writer.db", "logs", "");
    tailer_begin(&t, &s.feed);
    tailer_reads(&t);
    ask(&s.feed, &page, "get_new_instances", ARGS);
    pid = fork();
    if (pid == 0) {
        feed_t feed;

        feed_open(&feed, apr_psprintf(suite_pool, "database=%s", path_of("tail_writer.db")));
        ((change_log_t *)feed.self)->poll = 60000; /* as if there were a tailer */
        is_mortal = 1;
        ask(&feed, NULL, "save", "{\"table\":\"logs\",\"values\":{\"line\":\"a\"}}");
        _exit(0);
    }
    CU_ASSERT_FATAL(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    check_told(&s.feed, &page, "", "no page has been notified");
    tailer_reads(&t);
    check_told(&s.feed, &page, "a ", "the trigger has recorded it");
    tailer_end(&t);
    scene_end(&s);
}

/* ------------------------------------------------------------ the order of append, publish and notify */

typedef struct looker_t {
    feed_t *feed;
    host_page_t page;
    const char *lines;
} looker_t;

static void look_now(void *data)
{
    looker_t *looker = data;

    host_notify("DB-logs");
    looker->lines = told(looker->feed, &looker->page);
}

/* A page that looks at the first notify finds the change in the ring. */
static void test_notified(void)
{
    looker_t looker = {.lines = "never"};
    tailer_t t;
    scene_t s;

    scene_begin(&s, "tail_notified.db", "logs", "");
    tailer_begin(&t, &s.feed);
    tailer_reads(&t);
    looker.feed = &s.feed;
    ask(&s.feed, &looker.page, "get_new_instances", ARGS);
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('a')");
    host_meanwhile_data = &looker;
    host_meanwhile = look_now;
    tailer_reads(&t);
    host_meanwhile = NULL;
    CU_ASSERT_STRING_EQUAL(looker.lines, "a ");
    CU_ASSERT_EQUAL(reads_by_sql(&s.feed), 0);
    check_told(&s.feed, &looker.page, "", "it has come once");
    tailer_end(&t);
    scene_end(&s);
}

/* ------------------------------------------------------------ transactions */

static void test_transactions(void)
{
    host_page_t page = {0}, second = {0};
    tailer_t t;
    scene_t s;

    scene_begin(&s, "tail_transactions.db", "logs", "");
    tailer_begin(&t, &s.feed);
    tailer_reads(&t);
    ask(&s.feed, &page, "get_new_instances", ARGS);
    stranger_does(s.other, "BEGIN");
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('later')");
    tailer_reads(&t);
    host_notify_all();
    check_told(&s.feed, &page, "", "what is in progress is not seen");
    stranger_does(s.other, "COMMIT");
    tailer_reads(&t);
    check_told(&s.feed, &page, "later ", "what is committed is");
    stranger_does(s.other, "BEGIN");
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('never')");
    stranger_does(s.other, "ROLLBACK");
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('after')");
    tailer_reads(&t);
    check_told(&s.feed, &page, "after ", "what is rolled back is not seen");
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('shown')");
    check(ask(&s.feed, &second, "get_new_instances", ARGS), "\"line\":\"shown\"", "first view", "it reads the table");
    tailer_reads(&t);
    check_told(&s.feed, &second, "", "what a first view has shown is not told again");
    CU_ASSERT_EQUAL(reads_by_sql(&s.feed), 0);
    tailer_end(&t);
    scene_end(&s);
}

/* ------------------------------------------------------------ lives of the ring */

/* The database may be another one now: every page asks it once, and then follows the ring again. */
static void test_connection(void)
{
    host_page_t page = {0};
    apr_uint64_t boot;
    int notified;
    tailer_t t;
    scene_t s;

    scene_begin(&s, "tail_connection.db", "logs plain", "");
    tailer_begin(&t, &s.feed);
    tailer_reads(&t);
    ask(&s.feed, &page, "get_new_instances", ARGS);
    boot = log_shared_boot(s.feed.self);
    notified = host_notified("DB-plain");
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('a')");
    log_tail_connect(&t.tail, NULL);
    tailer_reads(&t);
    CU_ASSERT_NOT_EQUAL(log_shared_boot(s.feed.self), boot);
    CU_ASSERT_EQUAL(host_notified("DB-plain"), notified + 1); /* as pages of all watched tables are */
    check_told(&s.feed, &page, "a ", "what was written meanwhile comes by SQL");
    CU_ASSERT_EQUAL(reads_by_sql(&s.feed), 1);
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('b')");
    tailer_reads(&t);
    check_told(&s.feed, &page, "b ", "what is written next comes from the ring");
    CU_ASSERT_EQUAL(reads_by_sql(&s.feed), 1);
    CU_ASSERT_EQUAL(page.resets, 0);
    tailer_end(&t);
    scene_end(&s);
}

/* What the tailer has seen, or has not seen yet, is not there any more. */
static void test_lost(void)
{
    static const struct {
        const char *does[3], *why;
    } rows[] = {
        {{"DELETE FROM vault_changes", "DELETE FROM sqlite_sequence WHERE name='vault_changes'"},
         "an older copy of the database: the position is ahead of it"},
        {{"DELETE FROM vault_changes WHERE id>3", "UPDATE sqlite_sequence SET seq=3 WHERE name='vault_changes'"},
         "one in which some of the changes are"},
        {{"INSERT INTO logs(line) VALUES('unread')", "DELETE FROM vault_changes", "UPDATE vault_watched SET pruned=6"},
         "changes were pruned that the tailer has not read"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        host_page_t page = {0};
        apr_uint64_t boot;
        tailer_t t;
        scene_t s;

        scene_begin(&s, apr_psprintf(suite_pool, "tail_lost%d.db", (int)i), "logs", "");
        tailer_begin(&t, &s.feed);
        stranger_does(s.other, "INSERT INTO logs(line) VALUES('a'),('b'),('c'),('d')");
        tailer_reads(&t);
        ask(&s.feed, &page, "get_new_instances", ARGS);
        boot = log_shared_boot(s.feed.self);
        for (int k = 0; k < 3 && rows[i].does[k] != NULL; k++) {
            stranger_does(s.other, rows[i].does[k]);
        }
        tailer_reads(&t);
        CU_ASSERT_NOT_EQUAL(log_shared_boot(s.feed.self), boot);
        /* Before the page looks, ids are given again to other changes, up to that in its position. */
        stranger_does(s.other, "INSERT INTO logs(line) VALUES('v'),('w'),('x'),('y'),('z'),('e')");
        tailer_reads(&t);
        check_told(&s.feed, &page, "e ", rows[i].why);
        CU_ASSERT_EQUAL(page.resets, 1);
        stranger_does(s.other, "INSERT INTO logs(line) VALUES('f')");
        tailer_reads(&t);
        check_told(&s.feed, &page, "f ", rows[i].why);
        CU_ASSERT_EQUAL(page.resets, 1);
        tailer_end(&t);
        scene_end(&s);
    }
}

static void read_beside(void *feed)
{
    while_asking = NULL;
    check(ask(feed, NULL, "all", "{\"table\":\"logs\"}"), "\"line\":\"a\"", "a call of another client",
          "the connection is free while the writer waits");
}

/* A writer that waits for the tailer has given its connection back. */
static void test_waiting(void)
{
    scene_t s;

    scene_begin(&s, "tail_waiting.db", "logs", "connections=1 timeout=1 look=60000");
    while_asking_data = &s.feed;
    while_asking = read_beside;
    ask(&s.feed, NULL, "save", "{\"table\":\"logs\",\"values\":{\"line\":\"a\"}}");
    CU_ASSERT_PTR_NULL(while_asking);
    scene_end(&s);
}

/* What INSERT OR FAIL has inserted when it fails stays, but SQLite does not write down which ids it gave. */
static void test_failed(void)
{
    host_page_t page = {0};
    tailer_t t;
    scene_t s;

    scene_begin(&s, "tail_failed.db", "logs", "");
    tailer_begin(&t, &s.feed);
    tailer_reads(&t);
    ask(&s.feed, &page, "get_new_instances", ARGS);
    CU_ASSERT_PTR_NULL(
        dbi_conn_query(s.other, "INSERT OR FAIL INTO logs(id,line) VALUES(7,'a'),(8,'b'),(1,'there already')"));
    tailer_reads(&t);
    check_told(&s.feed, &page, "a b ", "what was inserted before the failure is there");
    stranger_does(s.other, "CREATE TABLE unrelated(a)"); /* the tailer reads again */
    tailer_reads(&t);
    host_notify("DB-logs");
    check_told(&s.feed, &page, "", "it comes once");
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('c')");
    tailer_reads(&t);
    check_told(&s.feed, &page, "c ", "");
    tailer_end(&t);
    scene_end(&s);
}

void vault_database_tail_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_tail", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "a tailer is killed at any instruction", test_killed);
    CU_add_test(suite, "a writer is killed when it has committed", test_writer_killed);
    CU_add_test(suite, "who is notified finds the change in the ring", test_notified);
    CU_add_test(suite, "transactions", test_transactions);
    CU_add_test(suite, "a writer waits for the tailer", test_waiting);
    CU_add_test(suite, "a statement that fails halfway", test_failed);
    CU_add_test(suite, "a new connection", test_connection);
    CU_add_test(suite, "a database that has lost changes", test_lost);
}
