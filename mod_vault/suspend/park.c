/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting without a thread on the event MPM. park.h says how; the order of things here is that of one wait:
 * process_connection (as it is left) -> suspend_connection -> the wakeup is signalled -> resume_connection ->
 * process_connection (as it is entered).
 */
#include "suspend/park.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ap_mmn.h"
#include "ap_mpm.h"
#include "apr_portable.h"
#include "http_connection.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"
#include "mpm_common.h"

#include "base/now.h"
#include "server/log.h"
#include "server/server.h"
#include "suspend/redispatch.h"
#include "suspend/conn_ctx.h"

APLOG_USE_MODULE(vault);

vault_client_t vault_client_look(request_rec *r, int reads, apr_pool_t *scratch)
{
    conn_rec *c = r->connection;
    apr_bucket_brigade *bb = apr_brigade_create(scratch, c->bucket_alloc);
    vault_client_t client = VAULT_CLIENT_QUIET;
    apr_status_t rv;
    int i;

    if (c->master) {
        return c->aborted ? VAULT_CLIENT_GONE
                          : VAULT_CLIENT_QUIET; /* a stream carries one request, and its end is no hang-up */
    }
    /* With the core's filter the first read of an end of file is "success, nothing", only the second one says so. */
    for (i = 0; i < reads && client == VAULT_CLIENT_QUIET; i++) {
        rv = ap_get_brigade(c->input_filters, bb, AP_MODE_SPECULATIVE, APR_NONBLOCK_READ, 1);
        if (rv == APR_SUCCESS) {
            client = APR_BRIGADE_EMPTY(bb) ? VAULT_CLIENT_QUIET : VAULT_CLIENT_TALKS;
        }
        else if (!APR_STATUS_IS_EAGAIN(rv)) {
            client = VAULT_CLIENT_GONE;
        }
        apr_brigade_cleanup(bb);
    }
    apr_brigade_destroy(bb);
    return client;
}

int vault_client_stirs(const request_rec *r)
{
    struct pollfd client = {.fd = -1, .events = POLLIN | POLLRDHUP};

    if (r->connection->master) {
        return 1;
    }
    apr_os_sock_get(&client.fd, ap_get_conn_socket(r->connection));
    return client.fd < 0 || poll(&client, 1, 0) != 0;
}

#if defined(AP_MPMQ_CAN_WAITIO) && !defined(VAULT_WITHOUT_PARK)

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static vault_conn_ctx_t *idle;

int vault_park_available(void)
{
    int can = 0;

    return ap_mpm_query(AP_MPMQ_CAN_WAITIO, &can) == APR_SUCCESS && can;
}

int vault_park_usable(const request_rec *r)
{
    const conn_rec *c = r->connection;

    return vault_server->can_park && !r->main && !r->prev && !c->master && c->cs && !c->clogging_input_filters &&
           vault_conn_ctx_of(c);
}

static void wait_for_reading(conn_rec *c)
{
    c->cs->state = CONN_STATE_ASYNC_WAITIO;
    c->cs->sense = CONN_SENSE_WANT_READ;
}

/* The request of the connection that is suspended, or NULL. It is always the latest: the connection may have come
 * to wait for it while an earlier one, which is answered, lives on until its last byte has been sent. */
static vault_suspension_t *waiting_on(const vault_conn_ctx_t *v)
{
    return v->suspensions && vault_suspension_is_on(v->suspensions) ? v->suspensions : NULL;
}

static void link_idle(conn_rec *c, vault_conn_ctx_t *v)
{
    pthread_mutex_lock(&idle_lock);
    apr_os_sock_get(&v->idle_fd, ap_get_conn_socket(c));
    v->next = idle;
    v->link = &idle;
    if (idle) {
        idle->link = &v->next;
    }
    idle = v;
    pthread_mutex_unlock(&idle_lock);
}

static void unlink_idle(vault_conn_ctx_t *v)
{
    pthread_mutex_lock(&idle_lock);
    if (v->link) {
        *v->link = v->next;
        if (v->next) {
            v->next->link = v->link;
        }
        v->link = NULL;
    }
    pthread_mutex_unlock(&idle_lock);
}

/* The next poll of a client is still read if it has arrived. */
void vault_park_close_idle(void)
{
    vault_conn_ctx_t *v;

    pthread_mutex_lock(&idle_lock);
    for (v = idle; v; v = v->next) {
        shutdown(v->idle_fd, SHUT_RD);
    }
    pthread_mutex_unlock(&idle_lock);
}

/* The request waits on: everything else wakes it, and its client is checked when its time is up. */
static void report_unwatched(apr_status_t rv)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);

    ap_log_error(APLOG_MARK, level, rv, vault_server->s,
                 VLTNO(00035) "the socket of a client cannot be watched: its hang-up is not noticed before the "
                              "time-out of the poll");
}

/* A stop at once closes the sockets of the workers, and this one perhaps after it was read: EBADF is no trouble then. */
static int is_closed_by_stop(apr_status_t rv)
{
    int state;

    return APR_STATUS_IS_EBADF(rv) && ap_mpm_query(AP_MPMQ_MPM_STATE, &state) == APR_SUCCESS &&
           state == AP_MPMQ_STOPPING;
}

