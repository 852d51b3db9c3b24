/* SPDX-License-Identifier: Apache-2.0 */
/* Connects, and creates the tables of a database that has none. */
#include "sql/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apr_strings.h"
#include "apr_user.h"

#include "base/now.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/script.h"

/* After a failed attempt to connect, calls fail at once for this time. */
#define PAUSE apr_time_from_msec(300)

/* Mode of an SQLite file that is created here. */
#define FILE_MODE (S_IRUSR | S_IWUSR)

/* ------------------------------------------------------------ one attempt at a time */

/* Should this thread try to connect? */
static int may_try(sql_call_t *c, const char **why)
{
    sql_database_t *db = c->db;
    apr_time_t since;
    int may;

    apr_thread_mutex_lock(db->lock);
    since = vault_now() - db->failed_at;
    may = db->why[0] == '\0' || (!db->trying && (since < 0 || since >= PAUSE));
    db->trying |= may && db->why[0] != '\0';
    *why = apr_pstrdup(c->pool, db->why);
    apr_thread_mutex_unlock(db->lock);
    return may;
}

/* @param why  "": it succeeded */
static void tried(sql_database_t *db, const char *why)
{
    int news;

    apr_thread_mutex_lock(db->lock);
    news = (db->why[0] == '\0') != (why[0] == '\0');
    apr_cpystrn(db->why, why, sizeof(db->why));
    db->failed_at = vault_now();
    db->trying = 0;
    apr_thread_mutex_unlock(db->lock);
    if (news && why[0] == '\0') {
        db->host->log(6, "the database \"%s\" can be reached again", db->database);
    }
}

static apr_status_t unreachable(sql_call_t *c, const char *why)
{
    return sql_fail(c, APR_EAGAIN, "the database \"%s\" cannot be opened: %s", c->db->database, why);
}

/* The name of this process's user. */
static const char *user_name(apr_pool_t *pool)
{
    char *name;

    return apr_uid_name_get(&name, geteuid(), pool) == APR_SUCCESS ? name : apr_psprintf(pool, "%d", (int)geteuid());
}

const char *sql_file_why(const sql_call_t *c, const char *why)
{
    const char *path = c->db->database;
    const char *slash = strrchr(path, '/');
    const char *folder = slash == NULL || slash == path ? "/" : apr_pstrmemdup(c->pool, path, slash - path);
    char reason[120];

    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 &&
        (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 || errno == ENOENT)) {
        return why;
    }
    apr_strerror(errno, reason, sizeof(reason));
    return apr_psprintf(c->pool, "%s; user %s must be able to write to it and to its folder", reason,
                        user_name(c->pool));
}

/* ------------------------------------------------------------ init */

static apr_status_t run_script(sql_call_t *c)
{
    sql_database_t *db = c->db;
    apr_status_t rv = APR_SUCCESS;

    if (!db->driver->one_by_one) {
        rv = sql_conn_query(c, apr_pstrcat(c->pool, db->init_sql, db->driver->init_end, NULL), NULL);
    }
    else {
        const char *rest = db->init_sql;
        const char *statement;

        while (rv == APR_SUCCESS && (statement = sql_script_next(&rest, c->pool)) != NULL) {
            rv = sql_conn_query(c, statement, NULL);
        }
    }
    db->host->log(rv == APR_SUCCESS ? 6 : 3, "the tables of \"%s\" %s by init=%s", db->database,
                  rv == APR_SUCCESS ? "were made" : "could not be made", db->init_path);
    return rv;
}

static apr_status_t lock_for_init(sql_call_t *c)
{
    const char *locked;
    apr_status_t rv;

    if (c->db->driver->init_lock == NULL) {
        return APR_SUCCESS;
    }
    rv = sql_conn_cell(c, c->db->driver->init_lock, &locked);
    if (rv == APR_SUCCESS && (locked == NULL || strcmp(locked, "1") != 0)) {
        return sql_fail(c, APR_EAGAIN, "another process creates the tables of \"%s\"", c->db->database);
    }
    return rv;
}

