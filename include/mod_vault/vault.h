/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file vault.h
 * The public header of mod_vault: what a feed is, and what other httpd modules may call.
 *
 * The words are those of the Vault paper (Stratmann et al., WebApps 2011):
 *
 *   interest       a string that names an event, e.g. "DB-logs": it has *probably* happened, read the data
 *   feed           a plug-in that knows a kind of data and can also say what changed since a page last asked
 *   page           one loaded web page (one browser tab), with key-value properties kept for it on the server
 *   method         a URL of this server that renders what is new for a page, or nothing
 *   run            one execution of a method for a page
 *   cursor         the position of a page in one call of a feed (feed, method, arguments); an opaque string of the feed
 *
 * ## The loop that cannot miss a change
 *
 *     if (!host->create_interest(call, "DB-logs"))      // 1. first the interest
 *         return APR_SUCCESS;                           //    nothing happened since this cursor: do not read
 *     rows = select(... > host->cursor_get(call));      // 2. then the data, in one query
 *     host->cursor_set(call, last_key(rows));           // 3. then the cursor
 *
 * and on the writer's side: commit first, then host->notify("DB-logs"). The loop that can: select first,
 * create_interest after. A row that is committed in between is never announced to this page.
 *
 * Needs APR and jansson only; a feed resolves no symbol of mod_vault.so.
 */
#ifndef VAULT_H
#define VAULT_H

#include <jansson.h>

#include "apr_optional.h"
#include "apr_pools.h"
#include "apr_tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The longest name of an interest, in bytes, without the final NUL. */
#define VAULT_INTEREST_MAX 200
/** The longest key of a page property, in bytes. */
#define VAULT_PROPERTY_KEY_MAX 64
/** The longest value of a page property or of a cursor, in bytes. */
#define VAULT_PROPERTY_VALUE_MAX 4096
/** The most data items that one run of a method can pass to on_ack(). */
#define VAULT_ACKS_MAX 64

/* ------------------------------------------------------------------ feeds */

/** Increased when the meaning of something below changes. New slots at the end of a table increase only its
 * `size`. */
#define VAULT_FEED_ABI 1
/** The symbol that a feed's shared object exports: `const vault_feed_t vault_feed = {…};` */
#define VAULT_FEED_SYMBOL "vault_feed"

typedef struct vault_call_t vault_call_t; /**< one call of a feed's method; valid until the method returns */
typedef struct vault_host_t vault_host_t;
typedef struct vault_feed_t vault_feed_t;

/** The functions that mod_vault offers to a feed. It is a table, so that a unit test can be the host.
 *
 * Functions with a parameter `call` are for the thread that runs the method, until the method returns.
 * `notify`, `notify_local`, `notify_all` and `log` are for any thread at any time between open and close.
 */
struct vault_host_t {
    apr_uint32_t abi;  /**< VAULT_FEED_ABI of the server */
    apr_uint32_t size; /**< sizeof(vault_host_t) of the server: slots beyond it do not exist */

    /** Create `interest` for this page, and tell whether the data has to be read.
     *
     * @param interest  1..VAULT_INTEREST_MAX bytes, UTF-8; copied
     * @return 0  this page's cursor for this very call has seen everything that was announced: do not read the
     *         data
     *         1  something may have changed, this is the page's first call, or there is no page (a plain view): read
     *            the data
     * A method that returns only a part of the new rows sets its cursor to the last row returned, and notifies
     * this interest itself. That notify is later than this run, so the page calls the method again at once.
     * If the interest cannot be held (name too long, tables full), the result is 1, and the run fails as a
     * whole after the method has returned: nothing that it wrote reaches the page, and it is tried again.
     */
    int (*create_interest)(vault_call_t *call, const char *interest);

    /** Stop waiting for `interest`. Unknown names are ignored. */
    void (*remove_interest)(vault_call_t *call, const char *interest);

    /** The page's cursor for this call, as committed by its browser.
     * @return NUL-terminated, valid during the call; NULL: the page's first call, or there is no page: return
     *         all data */
    const char *(*cursor_get)(vault_call_t *call);

