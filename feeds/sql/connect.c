/* SPDX-License-Identifier: Apache-2.0 */
/* Connecting, and the tables of a database that has none. */
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

/* For how long no call asks a server that could not be reached. */
#define PAUSE apr_time_from_msec(300)

/* Of a file of SQLite that is made here. */
#define FILE_MODE (S_IRUSR | S_IWUSR)

/* ------------------------------------------------------------ one attempt at a time */

/* Is it this thread's turn to try? */
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

/* `why`: "" when it went well. */
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

/* This process's user, as it is called. */
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
        return sql_fail(c, APR_EAGAIN, "somebody else makes the tables of \"%s\"", c->db->database);
    }
    return rv;
}

/* The script of `init`, once in the life of a database: the process that has the lock looks first whether there
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

/* What root makes is for the owner of the folder: else httpd's children, which are not root, could not write to it. */
static void make_file_as_root(const sql_database_t *db)
{
    struct stat folder;
    int file;

    if (stat(db->directory, &folder) != 0) {
        return;
    }
    /* The owner of the folder can put a link there: only what was made here is given away. */
    file = open(db->database, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (file >= 0) {
        (void)!fchown(file, folder.st_uid, folder.st_gid);
        close(file);
    }
}

/* A database that is not there is made for its owner alone, whatever the umask is; one that is there is left as it
 * is. SQLite gives mode and owner of the database to its files -wal, -shm and -journal. An empty file is an empty
 * database.
 *
 * Root is vaultctl, a process of one thread. In httpd's children another thread may connect as soon as the file is
 * there, and would lose its locks if this one closed a descriptor of the file: so there it is made without one. */
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
            /* What a script sets for its session, and the lock, ends with this. */
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
