/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and drops what the output store keeps. */
#include "admin/cache_listing.h"

#include <jansson.h>

#include "apr_lib.h"
#include "apr_strings.h"
#include "http_protocol.h"

#include "admin/explain.h"
#include "base/now.h"
#include "output/output_store.h"
#include "request/origin.h"
#include "request/reply.h"
#include "server/server.h"

/* How many rows are listed unless the request says more; and on the page for people. */
#define ROWS 100
#define ROWS_MAX 100000
#define ROWS_HTML 20

static const char *const orders[] = {[VAULT_OUTPUT_BY_USE] = "used",
                                     [VAULT_OUTPUT_BY_HITS] = "hits",
                                     [VAULT_OUTPUT_BY_SIZE] = "bytes",
                                     [VAULT_OUTPUT_BY_RENEWALS] = "renewals",
                                     [VAULT_OUTPUT_BY_AGE] = "age"};
#define ORDERS (sizeof(orders) / sizeof(orders[0]))

static const char *const forms[] = {
    [VAULT_OUTPUT_PLAIN] = "plain", [VAULT_OUTPUT_GZIP] = "gzip", [VAULT_OUTPUT_BROTLI] = "brotli"};

/* ---------------------------------------------------------------------- rows */

static const char *state_of(const vault_output_row_t *row)
{
    return row->making ? "rendering" : row->personal ? "personal" : row->stale ? "outdated" : "kept";
}

static double seconds(apr_interval_time_t time)
{
    return (double)time / APR_USEC_PER_SEC;
}

static const char *kind_of(const vault_output_row_t *row, apr_pool_t *pool)
{
    return vault_explain_text(apr_pstrmemdup(pool, row->name, strcspn(row->name, " ")), pool);
}

static const char *url_of(const vault_output_row_t *row, apr_pool_t *pool)
{
    const char *space = ap_strchr_c(row->name, ' ');

    return vault_explain_text(space ? space + 1 : "", pool);
}

static json_t *forms_json(const vault_output_row_t *row)
{
    json_t *list = json_array();
    unsigned i;

    for (i = 0; i < VAULT_OUTPUT_FORMS; i++) {
        if (row->size[i]) {
            json_array_append_new(list,
                                  json_pack("{s:s, s:I, s:s}", "Form", forms[i], "Bytes", (json_int_t)row->size[i],
                                            "Where", row->in_file[i] ? "file" : "memory"));
        }
    }
    return list;
}

static json_t *row_json(const vault_output_row_t *row, apr_time_t now, apr_pool_t *pool)
{
    return json_pack("{s:s, s:s, s:s, s:s?, s:o, s:I, s:I, s:s?, s:i, s:f, s:f, s:o}", "Kind", kind_of(row, pool),
                     "Url", url_of(row, pool), "State", state_of(row), "Why", vault_explain_text(row->personal, pool),
                     "Forms", forms_json(row), "Hits", (json_int_t)row->hits, "Renewals", (json_int_t)row->renewed,
                     "RenewedBy", vault_explain_text(row->renewed_by, pool), "Waits", (int)row->waits, "AgeSeconds",
                     seconds(now - row->made), "IdleSeconds", seconds(now - row->used), "SecondsLeft",
                     row->until ? json_real(seconds(row->until > now ? row->until - now : 0)) : json_null());
}

/* ---------------------------------------------------------------------- list */

/* What a GET asks for. */
typedef struct wanted_t {
    vault_output_filter_t filter;
    vault_output_order_t order;
    unsigned most;
} wanted_t;

/* @return NULL, or a sentence that says what is wrong */
static const char *read_wanted(wanted_t *w, const apr_table_t *params)
{
    const char *limit = apr_table_get(params, "limit"), *sort = apr_table_get(params, "sort");
    apr_int64_t most = limit ? apr_atoi64(limit) : ROWS;
    unsigned i = 0;

    while (sort && i < ORDERS && strcmp(orders[i], sort)) {
        i++;
    }
    if (i == ORDERS) {
        return "sort: used, hits, bytes, renewals or age is accepted";
    }
    if (most < 1 || most > ROWS_MAX) {
        return "limit: 1 to 100000 is accepted";
    }
    w->filter = (vault_output_filter_t){apr_table_get(params, "match"), apr_table_get(params, "url")};
    w->order = (vault_output_order_t)i;
    w->most = (unsigned)most;
    return NULL;
}