    /** Set the cursor. It takes effect when the browser has the output of this run.
     * @param value  at most VAULT_PROPERTY_VALUE_MAX bytes; copied
     * @return APR_SUCCESS; APR_EINVAL too long: the run will fail as a whole */
    apr_status_t (*cursor_set)(vault_call_t *call, const char *value);

    /** A page property, with the changes of this run. NULL: not set, or no page. Valid during the call. */
    const char *(*page_get)(vault_call_t *call, const char *key);
    /** Set a page property; NULL removes it. It takes effect if the run does.
     * @return APR_SUCCESS; APR_EINVAL key or value too long; APR_NOTFOUND there is no page */
    apr_status_t (*page_set)(vault_call_t *call, const char *key, const char *value);

    /** Tell every page that holds `interest` that the event has probably happened, on all servers of the cluster. Call
     * it after the commit.
     * @return APR_SUCCESS; APR_NOTFOUND no page holds it (not a failure); APR_EINVAL empty or too long */
    apr_status_t (*notify)(const char *interest);

    /** The authenticated user of the request, or NULL. */
    const char *(*user)(vault_call_t *call);

    /** Memory for the result of a method and for its own needs; freed with the request. */
    apr_pool_t *(*pool)(vault_call_t *call);

    /** Set the reason why a call failed: one sentence without a full stop. It is logged, and it is part of the
     * answer if `status` is APR_EINVAL, APR_EBUSY or APR_ENOSPC.
     * @return status, so that a method can `return host->fail(call, APR_EINVAL, "table \"%s\" …", t);` */
    apr_status_t (*fail)(vault_call_t *call, apr_status_t status, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

    /** Write one line to the error log. `level` as in httpd: 3 error, 4 warning, 6 info, 7 debug. */
    void (*log)(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

    /** Have vault_feed_t::acked called with `data` when the browser is known to have the output of this run (at
     * once after a run without output). Use it for actions that must not happen if the answer gets lost, such
     * as advancing a position that is stored elsewhere. It is not called for a run that failed or whose answer
     * was dropped; that run is repeated, and calls on_ack again.
     * @param data  NUL-terminated, at most VAULT_PROPERTY_VALUE_MAX bytes; copied. The same data twice in a run
     *              counts once
     * @return APR_SUCCESS
     *         APR_EINVAL    too long: the run will fail as a whole
     *         APR_ENOSPC    more than VAULT_ACKS_MAX in this run: it will fail as a whole
     *         APR_NOTFOUND  there is no page, so no acknowledgement will come
     *         APR_ENOTIMPL  the feed has no `acked`
     * This is the first slot that was added later: before calling it, a feed checks that host->size includes
     * it. */
    apr_status_t (*on_ack)(vault_call_t *call, const char *data);

    /** Declare that the changes since the page's cursor are no longer known, so that the result is a first view
     * again: it replaces what the page shows of this call. Without a page this does nothing.
     * Added after on_ack: a feed checks that host->size includes it. */
    void (*reset)(vault_call_t *call);

    /** The absolute form of a path; relative paths start at ServerRoot. For a parameter that is a path only in
     * some cases. Useful in `open`. @return in `pool`; NULL: not a path */
    const char *(*absolute)(const char *path, apr_pool_t *pool);

    /** Tell every page of this server that everything it holds has probably happened, for when it is not known what
     * did. Every page runs its methods, so use notify() for events that can be named. */
    void (*notify_all)(void);

    /** The largest size of this call's rows, as JSON in bytes; a larger result fails. A feed that reads rows one
     * by one can stop at that size to save memory: it fails with APR_ENOSPC and a sentence for the caller.
     * Added after notify_all: a feed checks that host->size includes it.
     * @return 0: no limit, since a template renders only what it needs */
    apr_size_t (*room)(vault_call_t *call);

    /** Identifies the client for limits: a number for the user of the request or, without a login, for its
     * address. For a feed that divides a scarce resource among clients. The number reveals nothing about the
     * client, and changes when the server has been stopped.
     * Added after room: a feed checks that host->size includes it.
     * @return 0: the call belongs to no request */
    apr_uint64_t (*client)(vault_call_t *call);

    /** The same as notify(), but only for pages of this server. notify() also tells the other servers of a cluster.
     * For a change that the feed of each server finds by itself, such as one in a log that all of them read, and for
     * an interest that is notified so that this page calls its method again.
     * Added after client: a feed checks that host->size includes it, and otherwise calls notify().
     * @return as notify() */
    apr_status_t (*notify_local)(const char *interest);
};

/** A parameter of `VaultFeed NAME PATH key=value …`. The list ends with a NULL name. */
typedef struct vault_feed_param_t {
    const char *name;
    const char *fallback; /**< default value; NULL: the parameter is required */
    const char *help;     /**< half a sentence that says what is accepted: "a directory that exists" */
    unsigned flags;
} vault_feed_param_t;

#define VAULT_PARAM_PATH                                                                                               \
    0x1u /**< a path: `open` gets it absolute, a relative one taken from ServerRoot; empty stays empty */

#define VAULT_METHOD_WRITES 0x1u /**< changes data: never called for a safe HTTP request from outside */

/** A method of a feed. The list ends with a NULL name. */
typedef struct vault_feed_method_t {
    const char *name;
    unsigned flags;
    /** Run the method.
     * @param self   set by `open`
     * @param args   a JSON object, borrowed. Values from a browser, a page or the configuration are strings;
     *               dots in a name make nested objects: `values.status=404` is {"values": {"status": "404"}}.
     *               Values from Lua and from vault_feed_call() can be of any type
     * @param rows   set it to a new reference, or leave it NULL: "nothing new"
     * @return APR_SUCCESS
     *         APR_EINVAL  an argument is wrong (400); say which with host->fail
     *         APR_EAGAIN  the data is not available now (503); the page asks again by itself
     *         APR_EBUSY   the caller is at its limit for this minute of the clock (429); say so with host->fail
     *         other       failed (500)
     * Several threads may call at once. May block; only the page whose method runs waits for it.
     */
    apr_status_t (*call)(void *self, vault_call_t *call, const json_t *args, json_t **rows);
} vault_feed_method_t;

/** A figure that a feed reports: a row of its constant table. The list ends with a NULL name.
 *
 * A name is an upper-case letter and at most VAULT_FIGURE_NAME_MAX - 1 letters and digits. It is unique in the table,
 * is not Name, Kind or Error, and does not end with Total.
 * Administrators see the figure in each form of the status. A monitoring system sees `vault_feed_KIND_NAME`, where KIND
 * is vault_feed_t::name: RingBytes of the database feed is vault_feed_database_ring_bytes{feed="…"}. */
typedef struct vault_feed_figure_t {
    const char *name;
    const char *meaning; /**< half a sentence in ASCII: "bytes of memory for changes" */
    unsigned kind;       /**< VAULT_FIGURE_… */
} vault_feed_figure_t;

#define VAULT_FIGURE_NAME_MAX 40
/** A text, or a whole number that is not a measurement (a process id). Not exported to monitoring systems. */
#define VAULT_FIGURE_FACT 0u
/** A whole number that can increase and decrease. */
#define VAULT_FIGURE_GAUGE 1u
/** A whole number that only increases. It may start again at 0 when the server is restarted. */
#define VAULT_FIGURE_COUNTER 2u

/** The descriptor of a feed: constant data, read once at the start. */
struct vault_feed_t {
    apr_uint32_t abi;  /**< VAULT_FEED_ABI */
    apr_uint32_t size; /**< sizeof(vault_feed_t) */
    const char *name;  /**< the kind, e.g. "database"; the configuration gives each instance a name */
    const vault_feed_param_t *params;
    const vault_feed_method_t *methods;

    /** Check the parameters and create `self`. Called in the parent, at every start and configuration check:
     * create no threads or connections yet.
     * @param params  every declared parameter, given or default
     * @param pool    lives until the next restart
     * @return NULL, or a sentence for the administrator that names the parameter, its value and what is
     *         accepted: it stops the start */
    const char *(*open)(void **self, const vault_host_t *host, const apr_table_t *params, apr_pool_t *pool);

    /** Start in a child: create threads and connections here. May be NULL. Every signal is blocked during the
     * call, so that new threads inherit that: signals are for httpd's own threads.
     * @param pchild  lives until the child ends. Use it in this call only, since other threads use it as well:
     *                a thread that needs memory creates a pool of its own
     * @return NULL, or a sentence for the log: every call of this feed in this child then fails with 503 */
    const char *(*child_start)(void *self, apr_pool_t *pchild);

    /** Stop in a child, when no call is running any more. Its threads must have ended when this returns, since
     * what they use is freed next. May be NULL; not called if child_start failed. */
    void (*child_stop)(void *self);

    /** The browser has the output of a run that called host->on_ack. May be NULL; a feed whose `size` ends
     * before this slot has none.
     * @param data  as passed to on_ack, borrowed
     * Called at least once: after a crash it can be repeated, also in two children at the same time, and after
     * a later one. It is not called if the page never sends another request. So let the data name an absolute
     * position ("7"), not a step ("+1"), and never move the position back.
     * Any thread of any child, outside of a request and of any lock; the page's next answer waits for it. May
     * block. */
    void (*acked)(void *self, const char *data);

    /** The figures that `report` reports. A table that violates the rules of vault_feed_figure_t stops the start
     * with a sentence. May be NULL. Added after acked, together with `report`: a feed whose `size` ends before
     * reports nothing. */
    const vault_feed_figure_t *figures;

    /** Report the figures as they are now, for the status of the server (docs/operating.md).
     *
     *     return json_pack("{s:I, s:s}", "Reads", (json_int_t)shared->reads, "State", "the file can be read");
     *
     * The child that answers a request for the status asks its own `self`. To report for the whole server, keep the
     * figures in memory that `open` shares between the children (mmap with MAP_SHARED | MAP_ANONYMOUS, and a cleanup of
     * `pool` that unmaps it). Figures of one child differ from request to request.
     *
     * Do not block: read memory, no file, no database, and take no lock that another thread holds while it waits. The
     * host does not rely on that. It calls `report` from a thread of its own, one for each feed at a time, and waits at
     * most a second for all feeds together. Then the status says that this feed does not report, and shows all else.
     * The thread goes on, and child_stop is not called before it has returned.
     *
     * The host does not rely on the values either. It shows the names in `figures` only: numbers as they are, and of
     * texts the first VAULT_PROPERTY_VALUE_MAX bytes, with "?" for each control character of ASCII and U+FFFD for what
     * is not UTF-8. A value of another type, or a negative one of a counter, is not shown, and the status says so.
     *
     * @return a new reference to an object, name of a figure -> value. A figure that is missing or null has no value
     *         now (the age of the oldest entry, where there is none). NULL: no figure can be told now
     * Not called where child_start failed. Any thread, outside of a request and of any lock. */
    json_t *(*report)(void *self);
};

/** The symbol that a feed's shared object exports; declared here so that it is visible whatever the language and
 * the compiler flags. */
extern __attribute__((visibility("default"))) const vault_feed_t vault_feed;

/* ------------------------------------------- for other modules of httpd */

#ifdef AP_SERVER_BASEREVISION /* httpd.h was included first */

/** The URL of the page's stream of HTML, for clients such as Turbo's <turbo-stream-source> and htmx's sse-connect,
 * which then replace vault.js: docs/protocol.md, "Streams of HTML". The URL is valid before the page has a long poll.
 * The stream works once the page has one and its HTML is complete. Escape the ampersand in HTML.
 * @return in r->pool; NULL: the response to `r` cannot become a live page
 * The thread that owns `r`. */
APR_DECLARE_OPTIONAL_FN(const char *, vault_stream_url, (request_rec * r));

/** The URL of the current content of a bundle, with a hash that lets browsers cache it for a year.
 *
 * @param url  the URL of a VaultBundle of this virtual host: "/site.css"
 * @return in r->pool; `url` itself if a file of the bundle cannot be read, which is logged; NULL: there is no such
 *         bundle
 * The thread that owns `r`. Asks the file system about each file of the bundle, and reads those that have changed. */
APR_DECLARE_OPTIONAL_FN(const char *, vault_bundle_url, (request_rec * r, const char *url));

/** Make the page that request `r` renders, or that has sent it (X-Vault-Page), poll `url`.
 *
 * @param r    a request that renders HTML, or a subrequest of one, where `VaultLongPoll on` holds, before its
 *             header is sent
 * @param url  a path of this server ("/logs/latest"), absolute or relative to r->uri; copied
 * @return APR_SUCCESS
 *         APR_EINVAL   not a path of this server, or too long
 *         APR_EACCES   `VaultLongPoll` is off here
 *         APR_EINIT    too late: the header has been sent
 *         APR_NOTFOUND `r` renders no page: it is a method's request, or a poll
 *         APR_ENOSPC   too many pages, or too many methods on this page
 * The thread that owns `r`.
 */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_add_long_poll, (request_rec * r, const char *url));

/** The `<script>` element that starts the client for the page of `r`. Write it into the HTML once.
 * @return in r->pool; NULL: `r` has no page */
APR_DECLARE_OPTIONAL_FN(const char *, vault_page_script, (request_rec * r));

/** A property of the page that `r` renders, that a method runs for, or that has sent `r` (X-Vault-Page). NULL:
 * not set, or no page. In r->pool. */
APR_DECLARE_OPTIONAL_FN(const char *, vault_page_get, (request_rec * r, const char *key));

/** Set a property; NULL removes it. In a method it takes effect when the browser has the method's output. In a
 * request that a page has sent it takes effect at once, and that page's methods run again.
 * @return APR_SUCCESS; APR_EINVAL key or value too long; APR_NOTFOUND no page; APR_ENOSPC its state gets too
 *         large */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_page_set, (request_rec * r, const char *key, const char *value));

