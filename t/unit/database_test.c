/* SPDX-License-Identifier: Apache-2.0 */
/* The database feed against real SQLite files in a folder of its own. */
#include <CUnit/CUnit.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apr_thread_proc.h"

#include "database_fixture.h"
#include "database_rows.h"
#include "unit.h"

void vault_database_suite(void);

/* ------------------------------------------------------------ parameters */

static void test_parameters(void)
{
    static const struct {
        const char *given, *wrong, *why;
    } rows[] = {
        {"database=x", NULL, "a file that is not there yet may come later"},
        {"database=/", "database=/", "a folder is no database"},
        {"driver=sqlite3", "database=:", "the file must be named"},
        {"database=x driver=oracle", "driver=oracle: not supported; there is sqlite3, pgsql, mysql",
         "only what is supported"},
        {"database=x host=localhost", "host=localhost: driver=sqlite3 does not use it; it is accepted for pgsql, mysql",
         "a file"},
        {"database=x password=secret", "password=***: driver=sqlite3 does not use it", "the password is not repeated"},
        {"driver=pgsql database=x host=/nowhere user=u port=1 password=p", NULL, "a server may come later"},
        {"driver=mysql database=x", NULL, "the library's own host and user"},
        {"driver=pgsql database=", "database=: the name of a database is needed", "which one?"},
        {"driver=pgsql database=x port=0", "port=0: a whole number from 1 to 65535", "below"},
        {"driver=mysql database=x port=65536", "port=65536: a whole number", "above"},
        {"driver=mysql database=x host=localhost tls-ca=/etc/hostname",
         "tls-ca=/etc/hostname: it is accepted with a host=NAME that is reached by TCP",
         "a socket to MariaDB's library"},
        {"driver=pgsql database=x tls-ca=/etc/hostname", "that is reached by TCP", "a socket as well"},
        {"driver=pgsql database=x host=/run tls-ca=/etc/hostname", "that is reached by TCP", "a socket"},
        {"driver=mysql database=x host=db tls-ca=/nowhere/x", "tls-ca=/nowhere/x: the file cannot be read",
         "no TLS without the authority"},
        {"driver=mysql database=x host=db tls-ca=/etc/hostname",
         "tls-ca=/etc/hostname: a file with a certificate (PEM) is accepted", "not any file"},
        {"driver=mysql database=x host=db;ssl=0 tls-ca=/etc/hostname", "without semicolons",
         "no more options than these"},
        {"driver=mysql database=x password-file=/nowhere/x", "password-file=/nowhere/x: the file cannot be read",
         "missing"},
        {"driver=mysql database=x password-file=/etc/hostname", "password-file=/etc/hostname: all users can read it",
         "a secret"},
        {"driver=mysql database=x password=p password-file=/etc/hostname",
         "password-file=/etc/hostname: there is a password", "one"},
        {"database=x timeout=0", "timeout=0: a whole number from 1 to 60", "below"},
        {"database=x timeout=61", "timeout=61", "above"},
        {"database=x timeout=5s", "timeout=5s", "a unit"},
        {"database=x timeout=", "timeout=:", "empty"},
        {"database=x connections=65", "connections=65: a whole number from 1 to 64", "above"},
        {"database=x connections=-1", "connections=-1", "below"},
        {"database=x rows=99999999999999999999", "rows=999", "more than fits"},
        {"database=x init=/nowhere/x.sql", "init=/nowhere/x.sql: the file cannot be read", "missing script"},
        {"database=x init=/", "init=/: a text file", "a folder as script"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        feed_t feed = {0};
        char given[256];

        apr_cpystrn(given, rows[i].given, sizeof(given));
        feed_open(&feed, given);
        if (rows[i].wrong == NULL) {
            CU_ASSERT_PTR_NULL(feed.wrong);
        }
        else {
            const char *expected = strcmp(rows[i].wrong, "database=:") == 0 ? "database=: the path" : rows[i].wrong;

            check(feed.wrong != NULL ? feed.wrong : "accepted", expected, rows[i].given, rows[i].why);
        }
        feed_close(&feed);
    }
}

/* ------------------------------------------------------------ calls */

static void test_calls(void)
{
    feed_t feed;

    feed_fresh(&feed, "calls.db", "rows=50");
    for (size_t i = 0; i < sizeof(call_rows) / sizeof(call_rows[0]); i++) {
        check(ask(&feed, NULL, call_rows[i].method, call_rows[i].args), call_rows[i].expected, call_rows[i].args,
              call_rows[i].why);
    }
    CU_ASSERT_EQUAL(host_notified("DB-logs"), 2);
    CU_ASSERT_EQUAL(host_notified("DB-logs-4"), 1);
    CU_ASSERT_EQUAL(host_notified("DB-strict_one-abc"), 1);
    CU_ASSERT_EQUAL(host_notified("DB-pair"), 1);
    feed_close(&feed);
}

/* Each text must come back as it went in, and be found by itself. */
static void test_hostile_values(void)
{
    feed_t feed;

    feed_fresh(&feed, "values.db", "");
    for (size_t i = 0; i < sizeof(hostile_values) / sizeof(hostile_values[0]); i++) {
        json_t *args = json_pack("{s:s,s:{s:s}}", "table", "empty", "values", "v", hostile_values[i]);
        json_t *saved = NULL;
        json_t *found = NULL;

        CU_ASSERT_EQUAL(ask_json(&feed, NULL, "save", args, &saved, NULL), APR_SUCCESS);
        json_decref(args);
        args = json_pack("{s:s,s:{s:s}}", "table", "empty", "where", "v", hostile_values[i]);
        CU_ASSERT_EQUAL(ask_json(&feed, NULL, "filter", args, &found, NULL), APR_SUCCESS);
        json_decref(args);
        CU_ASSERT_EQUAL_FATAL(json_array_size(found), 1);
        CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(found, 0), "v")), hostile_values[i]);
        json_decref(saved);
        json_decref(found);
    }
    feed_close(&feed);
}

