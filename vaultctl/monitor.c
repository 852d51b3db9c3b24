/* SPDX-License-Identifier: Apache-2.0 */
/* monitor: creates a page whose only method reports which of the interests were notified, and polls it as a
 * browser does. That takes no thread of the server, and a notify between two polls is reported by the next one.
 * Several notifies in a short time may be reported as one line.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"
#include "apr_time.h"

#include "http.h"
#include "output.h"

/* VaultLongPollTimeout is 600 s at most. */
#define POLL_SECONDS 700
#define PAUSE apr_time_from_sec(1)

typedef struct monitor_t {
    vaultctl_http_t *http;
    const vaultctl_options_t *options;
    const char *query; /* monitor=…&monitor=… */
    char page[64];     /* empty: none */
    json_int_t seq;
    int lines;  /* printed so far */
    int broken; /* 1: it has been reported that the server cannot be reached */
} monitor_t;

static int is_done(const monitor_t *m)
{
    return m->options->count > 0 && m->lines >= m->options->count;
}

static void print_line(monitor_t *m, const char *interest)
{
    apr_time_t now = apr_time_now();
    apr_time_exp_t exploded;
    apr_size_t length;
    char time[32];

    if (is_done(m)) {
        return;
    }
    m->lines++;
    apr_time_exp_lt(&exploded, now);
    apr_strftime(time, &length, sizeof(time), "%Y-%m-%d %H:%M:%S", &exploded);
    if (m->options->json) {
        json_t *line = json_pack("{s:f, s:s}", "time", (double)now / APR_USEC_PER_SEC, "interest", interest);
        vaultctl_print_json(line, JSON_COMPACT);
        json_decref(line);
    }
    else {
        vaultctl_print("%s.%03d %s\n", time, (int)(exploded.tm_usec / 1000), interest);
    }
    fflush(stdout);
}

/* Each update's body is {"interests": [NAME, …]}. */
static void print_updates(monitor_t *m, const json_t *updates)
{
    const json_t *update, *name;
    size_t i, k;

    json_array_foreach(updates, i, update)
    {
        const char *text = json_string_value(json_object_get(update, "body"));
        json_t *body = text != NULL ? json_loads(text, 0, NULL) : NULL; /* any JSON, or none */

        json_array_foreach(json_object_get(body, "interests"), k, name)
        {
            print_line(m, vaultctl_json_text(name));
        }
        json_decref(body);
    }
}

/* ------------------------------------------------------------------ the page */

static int make_page(monitor_t *m, apr_pool_t *pool)
{
    const char *path = apr_pstrcat(pool, "status?", m->query, NULL);
    json_t *answer;
    int status = vaultctl_http_json(m->http, &answer, path, "", pool);

    if (status != VAULTCTL_DONE) {
        return status;
    }
    apr_cpystrn(m->page, json_string_value(json_object_get(answer, "page")) ?: "", sizeof(m->page));
    m->seq = json_integer_value(json_object_get(answer, "seq"));
    json_decref(answer);
    return m->page[0] ? VAULTCTL_DONE : vaultctl_say(VAULTCTL_TROUBLE, "the server gave no page");
}

/* The server has been restarted, or the page has expired. */
static int begin_anew(monitor_t *m, apr_pool_t *pool)
{
    int status = make_page(m, pool);

    if (status == VAULTCTL_DONE && !m->options->quiet) {
        vaultctl_say(0, "the server had forgotten us; what was notified meanwhile is not known");
    }
    return status;
}

static void wait_for_server(monitor_t *m, const char *why)
{
    if (!m->broken && !m->options->quiet) {
        vaultctl_say(0, "%s; trying again", why);
    }
    m->broken = 1;
    apr_sleep(PAUSE);
}

static int take_answer(monitor_t *m, const vaultctl_answer_t *answer, apr_pool_t *pool)
{
    json_t *body;

    m->broken = 0;
    switch (answer->status) {
    case 200:
        body = vaultctl_http_object(answer);
        if (body == NULL) {
            return vaultctl_http_say(answer);
        }
        m->seq = json_integer_value(json_object_get(body, "seq"));
        print_updates(m, json_object_get(body, "updates"));
        json_decref(body);
        return VAULTCTL_DONE;
    case 204:
        return VAULTCTL_DONE;
    case 410:
        return begin_anew(m, pool);
    case 502:
    case 503:
    case 504:
        apr_sleep(answer->retry_after > 0 ? apr_time_from_sec(answer->retry_after) : PAUSE);
        return VAULTCTL_DONE;
    default:
        return vaultctl_http_say(answer);
    }
}

static int poll(monitor_t *m, apr_pool_t *pool)
{
    const char *path = apr_psprintf(pool, "status?poll&page=%s&seq=%" APR_INT64_T_FMT,
                                    vaultctl_http_escape(m->http, m->page, pool), (apr_int64_t)m->seq);
    vaultctl_answer_t answer;
    const char *why = vaultctl_http_ask(m->http, &answer, path, NULL, POLL_SECONDS, pool);

    if (why != NULL) {
        wait_for_server(m, why);
        return VAULTCTL_DONE;
    }
    return take_answer(m, &answer, pool);
}

int vaultctl_monitor(const vaultctl_options_t *options, char *const *words, int count, apr_pool_t *pool)
{
    monitor_t m = {.options = options, .query = ""};
    apr_pool_t *turn;
    int status;

    if (count == 0) {
        return vaultctl_say(VAULTCTL_USAGE, "which interest?");
    }
    if ((m.http = vaultctl_http_open(options, pool)) == NULL) {
        return VAULTCTL_TROUBLE;
    }
    for (int i = 0; i < count; i++) {
        m.query =
            apr_pstrcat(pool, m.query, i ? "&" : "", "monitor=", vaultctl_http_escape(m.http, words[i], pool), NULL);
    }
    apr_pool_create(&turn, pool);
    status = make_page(&m, turn);
    if (status == VAULTCTL_DONE && !options->quiet) {
        vaultctl_say(0, "waiting");
    }
    while (status == VAULTCTL_DONE && !is_done(&m) && !ferror(stdout)) {
        apr_pool_clear(turn);
        status = poll(&m, turn);
    }
    return status;
}