/** A property of the session of `r`: of the browser that has sent it, for all of its pages. NULL: not set, no session,
 * or `VaultSession` is off here. In r->pool. A method that runs where `VaultSession` is on runs again when a property
 * of its session has changed. */
APR_DECLARE_OPTIONAL_FN(const char *, vault_session_get, (request_rec * r, const char *key));

/** Set a property of the session; NULL removes it. The first property makes the session and sets its cookie. It takes
 * effect at once, and methods of the session's pages run again if it has changed.
 * @return APR_SUCCESS
 *         APR_EACCES    `VaultSession` is off here
 *         APR_NOTFOUND  a method of a poll can read the session, but not change it
 *         APR_EINVAL    key empty or too long, or value too long
 *         APR_EINIT     there is no session, and it is too late for a cookie: the header has been sent
 *         APR_ENOSPC    no room for another session, or its state gets too large */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_session_set, (request_rec * r, const char *key, const char *value));

/** Remove a property of the session. @return as vault_session_set() */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_session_remove, (request_rec * r, const char *key));

/** Give the session of `r` another id. Call it when a visitor logs in to the application, or gets other rights in it:
 * an id that an attacker has planted in the browser before (session fixation) is invalid from then on. The properties
 * stay. Without a session there is nothing to do.
 * @return APR_SUCCESS; otherwise as vault_session_set(), and the session is as it was */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_session_renew, (request_rec * r));