/* A list of three thousand names after " from " overruns an array in libdbi's module when it gets there. */
static void test_long_value(void)
{
    char *text = apr_pstrdup(suite_pool, "x from ");
    json_t *args;
    json_t *found = NULL;
    feed_t feed;

    for (int i = 0; i < 3000; i += 100) {
        text = apr_pstrcat(suite_pool, text, apr_psprintf(suite_pool, "a%d%0400d select f(b as sql,", i, i), NULL);
    }
    feed_fresh(&feed, "long.db", "");
    args = json_pack("{s:s,s:{s:s}}", "table", "empty", "where", "v", text);
    CU_ASSERT_EQUAL(ask_json(&feed, NULL, "filter", args, &found, NULL), APR_SUCCESS);
    CU_ASSERT_EQUAL(json_array_size(found), 0);
    json_decref(args);
    json_decref(found);
    feed_close(&feed);
}

/* ------------------------------------------------------------ new instances */

static void test_new_instances(void)
{
    const char *args = "{\"table\":\"logs\",\"limit\":\"2\"}";
    host_page_t page = {0};
    feed_t feed;

    feed_fresh(&feed, "new.db", "");
    check(ask(&feed, &page, "get_new_instances", args), "\"line\":\"two\"", "first view", "the newest two, in order");
    CU_ASSERT_STRING_EQUAL(page.cursor, "3");
    check(ask(&feed, &page, "get_new_instances", args), "nothing", "second", "nothing was announced");
    CU_ASSERT_EQUAL(page.looks, 1);
    ask(&feed, NULL, "save", "{\"table\":\"logs\",\"values\":{\"line\":\"four\"}}");
    check(ask(&feed, &page, "get_new_instances", args), "[{\"id\":4,\"line\":\"four\",\"status\":null,\"took\":null}]",
          "third", "only what is new");
    CU_ASSERT_EQUAL(page.looks, 2);
    host_notify("DB-logs");
    check(ask(&feed, &page, "get_new_instances", args), "nothing", "fourth", "an extraneous notification");
    CU_ASSERT_STRING_EQUAL(page.cursor, "4");
    memset(&page, 0, sizeof(page));
    check(ask(&feed, &page, "get_new_instances", "{\"table\":\"empty\"}"), "nothing", "empty", "no rows yet");
    CU_ASSERT_STRING_EQUAL(page.cursor, "0");
    feed_close(&feed);
}

