/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file vault.h
 * The public header of mod_vault: what a feed is, and what other httpd modules may call.
 *
 * The words are those of the Vault paper (Stratmann et al., WebApps 2011):
 *
 *   interest       a string that names an event, e.g. "DB-logs": it *probably* happened, look
 *   feed           a plug-in that knows a kind of data and can also say what changed since a page last asked
 *   page           one loaded web page (one browser tab), with key-value properties kept for it on the server
 *   method         a URL of this server that renders what is new for a page, or nothing
 *   run            one execution of a method for a page
 *   cursor         how far a page has got with one call of a feed (feed, method, arguments); an opaque string of the feed
 *
 * ## The loop that cannot miss a change
 *
 *     if (!host->create_interest(call, "DB-logs"))      // 1. first the interest
 *         return APR_SUCCESS;                           //    nothing happened since this cursor: do not even look
 *     rows = select(... > host->cursor_get(call));      // 2. then the data, in one query
 *     host->cursor_set(call, last_key(rows));           // 3. then the place
 *
 * and on the writer's side: commit first, then host->notify("DB-logs").
 * The loop that can: select first, create_interest after. A row that is committed in between is never announced to this page.
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
/** What one method's run may want to hear of at acknowledgement. */
#define VAULT_ACKS_MAX 64

/* ------------------------------------------------------------------ feeds */

/** Raised whenever something below changes its meaning. New slots at the end of a table raise only its `size`. */
#define VAULT_FEED_ABI 1
/** The name of what a feed's shared object exports: `const vault_feed_t vault_feed = {…};` */
#define VAULT_FEED_SYMBOL "vault_feed"

typedef struct vault_call_t vault_call_t; /**< one call of a feed's method; valid until the method returns */
typedef struct vault_host_t vault_host_t;
typedef struct vault_feed_t vault_feed_t;

/** What mod_vault offers to a feed. A table, so that a unit test can be the host.
 *
 * Functions that take a `call` are for the thread that runs the method, until it returns.
 * `notify`, `notify_all` and `log` are for any thread at any time between open and close.
 */
struct vault_host_t {
    apr_uint32_t abi;  /**< VAULT_FEED_ABI of the server */
    apr_uint32_t size; /**< sizeof(vault_host_t) of the server: a slot beyond it is not there */

    /** Create `interest` for this page, and learn whether to look.
     *
     * @param interest  1..VAULT_INTEREST_MAX bytes, UTF-8; copied
     * @return 0  this page's cursor for this very call has seen everything that was announced: the data need not be read
     *         1  something may have changed, or the page never asked, or there is no page (a plain view): look
     * A method that leaves something for later (at most so many rows at once) sets its cursor to what it gave, and notifies this
     * interest itself: that is later than this run, so the page looks again at once.
     * When the interest cannot be kept (name too long, tables full) the answer is 1 and the run fails as a whole
     * once the method has returned: nothing it wrote reaches the page, and it is tried again.
     */
    int (*create_interest)(vault_call_t *call, const char *interest);

    /** Take `interest` out of what this page waits for. Unknown ones are ignored. */
    void (*remove_interest)(vault_call_t *call, const char *interest);

    /** The cursor this page has for this call, as committed by its browser.
     * @return NUL-terminated, valid during the call; NULL: the page never asked, or there is no page: answer everything */
    const char *(*cursor_get)(vault_call_t *call);

    /** Set the cursor that counts once the browser has what this run renders.
     * @param value  at most VAULT_PROPERTY_VALUE_MAX bytes; copied
     * @return APR_SUCCESS; APR_EINVAL too long: the run will fail as a whole */
    apr_status_t (*cursor_set)(vault_call_t *call, const char *value);

    /** A page property, as this run sees it. NULL: not set, or no page. Valid during the call. */
    const char *(*page_get)(vault_call_t *call, const char *key);
    /** Set (value NULL: remove) a page property; counts when the run does.
     * @return APR_SUCCESS; APR_EINVAL key or value too long; APR_NOTFOUND there is no page */
    apr_status_t (*page_set)(vault_call_t *call, const char *key, const char *value);