/** Create an interest for the page of `r`: as vault_host_t::create_interest, for a module that reads its own
 * data.
 * @param cursor  names this use of the interest on this page, e.g. "mymodule/rows"
 * @return 0: nothing has happened since; 1: read the data */
APR_DECLARE_OPTIONAL_FN(int, vault_create_interest, (request_rec * r, const char *interest, const char *cursor));

/** Tell every page that holds `interest` that the event has probably happened. Any thread of any process of this
 * server.
 * @return APR_SUCCESS; APR_NOTFOUND no page holds it; APR_EINVAL empty or too long */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_notify, (const char *interest));

/** Call a feed's method for the page of `r` (or for no page).
 * @param feed    the NAME of a VaultFeed
 * @param args    a JSON object, borrowed
 * @param rows    a new reference, or NULL for "nothing new"
 * @param error   a sentence in r->pool when the call fails
 * @return as vault_feed_method_t::call; APR_NOTFOUND no such feed or method */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_feed_call,
                        (request_rec * r, const char *feed, const char *method, const json_t *args, json_t **rows,
                         const char **error));

/** Do these rows, which vault_feed_call() has just returned for `r`, replace what the page shows of that call
 * (vault_host_t::reset)? A caller that does not use vault_render() has to handle that. @return 1: yes; 0: no */
