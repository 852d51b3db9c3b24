/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events without a thread that waits for the client.
 *
 * With a flush bucket, httpd's core would block until the socket has taken everything. So this file passes one
 * piece at a time without a flush bucket. The core keeps it, and is then asked to write what the socket takes
 * without blocking, as the MPM does with a complete response. A metadata bucket follows each piece, since
 * mod_ssl holds back small pieces until one arrives.
 *
 * A stream of HTTP/2 has no socket of its own. Its output goes to a buffer of mod_http2, from which the
 * connection's thread sends as much as the client's flow-control window allows. A thread that writes to a full
 * buffer blocks there for up to H2StreamTimeout or Timeout. So this file passes at most one parcel at a time:
 * an empty buffer takes a bucket of any length without blocking. The parcel has been taken when its bucket is
 * destroyed. That happens in this thread, when it passes something the next time, even an empty brigade.
 */
#include "poll/stream.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "http_protocol.h"
#include "util_filter.h"

#include "base/text.h"
#include "poll/unsent.h"
#include "request/reply.h"

/* Less than FlushMaxThreshold, above which the core blocks until data has been written. */
#define PIECE (16 * 1024)
/* HTTP/2: a client that takes less than this within the waiting time of a poll is disconnected. */
#define PARCEL (64 * 1024)
/* For clients that reconnect by themselves: the delay before they do, in ms. */
#define BEGINNING "retry: 1000\n: live\n\n"
#define BEAT ":\n\n"

/* Data that was passed to mod_http2. Its bucket may outlive the stream. */
typedef struct parcel_t {
    unsigned holders; /* atomic; the stream and the bucket */
    char bytes[];
} parcel_t;

struct vault_stream_t {
    request_rec *r;
    apr_bucket_brigade *bb;
    char *text; /* text.h */
    apr_size_t length, room;
    apr_size_t taken;      /* bytes of `length` that the filters have taken */
    parcel_t *parcel;      /* HTTP/2: the last parcel, until it is known to be taken */
    vault_unsent_t unsent; /* the part of the text that is counted as unsent */
};

/* ------------------------------------------------------------------ the bucket */

static apr_status_t mark_read(apr_bucket *b, const char **text, apr_size_t *length, apr_read_type_e block)
{
    *text = NULL;
    *length = 0;
    return APR_SUCCESS;
}

static const apr_bucket_type_t mark_type = {
    "VAULT",
    5,
    APR_BUCKET_METADATA,
    apr_bucket_destroy_noop,
    mark_read,
    apr_bucket_setaside_noop,
    apr_bucket_split_notimpl,
    apr_bucket_simple_copy,
};

static apr_bucket *create_mark(apr_bucket_alloc_t *ba)
{
    apr_bucket *b = apr_bucket_alloc(sizeof(*b), ba);

    APR_BUCKET_INIT(b);
    b->free = apr_bucket_free;
    b->list = ba;
    b->type = &mark_type;
    b->length = 0;
    b->start = 0;
    b->data = NULL;
    return b;
}

/* ------------------------------------------------------------------- the text */

static int make_room(vault_stream_t *s, apr_size_t length)
{
    char *larger = s->length + length > s->room ? vault_text_resize(s->text, s->length + length) : s->text;

    if (!larger) {
        return 0;
    }
    if (s->length + length > s->room) {
        s->room = s->length + length;
    }
    s->text = larger;
    return 1;
}

static int add(vault_stream_t *s, const char *text, apr_size_t length)
{
    if (!make_room(s, length)) {
        return 0;
    }
    memcpy(s->text + s->length, text, length);
    s->length += length;
    return 1;
}

static void drop_text(vault_stream_t *s)
{
    vault_text_free(s->text);
    s->text = NULL;
    s->length = s->room = s->taken = 0;
    vault_unsent_give(&s->unsent);
}

static void let_go(parcel_t *parcel)
{
    if (!__atomic_sub_fetch(&parcel->holders, 1, __ATOMIC_ACQ_REL)) {
        free(parcel);
    }
}

static apr_status_t request_goes(void *baton)
{
    vault_stream_t *s = baton;

    drop_text(s);
    if (s->parcel) {
        let_go(s->parcel);
        s->parcel = NULL;
    }
    return APR_SUCCESS;
}

vault_stream_t *vault_stream_begin(request_rec *r)
{
    vault_stream_t *s = apr_pcalloc(r->pool, sizeof(*s));

    s->r = r;
    s->bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    apr_pool_cleanup_register(r->pool, s, request_goes, apr_pool_cleanup_null);
    vault_reply_no_cache(r);
    apr_table_setn(r->headers_out, "X-Accel-Buffering", "no");
    apr_table_setn(r->subprocess_env, "no-gzip", "1");
    apr_table_setn(r->subprocess_env, "no-brotli", "1");
    ap_set_content_type(r, "text/event-stream");
    add(s, BEGINNING, strlen(BEGINNING));
    return s;
}