/* Runs the script of `init`, once in the life of a database: the process that has the lock first checks whether there
 * is a table. */
static apr_status_t initialise(sql_call_t *c)
{
    sql_database_t *db = c->db;
    const char *table;
    apr_status_t rv;

    rv = sql_conn_begin_write(c);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = lock_for_init(c);
    if (rv == APR_SUCCESS) {
        rv = sql_conn_cell(c, db->driver->any_table, &table);
    }
    if (rv == APR_SUCCESS && table == NULL) {
        rv = run_script(c);
    }
    return sql_conn_end(c, rv);
}

/* ------------------------------------------------------------ connecting */

/* A file that root creates gets the owner of its folder. Otherwise httpd's children, which are not root, could not
 * write to it. */
static void make_file_as_root(const sql_database_t *db)
{
    struct stat folder;
    int file;

    if (stat(db->directory, &folder) != 0) {
        return;
    }
    /* The owner of the folder could put a link here. So only a file that was created here changes its owner. */
    file = open(db->database, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (file >= 0) {
        (void)!fchown(file, folder.st_uid, folder.st_gid);
        close(file);
    }
}

/* A database that does not exist is created for its owner only, whatever the umask; an existing one is left unchanged.
 * SQLite gives the mode and the owner of the database to its -wal, -shm and -journal files. An empty file is an empty
 * database.
 *
 * Only vaultctl, a process with one thread, runs as root. In a child of httpd another thread may connect as soon as the
 * file exists, and would lose its locks if this thread closed a descriptor of the file. So there the file is created
 * without a descriptor. */
static void make_file(const sql_database_t *db)
{
    if (geteuid() == 0) {
        make_file_as_root(db);
    }
    else {
        (void)!mknod(db->database, S_IFREG | FILE_MODE, 0);
    }
}

static apr_status_t open_now(sql_call_t *c)
{
    sql_database_t *db = c->db;
    sql_conn_t *conn = c->conn;

    apr_thread_mutex_lock(db->lock);
    conn->dbi = dbi_conn_new_r(db->driver->name, db->dbi);
    apr_thread_mutex_unlock(db->lock);
    if (conn->dbi == NULL) {
        return sql_fail(c, APR_EAGAIN, "libdbi gives no connection for %s", db->driver->name);
    }
    conn->is_new = 1;
    db->driver->set_options(db, conn->dbi);
    if (!db->driver->is_server) {
        make_file(db);
    }
    if (dbi_conn_connect(conn->dbi) < 0) {
        const char *why = sql_conn_message(c);

        sql_conn_close(conn);
        if (db->driver->is_server) {
            tried(db, why);
            return unreachable(c, why);
        }
        return unreachable(c, sql_file_why(c, why));
    }
    if (db->driver->is_server) {
        sql_guarded_open(&conn->guarded, dbi_conn_get_socket(conn->dbi));
        tried(db, "");
    }
    return APR_SUCCESS;
}

static apr_status_t open_and_prepare(sql_call_t *c)
{
    apr_status_t rv = open_now(c);

    return rv == APR_SUCCESS ? c->db->driver->prepare(c) : rv;
}

apr_status_t sql_connect(sql_call_t *c)
{
    sql_database_t *db = c->db;
    const char *table;
    const char *why;
    apr_status_t rv;

    if (!may_try(c, &why)) {
        return unreachable(c, why);
    }
    rv = open_and_prepare(c);
    if (rv == APR_SUCCESS && db->init_sql != NULL) {
        rv = sql_conn_cell(c, db->driver->any_table, &table);
        if (rv == APR_SUCCESS && table == NULL) {
            rv = initialise(c);
            /* This ends the session settings of the script, and the lock. */
            sql_conn_close(c->conn);
            rv = rv == APR_SUCCESS ? open_and_prepare(c) : rv;
        }
    }
    if (rv == APR_SUCCESS && db->connected != NULL) {
        rv = db->connected(c);
    }
    if (c->conn->dbi != NULL) {
        c->conn->broken = rv != APR_SUCCESS;
    }
    return rv;
}