APR_DECLARE_OPTIONAL_FN(int, vault_feed_is_reset, (request_rec * r, const json_t *rows));

/** The parameters of vault_render(). Initialize with zeros, since fields may be added. */
typedef struct vault_render_t {
    const char *file;   /**< a Mustache template: "row.html", in the folder of r->filename or in one below */
    const json_t *data; /**< borrowed. A list is visible as `rows`, an object by its members; NULL: nothing new */
    const char *action; /**< append, prepend, replace, update, before or after; NULL: plain HTML */
    const char *target; /**< with an action: the id of the element in the page; UTF-8 */
    int anew; /**< 1: the data replaces what was shown, so append and prepend become update; automatic for rows that
               * vault_feed_call() has returned */
    const char *format; /**< of an update: NULL for turbo-stream elements, or "htmx" for out-of-band swaps */
} vault_render_t;

/** Render a template to the browser, as the SSI tag `feed` does: with the same cache, and with the same rules
 * for the location of files.
 *
 * In a view the HTML is written in place. In a method it is wrapped if there is an action: `<turbo-stream
 * action="append" target="logs-div"><template>…</template></turbo-stream>`. There, nothing new (NULL) writes
 * nothing. An empty list writes nothing either, except with replace and update, which then remove the list that
 * was shown. With the format htmx the wrapper is `<div hx-swap-oob="beforeend:#logs-div">…</div>` (`<tbody …>`
 * around rows of a table, and so on), and the response is marked as with `Vault-Update: htmx`.
 *
 * @param error  on failure a sentence in r->pool
 * @return APR_SUCCESS
 *         APR_EINVAL  no such action or format, replace with htmx, a second format in this method, no target,
 *                      file elsewhere, data that is neither list nor object, or a syntax error in the file
 *         APR_ENOENT or another system error: the file cannot be read
 *         other       rendering takes too long or nests too deep, or the client has disconnected
 * After a failure nothing was written. If it happens in a method, the method fails as a whole, whatever its
 * handler returns, and is tried again.
 * The thread that owns `r`. */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_render, (request_rec * r, const vault_render_t *what, const char **error));