    /** Tell every page that holds `interest` that it probably happened. Call it after the commit.
     * @return APR_SUCCESS; APR_NOTFOUND nobody holds it (not a failure); APR_EINVAL empty or too long */
    apr_status_t (*notify)(const char *interest);

    /** The authenticated user of the request, or NULL. */
    const char *(*user)(vault_call_t *call);

    /** Memory for what a method returns or needs; freed with the request. */
    apr_pool_t *(*pool)(vault_call_t *call);

    /** Say why a call failed, in one sentence without a final stop: for the log, and for the answer if `status` is APR_EINVAL,
     * APR_EBUSY or APR_ENOSPC.
     * @return status, so that a method can `return host->fail(call, APR_EINVAL, "table \"%s\" …", t);` */
    apr_status_t (*fail)(vault_call_t *call, apr_status_t status, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

    /** One line in the error log. `level` as in httpd: 3 error, 4 warning, 6 info, 7 debug. */
    void (*log)(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

    /** Have vault_feed_t::acked called with `data` once the browser is known to have what this run renders (at once after a run
     * that rendered nothing): for what must not happen for an answer that gets lost, as advancing a place that is kept elsewhere.
     * It is not called for a run that failed or whose answer was dropped; that run is repeated, and asks again.
     * @param data  NUL-terminated, at most VAULT_PROPERTY_VALUE_MAX bytes; copied. The same twice in a run counts once
     * @return APR_SUCCESS
     *         APR_EINVAL    too long: the run will fail as a whole
     *         APR_ENOSPC    more than VAULT_ACKS_MAX in this run: it will fail as a whole
     *         APR_NOTFOUND  there is no page, so nobody will acknowledge
     *         APR_ENOTIMPL  the feed has no `acked`
     * The first slot that came later: a feed looks whether host->size reaches over it. */
    apr_status_t (*on_ack)(vault_call_t *call, const char *data);

    /** Say that what happened since the page's cursor cannot be told any more, so that the answer is a first view again: what the
     * page shows of this call is to be replaced by it, not added to. Without a page it does nothing.
     * It came after on_ack: a feed looks whether host->size reaches over it. */
    void (*reset)(vault_call_t *call);

    /** The absolute form of a path, a relative one taken from ServerRoot: for a parameter that is a path in some cases only.
     * Of use in `open`. @return in `pool`; NULL: that is no path */
    const char *(*absolute)(const char *path, apr_pool_t *pool);

    /** Tell every page that everything it holds probably happened: for when nobody knows any more what did. Each of them runs its
     * methods, so it is not for what can be named. */
    void (*notify_all)(void);

    /** How many bytes the rows of this call may have, as JSON: what would be more cannot be told, and fails. A feed that reads rows one by
     * one stops there, and saves the memory for the others: it fails with APR_ENOSPC and a sentence for the caller.
     * It came after notify_all: a feed looks whether host->size reaches over it.
     * @return 0 the rows may be of any length: a template takes of them what it shows */
    apr_size_t (*room)(vault_call_t *call);

    /** Whom limits count: a number for the user of the request or, without a login, for its address. For a feed that
     * shares something scarce between clients. The number says nothing about the client, and is another one after the
     * server was stopped.
     * It came after room: a feed looks whether host->size reaches over it.
     * @return 0 the call belongs to no request */
    apr_uint64_t (*client)(vault_call_t *call);
};

/** A parameter of `VaultFeed NAME PATH key=value …`. The list ends with a NULL name. */
typedef struct vault_feed_param_t {
    const char *name;
    const char *fallback; /**< value when not given; NULL: the parameter must be given */
    const char *help;     /**< what is accepted, half a sentence: "a directory that exists" */
    unsigned flags;
} vault_feed_param_t;

#define VAULT_PARAM_PATH                                                                                               \
    0x1u /**< a path: `open` gets it absolute, a relative one taken from ServerRoot; empty stays empty */

#define VAULT_METHOD_WRITES 0x1u /**< changes data: never called for a safe HTTP request from outside */

/** A method of a feed. The list ends with a NULL name. */
typedef struct vault_feed_method_t {
    const char *name;
    unsigned flags;
    /** Run it.
     * @param self   what `open` made
     * @param args   a JSON object, borrowed. Values from a browser, a page or the configuration are strings; a name with
     *               dots makes nested objects: `values.status=404` is {"values": {"status": "404"}}. Those from Lua and from
     *               vault_feed_call() are of any type
     * @param rows   set it to a new reference, or leave it NULL: "nothing new"
     * @return APR_SUCCESS
     *         APR_EINVAL  an argument is wrong (400); say which with host->fail
     *         APR_EAGAIN  the data cannot be reached now (503); the page asks again by itself
     *         APR_EBUSY   whoever asks has had all that is for this minute of the clock (429); say so with host->fail
     *         other       failed (500)
     * Many threads call at once. May block; a page whose method runs is the only one that waits for it.
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
/** A text or a whole number that is no measurement (the id of a process). Monitoring systems do not see it. */
#define VAULT_FIGURE_FACT 0u
/** A whole number that rises and falls. */
#define VAULT_FIGURE_GAUGE 1u
/** A whole number that only grows. A restart of the server may begin it at 0 again. */
#define VAULT_FIGURE_COUNTER 2u

/** The descriptor of a feed: constant data, read once at start-up. */
struct vault_feed_t {
    apr_uint32_t abi;  /**< VAULT_FEED_ABI */
    apr_uint32_t size; /**< sizeof(vault_feed_t) */
    const char *name;  /**< the kind, e.g. "database"; the configuration may give another */
    const vault_feed_param_t *params;
    const vault_feed_method_t *methods;

    /** Check the parameters and make `self`. In the parent, at every start and configuration check: no threads, no
     * connections yet.
     * @param params  every declared parameter, given or fallback
     * @param pool    lives until the next restart
     * @return NULL, or a sentence for the admin that names the parameter, its value and what is accepted: it stops the start */
    const char *(*open)(void **self, const vault_host_t *host, const apr_table_t *params, apr_pool_t *pool);

    /** Start in a child: threads and connections belong here. May be NULL.
     * Every signal is blocked while it runs, so that threads which it creates inherit that: signals are for httpd's own.
     * @param pchild  lives until the child ends; for this call only, since other threads use it as well: a thread that needs
     *                memory makes a pool of its own
     * @return NULL, or a sentence for the log: every call of this feed in this child then fails with 503 */
    const char *(*child_start)(void *self, apr_pool_t *pchild);

    /** Stop in a child; no call runs any more. Threads must have ended when it returns: what they use goes next. May be NULL;
     * not called where child_start failed. */
    void (*child_stop)(void *self);

    /** What a run of this feed wanted to hear of with host->on_ack: the browser has it. May be NULL; a feed whose `size` ends
     * before it has none.
     * @param data  as given to on_ack, borrowed
     * At least once: after a crash it may come again, also at the same time in two children, and after a later one; and not at all
     * if the page is never heard of again. So it says where the place is ("7"), not that it moves ("+1"), and never moves it back.
     * Any thread of any child, outside of a request and of any lock; the page's next answer waits for it. May block. */
    void (*acked)(void *self, const char *data);

    /** What `report` reports. A table that breaks the rules of vault_feed_figure_t stops the start with a sentence.
     * May be NULL. Together with `report` it came after acked: a feed whose `size` ends before reports nothing. */
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

/** What a feed's shared object exports; declared here so that it is visible whatever the language and the flags. */
extern __attribute__((visibility("default"))) const vault_feed_t vault_feed;

/* ------------------------------------------- for other modules of httpd */

#ifdef AP_SERVER_BASEREVISION /* httpd.h was included first */

/** The URL of the page's stream of HTML, for clients such as Turbo's <turbo-stream-source> and htmx's sse-connect,
 * which then replace vault.js: docs/protocol.md, "Streams of HTML". The URL is valid before the page has a long poll.
 * The stream works once the page has one and its HTML is complete. Escape the ampersand in HTML.
 * @return in r->pool; NULL: the response to `r` cannot become a live page
 * The thread that owns `r`. */
APR_DECLARE_OPTIONAL_FN(const char *, vault_stream_url, (request_rec * r));

/** Make the page that request `r` renders, or says it comes from (X-Vault-Page), ask `url` for news.
 *
 * @param r    a request that renders HTML, or a subrequest of one, where `VaultLongPoll on` holds, before its header is sent
 * @param url  a path of this server ("/logs/latest"), absolute or relative to r->uri; copied
 * @return APR_SUCCESS
 *         APR_EINVAL   not a path of this server, or too long
 *         APR_EACCES   `VaultLongPoll` is off here
 *         APR_EINIT    too late: the header is on its way
 *         APR_NOTFOUND `r` renders no page: it is a method's, or a poll
 *         APR_ENOSPC   too many pages, or too many methods on this page
 * The thread that owns `r`.
 */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_add_long_poll, (request_rec * r, const char *url));

/** The `<script>` element that starts the client for the page of `r`, to be written into the HTML once.
 * @return in r->pool; NULL: `r` has no page */
APR_DECLARE_OPTIONAL_FN(const char *, vault_page_script, (request_rec * r));

/** A property of the page that `r` renders, that a method runs for, or that `r` says it comes from (X-Vault-Page). NULL: not set, or no
 * page. In r->pool. */
APR_DECLARE_OPTIONAL_FN(const char *, vault_page_get, (request_rec * r, const char *key));

/** Set (value NULL: remove) a property. In a method it counts once the browser has what the method rendered.
 * From a request that says which page it comes from it counts at once, and that page's methods run again.
 * @return APR_SUCCESS; APR_EINVAL key or value too long; APR_NOTFOUND no page; APR_ENOSPC its state gets too large */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_page_set, (request_rec * r, const char *key, const char *value));

/** Create an interest for the page of `r`: as vault_host_t::create_interest, for a module that is its own feed.
 * @param cursor  what names this use of the interest on this page, e.g. "mymodule/rows"
 * @return 0 nothing happened since; 1 look */
APR_DECLARE_OPTIONAL_FN(int, vault_create_interest, (request_rec * r, const char *interest, const char *cursor));

/** Tell every page that holds `interest` that it probably happened. Any thread of any process of this server.
 * @return APR_SUCCESS; APR_NOTFOUND nobody holds it; APR_EINVAL empty or too long */
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

/** Are these rows, as vault_feed_call() has just given them for `r`, a first view again (vault_host_t::reset)? Whoever shows them
 * without vault_render() replaces what the page shows of that call. @return 1 yes; 0 no */
APR_DECLARE_OPTIONAL_FN(int, vault_feed_is_reset, (request_rec * r, const json_t *rows));

/** What vault_render() renders. Begin with zeros: fields may be added. */
typedef struct vault_render_t {
    const char
        *file; /**< a Mustache template beside the file that r->filename names, or in a folder below: "row.html" */
    const json_t *data; /**< borrowed. A list is seen as `rows`, of an object each name; NULL: nothing new */
    const char *action; /**< append, prepend, replace, update, before or after; NULL: HTML as it is */
    const char *target; /**< with an action: the id of the element in the page; UTF-8 */
    int anew; /**< 1: the data take the place of what was shown, append and prepend become update; set for the very rows of
               * vault_feed_call() without being asked */
    const char *format; /**< of an update: NULL, turbo-stream elements; or "htmx", out-of-band swaps */
} vault_render_t;

/** Render a template to the browser, as the SSI tag `feed` does: the same compiled files, the same rules for where they may be.
 *
 * In a view the HTML is written in place. In a method it is wrapped, if there is an action:
 * `<turbo-stream action="append" target="logs-div"><template>…</template></turbo-stream>`; nothing new (NULL) writes nothing there,
 * nor does an empty list, but with replace and update, where the list that was shown is gone. With the format htmx it is
 * `<div hx-swap-oob="beforeend:#logs-div">…</div>` (`<tbody …>` around rows of a table, and so on), and the answer says so, as by
 * `Vault-Update: htmx`.
 *
 * @param error  a sentence in r->pool when it fails
 * @return APR_SUCCESS
 *         APR_EINVAL  no such action or format, replace with htmx, another format than before in this method, no target, a file elsewhere, data that are neither list nor object, or a syntax error in the file
 *         APR_ENOENT or another of the system's  the file cannot be read
 *         other       rendering takes too long or goes too deep, or the client is gone
 * On a failure nothing was written; a method that it happens to fails as a whole, whatever its handler answers, and is tried again.
 * The thread that owns `r`. */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_render, (request_rec * r, const vault_render_t *what, const char **error));

/* ------------------------------------------- requests that change something */

/** Was this request sent by a page of this origin, by the visitor (an address that was typed, a bookmark), or by a program that is no
 * browser? A browser sends the visitor's cookies and login with what a page of any other site makes it send (CSRF), so a handler that
 * changes something asks this first, and answers HTTP_FORBIDDEN to a 0:
 *
 *     if (r->method_number == M_POST && !same_origin(r)) return HTTP_FORBIDDEN;
 *
 * It judges by headers that browsers set and scripts cannot. Sec-Fetch-Site must be `same-origin` or `none`. Without it, as over plain HTTP,
 * host and port of Origin must be those of Host; `null` is no origin. A request with neither is taken for no browser's. So a proxy in front
 * keeps Host (ProxyPreserveHost On); the scheme is not compared, since a proxy may do TLS.
 * It says nothing about GET: a link on another site is a 0, and should not change anything.
 * VaultSameOrigin does the same for handlers that do not ask.
 * @return 1 yes; 0 a page of another origin, or of none, sent it
 * The thread that owns `r`. */
APR_DECLARE_OPTIONAL_FN(int, vault_same_origin, (const request_rec *r));

/* ------------------------------------------- suspended requests */

/*
 * A handler whose answer is not there yet suspends its request and returns SUSPENDED. Its thread is free; the connection waits where
 * httpd waits for slow clients. When somebody resumes it, or its time is up, the handlers run again, from the first, with the same
 * request_rec, in a thread of httpd's. (Where httpd cannot wait so, docs/suspending.md says where, the request waits in its thread,
 * within VaultLongPollThreads; the handler does not notice.)
 *
 * ## The pattern that cannot touch a request that is gone
 *
 * A waiting request may end at any moment: its client hangs up, its child stops. Whoever resumes it must not hold a pointer to
 * it by then. So a module keeps its waiting requests in a list under a lock of its own, and takes them out of it in the hook
 * request_completed, under the same lock:
 *
 *     static int handler(request_rec *r)
 *     {
 *         waiting_t *w = mine(r);                           // NULL at first; else the list does not have it any more
 *         if (!w) {
 *             rv = request_suspend(r, apr_time_from_sec(20));
 *             if (rv != APR_SUCCESS)
 *                 return HTTP_SERVICE_UNAVAILABLE;          // without a thread or a place to wait
 *             lock();                                       // not before: the hooks below take it
 *             w = link(r);
 *             if (there_is_an_answer(w))                    // it came before r was in the list: nobody will resume it
 *                 request_resume(r);                        // takes effect after the return
 *             unlock();
 *             return SUSPENDED;
 *         }
 *         lock();
 *         unlink(w);                                        // resumed, or time is up: the request is this thread's again
 *         unlock();
 *         return there_is_an_answer(w) ? answer(r, w) : HTTP_GATEWAY_TIME_OUT;
 *     }
 *
 *     static void somebody_has_an_answer(void)              // any thread of this child
 *     {
 *         lock();
 *         if ((w = find(...)))
 *             request_resume(w->r);                         // under the lock: completed() below waits for it, and r with that
 *         unlock();
 *     }
 *
 *     static void completed(request_rec *r)                 // APR_OPTIONAL_HOOK(vault, request_completed, completed, NULL, NULL, APR_HOOK_MIDDLE);
 *     {
 *         lock();
 *         unlink(mine(r));                                  // whatever has become of it: from here on nobody finds r
 *         unlock();
 *     }
 *
 * The code that can: to look r up under the lock, and resume it after unlock(). In between its client hangs up, completed() and the
 * pool go, and r is memory of another request.
 *
 * vault_request_resume() and _complete() take a lock of mod_vault's for a moment and call nothing: they may be called under any lock.
 * The hooks are called without any lock.
 *
 * Time-outs, resumes and hang-ups race. Each wakes the request once at most, and a resume may be meant for an earlier wait: a handler
 * that runs again looks at its own condition, and may suspend the request once more.
 *
 * While a request is suspended its response cannot be written: ap_rwrite() and its like fail, ap_pass_brigade() answers APR_EBUSY. What
 * was written before stays; flush it (ap_rflush) for the client to have it meanwhile. The body of the request need not have been read.
 *
 * A child that stops (graceful restart, retirement) resumes all that are suspended in it, as at a time-out, and none can be suspended
 * in it any more (APR_TIMEUP): they must be answered.
 */

/** Suspend the request: the handler that calls it returns SUSPENDED next.
 *
 * Called again before that, or before it runs again: the smaller time-out holds.
 * @param r        the request whose handler this thread runs
 * @param timeout  in microseconds, above 0. Longer ones than httpd's Timeout, less two seconds, are cut to that: suspend it again then
 * @return APR_SUCCESS
 *         APR_EINVAL        the time-out is not above 0
 *         APR_EINIT         this thread does not run a handler of `r`: it is too early, too late, or another's
 *         APR_ENOTIMPL      a subrequest, or the answer to an error (ErrorDocument), cannot be suspended
 *         APR_EAGAIN        as many wait as may, or nothing can wait in this process; Retry-After has been set: return
 *                           HTTP_SERVICE_UNAVAILABLE
 *         APR_TIMEUP        this child ends: answer as at a time-out
 *         APR_ECONNABORTED  the client is gone
 *         others            what the system said: no descriptor is left
 * Whatever it is but APR_SUCCESS, the request is as it was. At LogLevel vault:debug a line says why.
 * A handler that returns anything but SUSPENDED was not suspended: what it returns counts.
 */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_request_suspend, (request_rec * r, apr_interval_time_t timeout));

