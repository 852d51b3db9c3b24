/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of connections to the database. */
#include "sql/connection.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "sql/connect.h"
#include "sql/fair_semaphore.h"

/* ------------------------------------------------------------ the places */

apr_status_t sql_pool_of_its_own(apr_pool_t **pool)
{
    apr_allocator_t *allocator;
    apr_status_t rv = apr_allocator_create(&allocator);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = apr_pool_create_ex(pool, NULL, NULL, allocator);
    if (rv != APR_SUCCESS) {
        apr_allocator_destroy(allocator);
        return rv;
    }
    apr_allocator_owner_set(allocator, *pool);
    return APR_SUCCESS;
}

apr_status_t sql_conn_make(sql_conn_t **conn, sql_database_t *db)
{
    apr_pool_t *pool;
    apr_status_t rv = sql_pool_of_its_own(&pool);

    *conn = rv == APR_SUCCESS ? calloc(1, sizeof(**conn)) : NULL;
    if (*conn == NULL) {
        if (rv == APR_SUCCESS) {
            apr_pool_destroy(pool);
        }
        return APR_ENOMEM;
    }
    (*conn)->pool = pool;
    (*conn)->db = db;
    (*conn)->guarded.descriptor = -1;
    return APR_SUCCESS;
}

static apr_status_t place_make_cb(void **resource, void *params, apr_pool_t *pool)
{
    sql_conn_t *conn;
    apr_status_t rv = sql_conn_make(&conn, params);

    *resource = conn;
    return rv;
}

void sql_conn_close(sql_conn_t *conn)
{
    if (conn->dbi != NULL) {
        if (conn->db->driver->forget != NULL) {
            conn->db->driver->forget(conn);
        }
        apr_thread_mutex_lock(conn->db->lock);
        dbi_conn_close(conn->dbi);
        apr_thread_mutex_unlock(conn->db->lock);
    }
    sql_guarded_close(&conn->guarded);
    conn->dbi = NULL;
    conn->broken = 0;
}

static void forget(sql_conn_t *conn)
{
    sql_conn_close(conn);
    conn->tables = NULL;
    apr_pool_clear(conn->pool);
}

void sql_conn_destroy(sql_conn_t *conn)
{
    sql_conn_close(conn);
    apr_pool_destroy(conn->pool);
    free(conn);
}

static apr_status_t place_destroy_cb(void *resource, void *params, apr_pool_t *pool)
{
    sql_conn_destroy(resource);
    return APR_SUCCESS;
}

static apr_status_t guard_stop_cb(void *data)
{
    sql_database_t *db = data;

    if (db->guard != NULL) {
        sql_guard_stop(db->guard);
        db->guard = NULL;
    }
    return APR_SUCCESS;
}

/* Each libdbi instance ends the client libraries when it is shut down, MariaDB's for the whole process. Another feed
 * that is connecting meanwhile would crash. So an instance lives as long as the pool of the child, whose pre-cleanups
 * stop the feeds. */
static apr_status_t dbi_shutdown_cb(void *instance)
{
    dbi_shutdown_r(instance);
    return APR_SUCCESS;
}

const char *sql_pool_start(sql_database_t *db, apr_pool_t *pchild)
{
    const char *why;
    dbi_driver driver;
    apr_status_t rv = apr_pool_create(&db->pool, pchild);

    if (rv != APR_SUCCESS) {
        return "out of memory";
    }
    dbi_initialize_r(NULL, &db->dbi);
    if (db->dbi == NULL) {
        return "libdbi cannot start";
    }
    apr_pool_cleanup_register(pchild, db->dbi, dbi_shutdown_cb, apr_pool_cleanup_null);
    dbi_set_verbosity_r(0, db->dbi);
    driver = dbi_driver_open_r(db->driver->name, db->dbi);
    if (driver == NULL) {
        return apr_psprintf(db->pool, "libdbi's module for %s cannot be loaded (Debian: %s)", db->driver->name,
                            db->driver->package);
    }
    why = db->driver->start(driver);
    if (why != NULL) {
        return why;
    }
    if (db->driver->is_server && sql_guard_start(&db->guard, db->pool) != APR_SUCCESS) {
        return "no thread can be made";
    }
    /* Registered before the cleanup of the list, so that it runs after that one: the connections need the guard. */
    apr_pool_cleanup_register(db->pool, db, guard_stop_cb, apr_pool_cleanup_null);
    rv = apr_thread_mutex_create(&db->lock, APR_THREAD_MUTEX_DEFAULT, db->pool);
    if (rv == APR_SUCCESS) {
        rv = sql_semaphore_create(&db->semaphore, (unsigned)db->connections, db->pool);
    }
    if (rv == APR_SUCCESS) {
        rv = apr_reslist_create(&db->free_connections, 0, db->connections, db->connections, 0, place_make_cb,
                                place_destroy_cb, db, db->pool);
    }
    if (rv != APR_SUCCESS) {
        return "the list of connections cannot be made";
    }
    return NULL;
}