/* ------------------------------------------- outputs that are used again */

/** Say that what the handler writes for `r` is the same for everyone who may see it, so that the module can keep the
 * response, or the output of a method, and use it again where VaultCache is On (docs/caching.md). The same as the
 * response header `Vault-Shared: yes`.
 *
 * The output may depend on the URL, on what feeds answer, on page properties, and on interests: the module records
 * these dependencies. Create each interest before you read its data. It must not depend on the user, on cookies and
 * other headers, on the id of the page, on the time, or on chance. Call it before the first byte is written. Has no
 * effect if the output is personal for another reason. The thread that owns `r`. */
APR_DECLARE_OPTIONAL_FN(void, vault_share, (request_rec * r));

/* ------------------------------------------- requests that change something */

/** Was this request sent by a page of this origin, by the visitor (a typed address, a bookmark), or by a program
 * that is not a browser? When a page of another site makes the browser send a request (CSRF), the browser adds
 * the visitor's cookies and login. So a handler that changes something checks this first, and answers
 * HTTP_FORBIDDEN if it is 0:
 *
 *      if (r->method_number == M_POST && !same_origin(r)) return HTTP_FORBIDDEN;
 *
 * It decides by headers that browsers set and scripts cannot. Sec-Fetch-Site must be `same-origin` or `none`.
 * If it is missing, as over plain HTTP, host and port of Origin must be those of Host; `null` is not an origin.
 * A request without both is taken for one that no browser has sent. So a proxy in front of the server must keep
 * Host (ProxyPreserveHost On). The scheme is not compared, since a proxy may terminate TLS.
 * For GET the result says little: a link on another site gives 0, and should not change anything.
 * VaultSameOrigin does the same for handlers that do not check.
 * @return 1: yes; 0: a page of another origin, or of an opaque one, has sent it
 * The thread that owns `r`. */