/* The MPM is about to poll: give it the wakeup, and the client's socket to the waker. */
static void suspend_connection(conn_rec *c, request_rec *r)
{
    vault_conn_ctx_t *v = c->master ? NULL : vault_conn_ctx_of(c);
    vault_suspension_t *s;
    apr_socket_t *socket;
    apr_status_t rv;

    if (!v || c->cs->state != CONN_STATE_ASYNC_WAITIO) {
        return;
    }
    s = waiting_on(v);
    if (!s) {
        if (v->stays) {
            link_idle(c, v);
        }
        return;
    }
    socket = ap_get_conn_socket(c);
    apr_os_sock_get(&v->fd, socket);
    if (v->fd < 0) {
        return; /* a stop at once has closed it already */
    }
    vault_waiter_carry(vault_server->waiters, &s->waiter, 1);
    apr_os_sock_put(&socket, &s->waiter.wakeup, c->pool);
    rv = vault_waiters_watch(vault_server->waiters, v->fd, &s->waiter, s->poll != NULL);
    if (rv != APR_SUCCESS && !is_closed_by_stop(rv)) {
        report_unwatched(rv);
    }
}

/* The socket of the connection is itself again. If the MPM has closed what the socket carried, it has closed the
 * wakeup, not the connection. */
static void take_socket_back(conn_rec *c, vault_conn_ctx_t *v, vault_suspension_t *s)
{
    apr_socket_t *socket = ap_get_conn_socket(c);
    apr_os_sock_t carried = -1;

    apr_os_sock_get(&carried, socket);
    if (s && carried != s->waiter.wakeup) {
        close(v->fd);
        vault_waiter_lose_wakeup(vault_server->waiters, &s->waiter);
    }
    else {
        apr_os_sock_put(&socket, &v->fd, c->pool);
    }
    v->fd = -1;
}

/* Before any other hook of the MPM's. Also at Timeout, shutdown and when the connection's pool is destroyed. */
static void resume_connection(conn_rec *c, request_rec *r)
{
    vault_conn_ctx_t *v = c->master ? NULL : vault_conn_ctx_of(c);
    vault_suspension_t *s;

    if (!v) {
        return;
    }
    unlink_idle(v);
    v->stays = 0;
    if (v->fd < 0) {
        return;
    }
    s = waiting_on(v);
    if (vault_server->waiters) {
        vault_waiters_unwatch(vault_server->waiters, v->fd);
    }
    take_socket_back(c, v, s);
    if (s && vault_server->waiters) {
        vault_waiter_carry(vault_server->waiters, &s->waiter, 0);
    }
    if (s && c->cs->state != CONN_STATE_PROCESSING) {
        vault_suspension_end(s, VAULT_ON_END); /* the MPM closes the connection, slowly */
    }
}

/* Answered: wait for the next poll as for I/O, since the MPM closes keep-alive connections whenever its workers
 * are all busy, as they are in a broadcast. Flush first, as the MPM does. */
static void stay(conn_rec *c)
{
    ap_filter_t *f = c->output_filters;

    if (c->cs->state != CONN_STATE_WRITE_COMPLETION || c->keepalive != AP_CONN_KEEPALIVE || c->aborted ||
        vault_waiters_stopping(vault_server->waiters)) {
        return;
    }
    while (f->next) {
        f = f->next;
    }
    if (f->frec->filter_func.out_func(f, NULL) == APR_SUCCESS && !c->data_in_output_filters &&
        !c->data_in_input_filters) {
        vault_conn_ctx_of(c)->stays = 1;
        wait_for_reading(c);
    }
}

/* The wakeup was signalled, or the client did something: the request goes on in this worker, and ends as the core
 * ends one. */
static void go_on(conn_rec *c, vault_suspension_t *s)
{
    request_rec *r = s->r;
    int status;

    c->cs->state = CONN_STATE_HANDLER;
    if (vault_redispatch(s, &status) == VAULT_REDISPATCH_ANSWERED) {
        ap_die(status, r);
        ap_process_request_after_handler(r);
        stay(c);
    }
}

/* The other hooks have run, and with them a request that is suspended. */
static void park(conn_rec *c, vault_suspension_t *s)
{
    if (c->cs->state != CONN_STATE_SUSPENDED) {
        vault_suspension_revoke(s);
        return;
    }
    vault_suspension_park(s);
}

/* Let the MPM have the connection: it polls for the wakeup (suspend_connection()). */
static void leave_to_mpm(conn_rec *c, const vault_conn_ctx_t *v)
{
    vault_suspension_t *s = waiting_on(v);

    if (s && c->aborted) {
        vault_suspension_end(s, VAULT_ON_END); /* the MPM closes the connection without coming by here again */
    }
    else if (s && (c->cs->state == CONN_STATE_SUSPENDED || c->cs->state == CONN_STATE_HANDLER)) {
        wait_for_reading(c);
    }
}

static int process_connection(conn_rec *c)
{
    vault_suspension_t *s;
    vault_conn_ctx_t *v;
    int rc = OK;

    if (c->master || !c->cs || !vault_server->can_park) {
        return DECLINED;
    }
    v = vault_conn_ctx_make(c);
    if (v->inside) {
        return DECLINED;
    }
    if ((s = waiting_on(v))) {
        go_on(c, s);
    }
    else {
        v->inside = 1;
        rc = ap_run_process_connection(c);
        v->inside = 0;
        if ((s = waiting_on(v))) {
            park(c, s);
        }
    }
    leave_to_mpm(c, v);
    return rc;
}

void vault_park_hooks(void)
{
    ap_hook_process_connection(process_connection, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_suspend_connection(suspend_connection, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_resume_connection(resume_connection, NULL, NULL, APR_HOOK_REALLY_FIRST);
}

#else /* an httpd whose MPM cannot wait for us: polls wait in threads */

int vault_park_available(void)
{
    return 0;
}

int vault_park_usable(const request_rec *r)
{
    return 0;
}

void vault_park_close_idle(void)
{
}

void vault_park_hooks(void)
{
}

#endif