/* More rows than one answer may hold: each part announces the next, until all are there. */
static void test_parts(void)
{
    host_page_t page = {0};
    json_t *args = json_pack("{s:s}", "table", "empty");
    json_int_t expected = 1;
    feed_t feed;

    feed_fresh(&feed, "parts.db", "rows=3");
    CU_ASSERT_STRING_EQUAL(ask(&feed, &page, "get_new_instances", "{\"table\":\"empty\"}"), "nothing");
    for (int i = 0; i < 10; i++) {
        ask(&feed, NULL, "save", "{\"table\":\"empty\",\"values\":{\"v\":1}}");
    }
    for (int part = 0; part < 5; part++) {
        json_t *rows = NULL;

        CU_ASSERT_EQUAL(ask_json(&feed, &page, "get_new_instances", args, &rows, NULL), APR_SUCCESS);
        CU_ASSERT_EQUAL(json_array_size(rows), part < 3 ? 3 : part == 3 ? 1 : 0);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_array_get(rows, i), "id")), expected++);
        }
        json_decref(rows);
    }
    CU_ASSERT_EQUAL(expected, 11);
    json_decref(args);
    feed_close(&feed);
}

#define RACE_EACH 150

/* 0, or how many rows failed. A database that is locked for all of `timeout` would be a failure here. */
static int write_race_rows(feed_t *feed, int writer)
{
    int failed = 0;

    for (int n = 0; n < RACE_EACH; n++) {
        json_t *args = json_pack("{s:s,s:{s:i,s:i}}", "table", "race", "values", "writer", writer, "n", n);
        json_t *rows = NULL;

        failed += ask_json(feed, NULL, "save", args, &rows, NULL) != APR_SUCCESS;
        json_decref(args);
        json_decref(rows);
    }
    return failed;
}

typedef struct writer_t {
    feed_t *feed;
    int number;
    int failed;
} writer_t;

static void *APR_THREAD_FUNC writer_thread(apr_thread_t *thread, void *data)
{
    writer_t *writer = data;

    writer->failed = write_race_rows(writer->feed, writer->number);
    return NULL;
}

static pid_t writer_process(const char *given, int number)
{
    pid_t pid = fork();

    if (pid == 0) {
        feed_t feed;

        feed_open(&feed, given);
        _exit(write_race_rows(&feed, number) != 0);
    }
    return pid;
}

/* Each row once, in order; each writer's rows in the order in which it wrote them. */
static int take_race_rows(const json_t *rows, json_int_t *last_id, int *next)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        json_int_t id = json_integer_value(json_object_get(row, "id"));
        json_int_t writer = json_integer_value(json_object_get(row, "writer"));

        CU_ASSERT_TRUE(id > *last_id);
        *last_id = id;
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "n")), next[writer]);
        next[writer]++;
    }
    return (int)json_array_size(rows);
}

static void test_race(void)
{
    const char *given = apr_psprintf(suite_pool, "database=%s rows=7 timeout=30", path_of("race.db"));
    apr_thread_t *threads[2];
    writer_t writers[2];
    pid_t processes[2];
    json_t *args = json_pack("{s:s}", "table", "race");
    host_page_t page = {0};
    json_int_t last_id = 0;
    int next[4] = {0};
    int seen = 0;
    feed_t feed;

    feed_fresh(&feed, "race.db", "rows=7 timeout=30");
    CU_ASSERT_STRING_EQUAL_FATAL(ask(&feed, &page, "get_new_instances", "{\"table\":\"race\"}"), "nothing");
    feed_close(&feed);
    for (int i = 0; i < 2; i++) {
        processes[i] = writer_process(given, i);
    }
    feed_open(&feed, given);
    for (int i = 0; i < 2; i++) {
        writers[i] = (writer_t){&feed, i + 2, -1};
        apr_thread_create(&threads[i], NULL, writer_thread, &writers[i], feed.pool);
    }
    while (seen < 4 * RACE_EACH && host_wait()) {
        json_t *rows = NULL;

        CU_ASSERT_EQUAL(ask_json(&feed, &page, "get_new_instances", args, &rows, NULL), APR_SUCCESS);
        seen += take_race_rows(rows, &last_id, next);
        json_decref(rows);
    }
    CU_ASSERT_EQUAL(seen, 4 * RACE_EACH);
    for (int i = 0; i < 2; i++) {
        apr_status_t ended;
        int status = -1;

        apr_thread_join(&ended, threads[i]);
        CU_ASSERT_EQUAL(writers[i].failed, 0);
        CU_ASSERT_EQUAL(waitpid(processes[i], &status, 0), processes[i]);
        CU_ASSERT_EQUAL(status, 0);
    }
    json_decref(args);
    feed_close(&feed);
}