APR_DECLARE_OPTIONAL_FN(int, vault_same_origin, (const request_rec *r));

/* ------------------------------------------- suspended requests */

/*
 * A handler that cannot answer yet suspends its request and returns SUSPENDED. Its thread is free; the
 * connection waits where httpd waits for slow clients. When another thread resumes the request, or its time is
 * up, the handlers run again, from the first, with the same request_rec, in a thread of httpd. (Where httpd
 * cannot park connections, see docs/suspending.md, the request waits in its thread, within
 * VaultLongPollThreads; the handler does not notice.)
 *
 * ## The pattern that cannot use a request that has ended
 *
 * A waiting request can end at any moment: its client disconnects, or its child stops. A thread that resumes it
 * must not have a pointer to it by then. So a module keeps its waiting requests in a list under a lock of its
 * own, and removes them in the hook request_completed, under the same lock:
 *
 *     static int handler(request_rec *r)
 *     {
 *         waiting_t *w = mine(r);                           // NULL at first; later it is not in the list any more
 *         if (!w) {
 *             rv = request_suspend(r, apr_time_from_sec(20));
 *             if (rv != APR_SUCCESS)
 *                 return HTTP_SERVICE_UNAVAILABLE;          // without a thread, or too many wait
 *             lock();                                       // not before: the hooks below take it
 *             w = link(r);
 *             if (there_is_an_answer(w))                    // it came before r was in the list
 *                 request_resume(r);                        // takes effect after the return
 *             unlock();
 *             return SUSPENDED;
 *         }
 *         lock();
 *         unlink(w);                                        // resumed, or the time is up: this thread owns r
 *         unlock();
 *         return there_is_an_answer(w) ? answer(r, w) : HTTP_GATEWAY_TIME_OUT;
 *     }
 *
 *     static void an_answer_has_arrived(void)               // any thread of this child
 *     {
 *         lock();
 *         if ((w = find(...)))
 *             request_resume(w->r);                         // under the lock, for which completed() waits
 *         unlock();
 *     }
 *
 *     static void completed(request_rec *r)                 // APR_OPTIONAL_HOOK(vault, request_completed, …)
 *     {
 *         lock();
 *         unlink(mine(r));                                  // from here on no thread finds r
 *         unlock();
 *     }
 *
 * The pattern that can: look r up under the lock, and resume it after unlock(). In between its client may disconnect,
 * completed() and the cleanup of the pool run, and r is memory of another request.
 *
 * vault_request_resume() and _complete() take a lock of mod_vault for a moment and call no other code, so they may be
 * called under any lock. The hooks are called without any lock.
 *
 * Time-outs, resumes and disconnects race. Each wakes the request at most once, and a resume may be meant for
 * an earlier wait: a handler that runs again checks its own condition, and may suspend the request once more.
 *
 * While a request is suspended, its response cannot be written: ap_rwrite() and similar functions fail,
 * ap_pass_brigade() returns APR_EBUSY. What was written before is kept; flush it (ap_rflush) to send it
 * meanwhile. The body of the request need not have been read.
 *
 * A child that stops (graceful restart, retirement) resumes all its suspended requests as at a time-out, and no request
 * can be suspended in it any more (APR_TIMEUP): they must be answered.
 */