static void write_rows(request_rec *r, const apr_array_header_t *rows)
{
    apr_time_t now = vault_now();
    apr_pool_t *pool;
    int i;

    apr_pool_create(&pool, r->pool);
    for (i = 0; i < rows->nelts && !r->connection->aborted; i++) {
        json_t *json = row_json(&APR_ARRAY_IDX(rows, i, vault_output_row_t), now, pool);
        char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
        if (text) {
            ap_rvputs(r, i ? ",\n" : "\n", text, NULL);
        }
        free(text);
        json_decref(json);
        apr_pool_clear(pool);
    }
    apr_pool_destroy(pool);
}

static int list(request_rec *r, const apr_table_t *params)
{
    const apr_array_header_t *rows;
    const char *wrong;
    unsigned total;
    wanted_t w;

    if ((wrong = read_wanted(&w, params))) {
        return vault_reply_error(r, HTTP_BAD_REQUEST, wrong);
    }
    rows = vault_outputs_list(vault_server->outputs, &w.filter, w.order, w.most, &total, r->pool);
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    ap_set_content_type(r, "application/json");
    ap_rprintf(r, "{\"Found\":%u,\"Outputs\":[", total);
    write_rows(r, rows);
    ap_rputs("]}\n", r);
    return OK;
}

/* ---------------------------------------------------------------------- drop */

static int drop(request_rec *r, const apr_table_t *params)
{
    vault_output_filter_t filter = {apr_table_get(params, "match"), apr_table_get(params, "url")};
    int all = apr_table_get(params, "all") != NULL;

    if (all ? filter.part || filter.url : !(filter.part && *filter.part) == !(filter.url && *filter.url)) {
        return vault_reply_error(r, HTTP_BAD_REQUEST, "one of url=URL, match=TEXT and all=1 is needed");
    }
    return vault_reply_json(
        r, HTTP_OK,
        json_pack("{s:i}", "Dropped", (int)vault_outputs_drop(vault_server->outputs, all ? NULL : &filter)));
}

int vault_cache_listing(request_rec *r)
{
    apr_table_t *params;
    int status = vault_reply_method(r, 1, 1);

    if (status != OK) {
        return status;
    }
    if (r->method_number == M_POST && !vault_origin_is_same(r)) {
        return vault_reply_error(r, HTTP_FORBIDDEN, "a page of another site may not do this");
    }
    if ((status = vault_reply_params(r, &params, VAULT_REPLY_FORM_MAX, r->pool)) != OK) {
        return vault_reply_no_fields(r, status);
    }
    if (!vault_server->outputs) {
        return vault_reply_error(r, HTTP_NOT_FOUND, "there is no output store: VaultCacheMemory is 0");
    }
    return r->method_number == M_POST ? drop(r, params) : list(r, params);
}

/* ---------------------------------------------------------------------- HTML */

static const char *escape(const char *text, apr_pool_t *pool)
{
    return text ? ap_escape_html(pool, text) : "";
}

static void write_html_row(request_rec *r, const vault_output_row_t *row, apr_time_t now, apr_pool_t *pool)
{
    unsigned i;

    ap_rprintf(r, "<tr><td>%s</td><td>%s</td><td>%s</td>", escape(kind_of(row, pool), pool),
               escape(url_of(row, pool), pool), state_of(row));
    for (i = 0; i < VAULT_OUTPUT_FORMS; i++) {
        ap_rprintf(r, "<td>%" APR_UINT64_T_FMT "%s</td>", row->size[i], row->in_file[i] ? " (file)" : "");
    }
    ap_rprintf(r,
               "<td>%" APR_UINT64_T_FMT "</td><td>%" APR_UINT64_T_FMT "</td><td>%s</td><td>%u</td><td>%.1f</td></tr>\n",
               row->hits, row->renewed,
               escape(vault_explain_text(row->personal ? row->personal : row->renewed_by, pool), pool), row->waits,
               seconds(now - row->made));
}

void vault_cache_listing_html(request_rec *r)
{
    const apr_array_header_t *rows;
    apr_time_t now = vault_now();
    unsigned total;
    int i;

    if (!vault_server->outputs) {
        return;
    }
    rows = vault_outputs_list(vault_server->outputs, NULL, VAULT_OUTPUT_BY_HITS, ROWS_HTML, &total, r->pool);
    ap_rprintf(r,
               "<h2>Outputs: the %d used most of %u</h2>\n<table>\n<tr><th>kind</th><th>URL</th><th>state</th>"
               "<th>bytes</th><th>gzip</th><th>brotli</th><th>hits</th><th>renewals</th><th>by interest, or why it is "
               "personal</th><th>waits</th><th>age s</th></tr>\n",
               rows->nelts, total);
    for (i = 0; i < rows->nelts; i++) {
        write_html_row(r, &APR_ARRAY_IDX(rows, i, vault_output_row_t), now, r->pool);
    }
    ap_rputs("</table>\n", r);
}