/* ------------------------------------------------------------ what goes wrong outside */

static void remove_database(const char *name)
{
    unlink(path_of(name));
    unlink(apr_pstrcat(suite_pool, path_of(name), "-wal", NULL));
    unlink(apr_pstrcat(suite_pool, path_of(name), "-shm", NULL));
}

/* Another file under the same name between two calls: the old one must not answer any more. */
static void test_replaced(void)
{
    const char *all = "{\"table\":\"empty\"}";
    feed_t feed;
    feed_t other;

    feed_fresh(&other, "other.db", "");
    ask(&other, NULL, "save", "{\"table\":\"empty\",\"values\":{\"v\":\"new\"}}");
    feed_close(&other);
    feed_fresh(&feed, "replaced.db", "");
    check(ask(&feed, NULL, "all", all), "[]", "before", "the first file");
    remove_database("replaced.db");
    CU_ASSERT_EQUAL(rename(path_of("other.db"), path_of("replaced.db")), 0);
    check(ask(&feed, NULL, "all", all), "[{\"id\":1,\"v\":\"new\"}]", "after", "the second file");
    feed_close(&feed);
}

static void test_locked(void)
{
    const char *save = "{\"table\":\"logs\",\"values\":{\"line\":\"x\"}}";
    dbi_inst instance;
    dbi_conn other;
    feed_t feed;

    feed_fresh(&feed, "locked.db", "timeout=1");
    ask(&feed, NULL, "all", "{\"table\":\"logs\"}");
    other = stranger(&instance, "locked.db");
    stranger_does(other, "BEGIN EXCLUSIVE");
    check(ask(&feed, NULL, "save", save), "EAGAIN: the database is locked", "save", "another one writes");
    check(ask(&feed, NULL, "all", "{\"table\":\"logs\"}"), "three", "all", "readers do not wait for a writer");
    stranger_does(other, "ROLLBACK");
    check(ask(&feed, NULL, "save", save), "[{\"id\":4}]", "save again", "the lock is gone, and nothing is left open");
    feed_close(&feed);
    stranger_does(other, GUARD "PRAGMA journal_mode=DELETE");
    stranger_does(other, "BEGIN EXCLUSIVE");
    feed_fresh(&feed, "locked.db", "timeout=1");
    check(ask(&feed, NULL, "all", "{\"table\":\"logs\"}"), "EAGAIN: the database is locked", "all",
          "a file that is not in WAL mode");
    stranger_does(other, "ROLLBACK");
    check(ask(&feed, NULL, "all", "{\"table\":\"logs\"}"), "three", "all again", "and back");
    stranger_leaves(instance, other);
    feed_close(&feed);
}