/** Let the handlers of a suspended request run again. Before its handler has returned it takes effect after that.
 * @return APR_SUCCESS   they will: by this call, an earlier one, or because its time is up
 *         APR_NOTFOUND  it is not suspended (any more), or not yet: nothing was done
 *         APR_EEXIST    vault_request_complete() came first: it ends without
 * Any thread of the child that has the request, as long as request_completed has not returned for it. */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_request_resume, (request_rec * r));

/** Let the server finish a suspended request without running its handlers again: with r->status, and what was written before it was
 * suspended.
 * @return APR_SUCCESS   it will
 *         APR_NOTFOUND  it is not suspended (any more), or not yet: nothing was done
 *         APR_EEXIST    vault_request_resume() came first: its handlers run again
 * Threads as for vault_request_resume(). */
APR_DECLARE_OPTIONAL_FN(apr_status_t, vault_request_complete, (request_rec * r));

/** Is it suspended: since vault_request_suspend(), until its handlers run again? */
APR_DECLARE_OPTIONAL_FN(int, vault_request_is_suspended, (const request_rec *r));

/** Do its handlers run again because somebody resumed it? Of the last suspension, whichever module suspended it: a handler knows by a
 * mark of its own (ap_set_module_config on r->request_config) that it was itself.
 * The thread that runs the handlers, as for the next. */
