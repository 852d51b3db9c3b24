/* SPDX-License-Identifier: Apache-2.0 */
/* Reads bodies without blocking first, and then within limits of threads and time. */
#include "request/body.h"

#include <string.h>

#include "ap_mpm.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "util_filter.h"

#include "base/now.h"
#include "request/client.h"
#include "server/log.h"
#include "server/server.h"
#include "server/thread_quota.h"
#include "shm/client_table.h"

APLOG_USE_MODULE(vault);

/* The initial capacity for a body: what one read returns. */
#define ROOM HUGE_STRING_LEN
#define TIME_MAX apr_time_from_sec(10)
#define TIME_PER_BYTE apr_time_from_msec(1)
#define RETRY_AFTER "2"
/* A client may always have this many. */
#define CLIENT_LEAST 2

typedef struct body_t {
    request_rec *r;
    char *text; /* `room` bytes and one for the NUL; NULL: the body is discarded */
    apr_size_t length, room, max;
    apr_pool_t *pool;
    int waits;                   /* is this thread counted in `waiting` */
    vault_client_row_t client;   /* the row where its client is counted; 0: none */
    apr_time_t begin;            /* when it began to wait */
    apr_socket_t *socket;        /* NULL: the connection is shared with other requests (HTTP/2) */
    apr_interval_time_t timeout; /* the timeout that the socket had before */
} body_t;

static unsigned waiting; /* atomic: threads of this child that wait for a body */

/* ------------------------------------------------------------------ the limits */

/* Half of the threads of a child. Where a child is one process with one thread, the number of processes is the
 * limit. */
static unsigned most_waiting(void)
{
    int threads = 1;

    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    return threads > 1 ? (unsigned)threads / 2 : 1;
}

/* One client may have half of that, over all children together; with one thread in each child (prefork), a
 * quarter of the children. */
static unsigned most_of_client(unsigned most)
{
    int children = 0;

    if (vault_thread_quota_is_shared()) {
        ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &children);
        most = (unsigned)children / 2;
    }
    return most > CLIENT_LEAST * 2 ? most / 2 : CLIENT_LEAST;
}

/* A child without a slot cannot count for a client, so only its own limit applies there. */
static int client_may(body_t *body, unsigned most)
{
    vault_client_claim_t claim = {.id = vault_client_of(body->r),
                                  .kind = VAULT_CLIENT_BODIES,
                                  .slot = vault_server->slot,
                                  .amount = 1,
                                  .most = most_of_client(most)};

    return !vault_server->slot || vault_clients_take(vault_server->clients, &body->client, &claim) == APR_SUCCESS;
}

/* @return 1: this thread is counted in `waiting`; 0: the client or the child is at its limit */
static int enter(body_t *body, unsigned most)
{
    if (!client_may(body, most)) {
        return 0;
    }
    if (__atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED) < most) {
        return 1;
    }
    __atomic_fetch_sub(&waiting, 1, __ATOMIC_RELAXED);
    vault_clients_give(vault_server->clients, body->client, VAULT_CLIENT_BODIES, vault_server->slot, 1);
    return 0;
}

/* @return APR_SUCCESS: this thread may wait; call stop_waiting() afterwards. APR_EAGAIN: too many threads wait */
static apr_status_t begin_waiting(body_t *body)
{
    static apr_time_t said;
    unsigned most = most_waiting();
    int level;

    body->waits = enter(body, most);
    if (body->waits) {
        body->begin = vault_now();
        body->socket = body->r->connection->master ? NULL : ap_get_conn_socket(body->r->connection);
        return body->socket ? apr_socket_timeout_get(body->socket, &body->timeout) : APR_SUCCESS;
    }
    level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);
    ap_log_rerror(
        APLOG_MARK, level, 0, body->r,
        VLTNO(00321) "%u of at most %u threads of this child wait for slow request bodies, and this client may not "
                     "occupy more: a request is refused; RequestReadTimeout of mod_reqtimeout limits the time",
        __atomic_load_n(&waiting, __ATOMIC_RELAXED), most);
    return APR_EAGAIN;
}

/* Called before each wait. */
static apr_status_t bound_wait(const body_t *body)
{
    apr_interval_time_t left = body->begin + TIME_MAX + (apr_interval_time_t)body->length * TIME_PER_BYTE - vault_now();

    if (left <= 0) {
        return APR_TIMEUP;
    }
    return body->socket
               ? apr_socket_timeout_set(body->socket, body->timeout >= 0 && body->timeout < left ? body->timeout : left)
               : APR_SUCCESS;
}