static void test_gone(void)
{
    const char *look = "{\"table\":\"logs\"}";
    host_page_t page = {0};
    feed_t feed;
    feed_t maker;

    feed_fresh(&maker, "gone.db", "");
    ask(&maker, NULL, "all", look);
    feed_open(&feed, apr_psprintf(suite_pool, "database=%s", path_of("gone.db")));
    check(ask(&feed, &page, "get_new_instances", look), "three", "first", "there are rows");
    remove_database("gone.db");
    check(ask(&feed, &page, "get_new_instances", look), "nothing", "unannounced", "then the page does not even read");
    host_notify("DB-logs");
    check(ask(&feed, &page, "get_new_instances", look), "EAGAIN: the database", "gone", "the file is not there");
    CU_ASSERT_EQUAL(access(path_of("gone.db"), F_OK), -1);
    write_file("gone.db",
               "this is no database, and long enough to be looked at as one: it fills the first hundred bytes of it");
    check(ask(&feed, &page, "get_new_instances", look), "EAGAIN: the database", "garbage", "some other file");
    remove_database("gone.db");
    check(ask(&maker, NULL, "save", "{\"table\":\"empty\",\"values\":{\"v\":1}}"), "[{\"id\":1}]", "made anew",
          "init runs again for a new file");
    feed_close(&maker);
    check(ask(&feed, &page, "get_new_instances", look), "nothing", "back", "the same rows again: no news");
    strcpy(page.cursor, "500");
    host_notify("DB-logs");
    check(ask(&feed, &page, "get_new_instances", look), "\"line\":\"one\"", "another life",
          "the page's position is beyond every key this table ever gave");
    CU_ASSERT_STRING_EQUAL(page.cursor, "3");
    feed_close(&feed);
    feed_open(&feed, apr_psprintf(suite_pool, "database=%s", folder));
    check(ask(&feed, NULL, "all", look), "EAGAIN: the database", "folder", "a folder is no database");
    feed_close(&feed);
}

static void test_schema_changes(void)
{
    dbi_inst instance;
    dbi_conn other;
    feed_t feed;

    feed_fresh(&feed, "schema.db", "");
    check(ask(&feed, NULL, "all", "{\"table\":\"later\"}"), "EINVAL: there is no table \"later\"", "before", "not yet");
    other = stranger(&instance, "schema.db");
    stranger_does(other, "CREATE TABLE later(id INTEGER PRIMARY KEY,a)");
    check(ask(&feed, NULL, "all", "{\"table\":\"later\"}"), "[]", "after", "made meanwhile");
    check(ask(&feed, NULL, "get_new_instances", "{\"table\":\"later\"}"), "AUTOINCREMENT", "no serial",
          "what to declare");
    stranger_does(other, "DROP TABLE later");
    stranger_does(other, "CREATE TABLE later(id INTEGER PRIMARY KEY AUTOINCREMENT,b)");
    stranger_does(other, "INSERT INTO later(b) VALUES(5)");
    check(ask(&feed, NULL, "get_new_instances", "{\"table\":\"later\"}"), "[{\"id\":1,\"b\":5}]", "serial", "declared");
    stranger_leaves(instance, other);
    feed_close(&feed);
}

/* Where a database cannot be made, who looks after the server is told what to do about it. */
static void test_folder(void)
{
    const char *init = write_file("folder.sql", "CREATE TABLE a(b);");
    feed_t feed;

    feed_open(&feed, apr_psprintf(suite_pool, "database=%s init=%s", path_of("nowhere/x.db"), init));
    check(ask(&feed, NULL, "all", "{\"table\":\"a\"}"), "x.db\" cannot be opened: No such file or directory; user",
          "no folder", "says that it is missing");
    feed_close(&feed);
}

/* What root makes, as by vaultctl, the children can use, who are another user: that of the folder. */
static void test_made_by_root(void)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    const char *place = path_of("theirs");
    struct stat made;
    feed_t feed;

    if (geteuid() != 0) {
        return; /* no other user can give files away */
    }
    CU_ASSERT_EQUAL_FATAL(mkdir(place, 0755), 0);
    CU_ASSERT_EQUAL_FATAL(chown(place, 1234, 5678), 0);
    feed_fresh(&feed, "theirs/x.db", "");
    check(ask(&feed, NULL, "save", "{\"table\":\"logs\",\"values\":{\"line\":\"x\"}}"), "[{\"id\":4}]", "root",
          "made and written");
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        CU_ASSERT_EQUAL_FATAL(stat(apr_pstrcat(suite_pool, path_of("theirs/x.db"), ends[i], NULL), &made), 0);
        CU_ASSERT_EQUAL(made.st_uid, 1234);
        CU_ASSERT_EQUAL(made.st_gid, 5678);
    }
    feed_close(&feed);
}