APR_DECLARE_OPTIONAL_FN(int, vault_request_is_resumed, (const request_rec *r));

/** Do its handlers run again because its time was up, or its child stops, and nobody resumed it? */
APR_DECLARE_OPTIONAL_FN(int, vault_request_is_timeout, (const request_rec *r));

/* Hooks, to be registered in register_hooks as optional ones:
 *     APR_OPTIONAL_HOOK(vault, request_completed, my_function, NULL, NULL, APR_HOOK_MIDDLE);
 * They run for every request that is suspended, the page's polls as well: look whether it is yours. Without any lock. */

/** The handlers have returned SUSPENDED: no thread has the request from here on. The thread that ran them. */
typedef void vault_HOOK_request_suspended_t(request_rec *r);

/** The handlers are about to run again. The thread that runs them. */
typedef void vault_HOOK_request_resumed_t(request_rec *r);

/** It will not be suspended or resumed again: its handlers have returned for good, or it was completed, or its client is gone, or its
 * child stops. Once for each request that vault_request_suspend() has ever suspended, before its pool goes. Any thread.
 * (Not for a process that is killed, or a child of the prefork MPM that is stopped at once: nothing runs there any more.) */
typedef void vault_HOOK_request_completed_t(request_rec *r);

#endif

#ifdef __cplusplus
}
#endif

#endif