/** Suspend the request: the handler that calls it returns SUSPENDED next.
 *
 * If it is called several times before the handler runs again, the smallest time-out holds.
 * @param r        the request whose handler this thread runs
 * @param timeout  in microseconds, above 0. At most httpd's Timeout less two seconds; a longer one is
 *                 reduced to that, and the handler suspends the request again
 * @return APR_SUCCESS
 *         APR_EINVAL        the time-out is not above 0
 *         APR_EINIT         this thread does not run a handler of `r`: too early, too late, or another thread does
 *         APR_ENOTIMPL      a subrequest, or the answer to an error (ErrorDocument), cannot be suspended
 *         APR_EAGAIN        too many requests wait, or none can wait in this process; Retry-After has been set: return
 *                           HTTP_SERVICE_UNAVAILABLE
 *         APR_TIMEUP        this child ends: answer as at a time-out
 *         APR_ECONNABORTED  the client has disconnected
 *         other values      a system error: no descriptor is left
 * Unless the result is APR_SUCCESS, the request is unchanged. At LogLevel vault:debug, a line gives the reason.
 * If the handler returns anything but SUSPENDED, the request is not suspended, and its return value counts.
 */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_request_suspend, (request_rec * r, apr_interval_time_t timeout));

/** Let the handlers of a suspended request run again. If its handler has not returned yet, they run after that.
 * @return APR_SUCCESS   they will run: by this call, an earlier one, or because its time is up
 *         APR_NOTFOUND  it is not suspended (yet, or any more): nothing was done
 *         APR_EEXIST    vault_request_complete() came first, so the handlers do not run again
 * Any thread of the child that has the request, until request_completed has returned for it. */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_request_resume, (request_rec * r));

/** Let the server finish a suspended request without running its handlers again: with r->status, and with what
 * was written before it was suspended.
 * @return APR_SUCCESS   it will
 *         APR_NOTFOUND  it is not suspended (yet, or any more): nothing was done
 *         APR_EEXIST    vault_request_resume() came first: its handlers run again
 * Threads as for vault_request_resume(). */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_request_complete, (request_rec * r));

/** Is it suspended: since vault_request_suspend(), until its handlers run again? */
APR_DECLARE_OPTIONAL_FN(int, vault_request_is_suspended, (const request_rec *r));

/** Do its handlers run again because it was resumed? This is about the last suspension, by any module; a handler
 * can set data of its own (ap_set_module_config on r->request_config) to know that it was the one.
 * The thread that runs the handlers, as for the next function. */
APR_DECLARE_OPTIONAL_FN(int, vault_request_is_resumed, (const request_rec *r));

/** Do its handlers run again because its time was up or its child stops, and not because it was resumed? */
APR_DECLARE_OPTIONAL_FN(int, vault_request_is_timeout, (const request_rec *r));

/* Hooks, to be registered in register_hooks as optional ones:
 *     APR_OPTIONAL_HOOK(vault, request_completed, my_function, NULL, NULL, APR_HOOK_MIDDLE);
 * They run for every suspended request, including polls: check whether it is your module's. No lock is held. */

/** The handlers have returned SUSPENDED: no thread owns the request from here on. The thread that ran them. */
typedef void vault_HOOK_request_suspended_t(request_rec *r);

/** The handlers are about to run again. The thread that runs them. */
typedef void vault_HOOK_request_resumed_t(request_rec *r);

/** The request will not be suspended or resumed again: its handlers have returned another value, it was completed, its
 * client has disconnected, or its child stops. Called once for each request that vault_request_suspend() has
 * suspended, before its pool is destroyed. Any thread. (Not called in a process that is killed, or in a child
 * of the prefork MPM that is stopped at once: no code runs there any more.) */
typedef void vault_HOOK_request_completed_t(request_rec *r);

#endif

#ifdef __cplusplus
}
#endif

#endif