/* The sentence on another user's file says which user it has to belong to. */
static void test_readonly(void)
{
    feed_t feed;
    uid_t user = geteuid() == 0 ? 65534 : geteuid();

    feed_fresh(&feed, "readonly.db", "");
    check(ask(&feed, NULL, "save", "{\"table\":\"logs\",\"values\":{\"line\":\"x\"}}"), "[{\"id\":4}]", "mine", "made");
    feed_close(&feed);
    CU_ASSERT_EQUAL_FATAL(chmod(path_of("readonly.db"), 0444), 0);
    CU_ASSERT_EQUAL_FATAL(chmod(folder, 0777), 0);
    CU_ASSERT_EQUAL_FATAL(seteuid(user), 0);
    feed_open(&feed, apr_psprintf(suite_pool, "database=%s", path_of("readonly.db")));
    check(ask(&feed, NULL, "save", "{\"table\":\"logs\",\"values\":{\"line\":\"x\"}}"), "Permission denied; user ",
          "not mine", "says who has to be able to write");
    feed_close(&feed);
    CU_ASSERT_EQUAL_FATAL(seteuid(getuid()), 0);
    CU_ASSERT_EQUAL_FATAL(chmod(path_of("readonly.db"), 0644), 0);
}

/* Two children that start at once make the tables once. */
static void test_init_once(void)
{
    const char *init =
        write_file("once.sql", "CREATE TABLE once(id INTEGER PRIMARY KEY);INSERT INTO once VALUES(NULL);");
    const char *given = apr_psprintf(suite_pool, "database=%s init=%s", path_of("once.db"), init);
    pid_t children[4];
    feed_t feed;

    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            feed_open(&feed, given);
            _exit(strcmp(ask(&feed, NULL, "all", "{\"table\":\"once\"}"), "[{\"id\":1}]") != 0);
        }
    }
    for (int i = 0; i < 4; i++) {
        int status = -1;

        CU_ASSERT_EQUAL(waitpid(children[i], &status, 0), children[i]);
        CU_ASSERT_EQUAL(status, 0);
    }
    init = write_file("bad.sql", "CREATE TABLE a(b);PRAGMA journal_mode;CREATE nonsense");
    feed_open(&feed, apr_psprintf(suite_pool, "database=%s init=%s", path_of("bad.db"), init));
    check(ask(&feed, NULL, "all", "{\"table\":\"a\"}"), "EGENERAL: ", "bad script", "nothing of it stays");
    check(ask(&feed, NULL, "all", "{\"table\":\"a\"}"), "EGENERAL: ", "bad script again", "and it says so each time");
    feed_close(&feed);
}

/* ------------------------------------------------------------ the suite */

static int suite_start(void)
{
    strcpy(folder, "/tmp/vault-database-XXXXXX");
    return mkdtemp(folder) == NULL || apr_pool_create(&suite_pool, NULL) != APR_SUCCESS ? -1 : host_start();
}

static int remove_cb(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    return remove(path);
}

static int suite_stop(void)
{
    host_stop();
    apr_pool_destroy(suite_pool);
    return nftw(folder, remove_cb, 8, FTW_DEPTH | FTW_PHYS);
}

void vault_database_suite(void)
{
    CU_pSuite suite = CU_add_suite("database", suite_start, suite_stop);

    CU_add_test(suite, "a bad parameter stops the start with a sentence", test_parameters);
    CU_add_test(suite, "each method answers as documented", test_calls);
    CU_add_test(suite, "hostile values come back as they went in", test_hostile_values);
    CU_add_test(suite, "a long hostile value does not reach libdbi's parser", test_long_value);
    CU_add_test(suite, "get_new_instances follows a table", test_new_instances);
    CU_add_test(suite, "more rows than one answer holds come in parts", test_parts);
    CU_add_test(suite, "four writers, every row once and in order", test_race);
    CU_add_test(suite, "a locked database answers after the timeout", test_locked);
    CU_add_test(suite, "a database that is gone, and comes back", test_gone);
    CU_add_test(suite, "a database that is replaced between two calls", test_replaced);
    CU_add_test(suite, "a schema that changes is read again", test_schema_changes);
    CU_add_test(suite, "a folder in which no database can be made", test_folder);
    CU_add_test(suite, "what root makes is for others", test_made_by_root);
    CU_add_test(suite, "a file that cannot be written", test_readonly);
    CU_add_test(suite, "the init script runs once", test_init_once);
}