void sql_pool_stop(sql_database_t *db)
{
    if (db->pool != NULL) {
        apr_pool_destroy(db->pool);
        db->pool = NULL;
        db->dbi = NULL;
        db->free_connections = NULL;
    }
}

/* ------------------------------------------------------------ taken, given back */

static apr_status_t absent(sql_call_t *c, apr_status_t why)
{
    char reason[120];

    if (APR_STATUS_IS_ENOENT(why)) {
        return sql_fail(c, APR_EAGAIN, "the database \"%s\" does not exist", c->db->database);
    }
    apr_strerror(why, reason, sizeof(reason));
    return sql_fail(c, APR_EAGAIN, "the database \"%s\" cannot be reached: %s", c->db->database, reason);
}

/* Has the server closed the connection? To a connection without a running statement it sends only that. */
static int is_dead(const sql_call_t *c)
{
    struct pollfd descriptor = {.fd = dbi_conn_get_socket(c->conn->dbi), .events = POLLIN};

    /* The connection of a background thread may receive notifications, so readable data does not mean that it is
     * closed. */
    return c->own == NULL && descriptor.fd >= 0 && poll(&descriptor, 1, 0) != 0;
}

/* The file may exist or not, and it may have been replaced. */
static apr_status_t make_file_ready(sql_call_t *c)
{
    sql_conn_t *conn = c->conn;
    sql_identity_t now = {0, 0};
    apr_status_t rv = c->db->driver->identify(c->db, &now);

    if (rv != APR_SUCCESS) {
        forget(conn);
        if (!APR_STATUS_IS_ENOENT(rv) || (c->db->init_sql == NULL && !c->db->makes_file)) {
            return absent(c, rv);
        }
        rv = sql_connect(c);
        return rv != APR_SUCCESS ? rv : c->db->driver->identify(c->db, &conn->identity);
    }
    if (conn->dbi != NULL && (now.device != conn->identity.device || now.inode != conn->identity.inode)) {
        c->db->host->log(6, "the database \"%s\" was replaced: connecting again", c->db->database);
        forget(conn);
    }
    conn->identity = now;
    return conn->dbi != NULL ? APR_SUCCESS : sql_connect(c);
}

static apr_status_t make_server_ready(sql_call_t *c)
{
    sql_conn_t *conn = c->conn;

    if (conn->dbi != NULL && is_dead(c)) {
        sql_conn_close(conn);
    }
    return conn->dbi != NULL ? APR_SUCCESS : sql_connect(c);
}

/* All calls that belong to no request count as calls of one client. */
static apr_uint64_t client_of(const sql_call_t *c)
{
    const vault_host_t *host = c->db->host;

    return c->call != NULL && host->size > offsetof(vault_host_t, client) && host->client != NULL
               ? host->client(c->call)
               : 0;
}

static apr_status_t acquire(sql_call_t *c)
{
    sql_database_t *db = c->db;
    void *resource;
    apr_status_t rv;

    if (db->free_connections == NULL) {
        return sql_fail(c, APR_EAGAIN, "the feed was not started in this child");
    }
    c->client = client_of(c);
    rv = sql_semaphore_acquire(db->semaphore, c->client, 0);
    if (rv != APR_SUCCESS) {
        db->host->log(7, "a call waits for one of %d connections to \"%s\"", db->connections, db->database);
        rv = sql_semaphore_acquire(db->semaphore, c->client, apr_time_from_sec(db->timeout));
    }
    if (rv != APR_SUCCESS) {
        return sql_fail(c, APR_EAGAIN, "all %d connections to \"%s\" were busy for %d s (parameter connections)",
                        db->connections, db->database, db->timeout);
    }
    rv = apr_reslist_acquire(db->free_connections, &resource);
    if (rv != APR_SUCCESS) {
        sql_semaphore_release(db->semaphore, c->client);
        return sql_fail(c, APR_EAGAIN, "no connection to \"%s\" is made: out of memory", db->database);
    }
    c->conn = resource;
    return APR_SUCCESS;
}

apr_status_t sql_conn_take(sql_call_t *c)
{
    apr_status_t rv;

    c->failed = 0;
    c->statements = 0;
    c->catalogue_is_fresh = 0;
    c->assumes = 0;
    if (c->own != NULL) {
        c->conn = c->own;
    }
    else {
        rv = acquire(c);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    rv = c->db->driver->is_server ? make_server_ready(c) : make_file_ready(c);
    if (rv != APR_SUCCESS) {
        sql_conn_give_back(c);
    }
    return rv;
}

void sql_conn_give_back(sql_call_t *c)
{
    if (c->conn == NULL) {
        return;
    }
    if (c->conn->broken) {
        sql_conn_close(c->conn);
    }
    c->conn->is_new = 0;
    if (c->own == NULL) {
        apr_reslist_release(c->db->free_connections, c->conn);
        sql_semaphore_release(c->db->semaphore, c->client);
    }
    else {
        if (!c->failed) {
            c->said[0] = '\0';
        }
        apr_pool_clear(c->pool);
    }
    c->conn = NULL;
    c->table = NULL;
}