static void stop_waiting(body_t *body)
{
    if (body->waits) {
        __atomic_fetch_sub(&waiting, 1, __ATOMIC_RELAXED);
        vault_clients_give(vault_server->clients, body->client, VAULT_CLIENT_BODIES, vault_server->slot, 1);
        if (body->socket) {
            apr_socket_timeout_set(body->socket, body->timeout);
        }
    }
}

/* -------------------------------------------------------------------- reading */

/* The buffer grows with the body, so that a large limit costs nothing where bodies are small. */
static apr_status_t append(body_t *body, const char *data, apr_size_t n)
{
    if (!body->text) {
        body->length += n;
        return APR_SUCCESS;
    }
    if (n > body->max - body->length) {
        return APR_ENOSPC;
    }
    if (n > body->room - body->length) {
        char *text;
        while (n > body->room - body->length) {
            body->room = body->room > body->max / 2 ? body->max : 2 * body->room;
        }
        text = apr_palloc(body->pool, body->room + 1);
        memcpy(text, body->text, body->length);
        body->text = text;
    }
    memcpy(body->text + body->length, data, n);
    body->length += n;
    return APR_SUCCESS;
}

/* Appends what has arrived. @return APR_EOF: the body is complete; APR_EAGAIN: no more data is available now */
static apr_status_t read_part(body_t *body, apr_bucket_brigade *bb)
{
    apr_read_type_e block = body->waits ? APR_BLOCK_READ : APR_NONBLOCK_READ;
    apr_status_t rv = ap_get_brigade(body->r->input_filters, bb, AP_MODE_READBYTES, block, HUGE_STRING_LEN);
    apr_bucket *b;

    if (rv == APR_SUCCESS && APR_BRIGADE_EMPTY(bb)) {
        return body->waits ? APR_EGENERAL : APR_EAGAIN;
    }
    for (b = APR_BRIGADE_FIRST(bb); rv == APR_SUCCESS && b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        const char *data;
        apr_size_t n;
        if (APR_BUCKET_IS_EOS(b)) {
            return APR_EOF;
        }
        /* A filter has read the data from the connection already, or is about to. */
        if (APR_BUCKET_IS_METADATA(b) || (rv = apr_bucket_read(b, &data, &n, APR_BLOCK_READ)) != APR_SUCCESS) {
            continue;
        }
        rv = append(body, data, n);
    }
    return rv;
}

/* @return APR_EOF: the body is complete */
static apr_status_t read_all(body_t *body)
{
    apr_bucket_brigade *bb = apr_brigade_create(body->pool, body->r->connection->bucket_alloc);
    apr_status_t rv;

    do {
        rv = read_part(body, bb);
        apr_brigade_cleanup(bb);
        if (APR_STATUS_IS_EAGAIN(rv) && !body->waits) {
            rv = begin_waiting(body);
        }
        if (rv == APR_SUCCESS && body->waits) {
            rv = bound_wait(body);
        }
    } while (rv == APR_SUCCESS);
    stop_waiting(body);
    apr_brigade_destroy(bb);
    return rv;
}

int vault_body_read(request_rec *r, char **text, apr_size_t max, apr_pool_t *pool)
{
    body_t body = {.r = r, .room = max < ROOM ? max : ROOM, .max = max, .pool = pool};
    apr_status_t rv;

    body.text = apr_palloc(pool, body.room + 1);
    rv = read_all(&body);
    *text = body.text;
    body.text[body.length] = '\0';
    if (rv == APR_ENOSPC) {
        return HTTP_REQUEST_ENTITY_TOO_LARGE;
    }
    if (APR_STATUS_IS_EAGAIN(rv)) {
        apr_table_setn(r->err_headers_out, "Retry-After", RETRY_AFTER);
        return HTTP_SERVICE_UNAVAILABLE;
    }
    if (rv != APR_EOF) {
        return APR_STATUS_IS_TIMEUP(rv) ? HTTP_REQUEST_TIME_OUT : ap_map_http_request_error(rv, HTTP_BAD_REQUEST);
    }
    return strlen(*text) == body.length ? OK : HTTP_BAD_REQUEST;
}

int vault_body_discard(request_rec *r)
{
    body_t body = {.r = r, .pool = r->pool};
    apr_status_t rv;

    if (r->main || r->connection->keepalive == AP_CONN_CLOSE || ap_status_drops_connection(r->status)) {
        return OK;
    }
    rv = read_all(&body);
    if (APR_STATUS_IS_EAGAIN(rv) || APR_STATUS_IS_TIMEUP(rv)) {
        r->connection->keepalive = AP_CONN_CLOSE;
        return OK;
    }
    return rv == APR_EOF ? OK : ap_map_http_request_error(rv, HTTP_BAD_REQUEST);
}