int vault_stream_event(vault_stream_t *s, const char *id, const char *data)
{
    apr_size_t before = s->length;
    int added = data && make_room(s, (id ? strlen(id) : 0) + strlen(data) + sizeof("id: \ndata: \n\n")) &&
                (!id || (add(s, "id: ", 4) && add(s, id, strlen(id)) && add(s, "\n", 1))) && add(s, "data: ", 6) &&
                add(s, data, strlen(data)) && add(s, "\n\n", 2);

    if (!added) {
        s->length = before;
    }
    return added;
}

int vault_stream_text(vault_stream_t *s, const char *text)
{
    return add(s, text, strlen(text));
}

void vault_stream_beat(vault_stream_t *s)
{
    add(s, BEAT, strlen(BEAT));
}

/* -------------------------------------------------------------------- sending */

static apr_status_t pass(vault_stream_t *s, apr_bucket *b)
{
    apr_status_t rv;

    APR_BRIGADE_INSERT_TAIL(s->bb, b);
    rv = ap_pass_brigade(s->r->output_filters, s->bb);
    apr_brigade_cleanup(s->bb);
    return s->r->connection->aborted ? APR_ECONNABORTED : rv;
}

static ap_filter_t *last_filter(const conn_rec *c)
{
    ap_filter_t *f = c->output_filters;

    while (f->next) {
        f = f->next;
    }
    return f;
}

/* --------------------------------------------------------------- to a socket */

static apr_status_t pass_piece(vault_stream_t *s)
{
    apr_bucket_alloc_t *ba = s->r->connection->bucket_alloc;
    apr_size_t length = s->length - s->taken < PIECE ? s->length - s->taken : PIECE;
    apr_status_t rv = pass(s, apr_bucket_heap_create(s->text + s->taken, length, NULL, ba));

    s->taken += length;
    return rv == APR_SUCCESS ? pass(s, create_mark(ba)) : rv;
}

/* Asks the core to write the data that it keeps, as the MPM does. */
static apr_status_t write_kept(conn_rec *c)
{
    ap_filter_t *f = last_filter(c);
    apr_status_t rv = f->frec->filter_func.out_func(f, NULL);

    if (rv != APR_SUCCESS || c->aborted) {
        return APR_ECONNABORTED;
    }
    return c->data_in_output_filters ? APR_EAGAIN : APR_SUCCESS;
}

static apr_status_t push_to_socket(vault_stream_t *s)
{
    apr_status_t rv = write_kept(s->r->connection);

    while (rv == APR_SUCCESS && s->taken < s->length) {
        rv = pass_piece(s);
        if (rv == APR_SUCCESS) {
            rv = write_kept(s->r->connection);
        }
    }
    return rv;
}

/* -------------------------------------------------------------- to mod_http2 */

/* Runs in this thread, or in the connection's thread after the request has ended. */
static void bucket_goes(void *bytes)
{
    let_go((parcel_t *)((char *)bytes - offsetof(parcel_t, bytes)));
}

static apr_status_t pass_parcel(vault_stream_t *s)
{
    apr_bucket_alloc_t *ba = s->r->connection->bucket_alloc;
    apr_size_t length = s->length - s->taken < PARCEL ? s->length - s->taken : PARCEL;
    parcel_t *parcel = malloc(sizeof(*parcel) + length);
    apr_status_t rv;

    if (!parcel) {
        return APR_ENOMEM;
    }
    memcpy(parcel->bytes, s->text + s->taken, length);
    parcel->holders = 2;
    s->parcel = parcel;
    s->taken += length;
    rv = pass(s, apr_bucket_heap_create(parcel->bytes, length, bucket_goes, ba));
    return rv == APR_SUCCESS ? pass(s, apr_bucket_flush_create(ba)) : rv;
}

/* Passes an empty brigade, upon which mod_http2 destroys the buckets that the connection has taken. */
static apr_status_t look_for_taken(vault_stream_t *s)
{
    conn_rec *c = s->r->connection;
    ap_filter_t *f = last_filter(c);
    apr_status_t rv = c->aborted ? APR_ECONNABORTED : f->frec->filter_func.out_func(f, s->bb);

    apr_brigade_cleanup(s->bb);
    if (rv != APR_SUCCESS || c->aborted) {
        return APR_ECONNABORTED;
    }
    if (__atomic_load_n(&s->parcel->holders, __ATOMIC_ACQUIRE) > 1) {
        return APR_EBUSY;
    }
    let_go(s->parcel);
    s->parcel = NULL;
    return APR_SUCCESS;
}

/* Checks the last parcel only if there is more to send. */
static apr_status_t push_to_http2(vault_stream_t *s)
{
    apr_status_t rv = s->parcel && s->taken < s->length ? look_for_taken(s) : APR_SUCCESS;

    if (rv != APR_SUCCESS || s->taken == s->length) {
        return rv;
    }
    rv = pass_parcel(s);
    return rv == APR_SUCCESS && s->taken < s->length ? APR_EAGAIN : rv;
}

apr_status_t vault_stream_push(vault_stream_t *s)
{
    apr_status_t rv = s->r->connection->master ? push_to_http2(s) : push_to_socket(s);

    if (s->taken == s->length) {
        drop_text(s);
    }
    else if ((rv == APR_SUCCESS || APR_STATUS_IS_EAGAIN(rv)) && !vault_unsent_take(&s->unsent, s->r, s->length)) {
        rv = APR_ENOSPC;
    }
    return rv;
}
