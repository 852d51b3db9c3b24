/* SPDX-License-Identifier: Apache-2.0 */
/* The status page: metrics in total and by child, and the reports of feeds. */
#include "admin/status.h"

#include <jansson.h>

#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"

#include "admin/cache_listing.h"
#include "admin/cache_status.h"
#include "admin/checkup.h"
#include "admin/cluster_status.h"
#include "admin/explain.h"
#include "admin/feed_status.h"
#include "admin/metrics_rows.h"
#include "admin/listing.h"
#include "admin/metrics.h"
#include "admin/qos_status.h"
#include "admin/monitor.h"
#include "feed/feed_report.h"
#include "poll/dispatcher.h"
#include "request/body.h"
#include "request/reply.h"
#include "server/server.h"

static void set_row(json_t *object, const vault_metrics_row_t *f, apr_uint64_t value)
{
    json_object_set_new(object, f->name, json_integer((json_int_t)value));
}

static json_t *total_json(void)
{
    json_t *total = json_object();
    unsigned count, i;
    const vault_metrics_row_t *rows = vault_metrics_rows(&count);

    for (i = 0; i < count; i++) {
        set_row(total, &rows[i], vault_metrics_row_total(&rows[i]));
    }
    return total;
}

static json_t *child_json(unsigned slot)
{
    json_t *child =
        json_pack("{s:i, s:i}", "Slot", (int)slot, "Pid", (int)vault_slot_pid(vault_server->notifier, slot));
    unsigned count, i;
    const vault_metrics_row_t *rows = vault_metrics_rows(&count);

    for (i = 0; i < count; i++) {
        if (vault_metrics_row_is_by_child(&rows[i])) {
            set_row(child, &rows[i], vault_metrics_row_of_child(&rows[i], slot));
        }
    }
    return child;
}

static json_t *children_json(void)
{
    json_t *children = json_array();
    unsigned slot;

    for (slot = vault_metrics_rows_next_child(0); slot; slot = vault_metrics_rows_next_child(slot)) {
        json_array_append_new(children, child_json(slot));
    }
    return children;
}

/* ---------------------------------------------------------------------- forms */

static int write_auto(request_rec *r)
{
    json_t *total = total_json(), *children = children_json(), *child, *value;
    const char *name;
    size_t i;

    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    ap_set_content_type(r, "text/plain; charset=utf-8");
    json_object_foreach(total, name, value)
    {
        ap_rprintf(r, "%s: %" APR_INT64_T_FMT "\n", name, (apr_int64_t)json_integer_value(value));
    }
    ap_rprintf(r, "Children: %d\n", (int)json_array_size(children));
    json_array_foreach(children, i, child)
    {
        int slot = (int)json_integer_value(json_object_get(child, "Slot"));
        json_object_foreach(child, name, value)
        {
            ap_rprintf(r, "Child%d%s: %" APR_INT64_T_FMT "\n", slot, name, (apr_int64_t)json_integer_value(value));
        }
    }
    json_decref(total);
    json_decref(children);
    vault_cache_status_auto(r);
    vault_cluster_status_auto(r);
    vault_qos_status_auto(r);
    vault_feed_status_auto(r, vault_feed_reports(r->pool));
    return OK;
}

static void write_child(request_rec *r, unsigned slot)
{
    unsigned count, i;
    const vault_metrics_row_t *rows = vault_metrics_rows(&count);

    ap_rprintf(r, "<tr><td>%u</td><td>%d</td>", slot, (int)vault_slot_pid(vault_server->notifier, slot));
    for (i = 0; i < count; i++) {
        if (vault_metrics_row_is_by_child(&rows[i])) {
            ap_rprintf(r, "<td>%" APR_UINT64_T_FMT "</td>", vault_metrics_row_of_child(&rows[i], slot));
        }
    }
    ap_rputs("</tr>\n", r);
}

static void write_children(request_rec *r)
{
    unsigned count, i, slot;
    const vault_metrics_row_t *rows = vault_metrics_rows(&count);

    ap_rputs("<h2>Children</h2>\n<table>\n<tr><th>slot</th><th>pid</th>", r);
    for (i = 0; i < count; i++) {
        if (vault_metrics_row_is_by_child(&rows[i])) {
            ap_rprintf(r, "<th title=\"%s\">%s</th>", rows[i].meaning, rows[i].name);
        }
    }
    ap_rputs("</tr>\n", r);
    for (slot = vault_metrics_rows_next_child(0); slot; slot = vault_metrics_rows_next_child(slot)) {
        write_child(r, slot);
    }
    ap_rputs("</table>\n", r);
}

static int write_html(request_rec *r)
{
    unsigned count, i;
    const vault_metrics_row_t *rows = vault_metrics_rows(&count);

    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    ap_set_content_type(r, "text/html; charset=utf-8");
    ap_rprintf(r,
               "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Vault "
               "Status</title></head>\n<body>\n"
               "<h1>Vault Status for %s</h1>\n<table>\n",
               ap_escape_html(r->pool, ap_get_server_name(r)));
    for (i = 0; i < count; i++) {
        ap_rprintf(r, "<tr><th>%s</th><td>%" APR_UINT64_T_FMT "</td><td>%s</td></tr>\n", rows[i].name,
                   vault_metrics_row_total(&rows[i]), rows[i].meaning);
    }
    ap_rputs("</table>\n", r);
    vault_cache_status_html(r);
    vault_cluster_status_html(r);
    vault_qos_status_html(r);
    vault_feed_status_html(r, vault_feed_reports(r->pool));
    write_children(r);
    ap_rputs("</body>\n</html>\n", r);
    return OK;
}

/* ------------------------------------------------------------------- which one */

static int write_json(request_rec *r)
{
    json_t *total = total_json();

    json_object_set_new(total, "Personal", vault_cache_status_json());
    json_object_set_new(total, "Qos", vault_qos_status_json(r->pool));
    json_object_set_new(total, "Feeds", vault_feed_status_json(vault_feed_reports(r->pool)));
    json_object_set_new(total, "Children", children_json());
    return vault_reply_json(r, HTTP_OK, total);
}

static int accepts(request_rec *r, const char *type)
{
    const char *accept = apr_table_get(r->headers_in, "Accept");

    return accept && ap_strcasestr(accept, type) != NULL;
}

/* ?page=ID */
static int write_page(request_rec *r)
{
    const char *id = ap_strchr_c(r->args, '=');

    return vault_explain(r, id ? id + 1 : "");
}

/* A page of vault_monitor() is polled at the URL that has created it, so that one Require is enough. */
static int poll_page(request_rec *r)
{
    r->handler = "vault-poll";
    return vault_dispatcher_handler(r);
}

/* The first word of the query selects the format. */
static const struct form_t {
    const char *word;
    int (*write)(request_rec *r);
    int by_any; /* the function checks the HTTP method itself */
} forms[] = {
    {"auto", write_auto, 0},
    {"json", write_json, 0},
    {"metrics", vault_metrics_write, 0},
    {"page", write_page, 0},
    {"pages", vault_listing, 0},
    {"check", vault_checkup, 0},
    {"cluster", vault_cluster_status_write, 0},
    {"cache", vault_cache_listing, 1},
    {"monitor", vault_monitor, 1},
    {"tail", vault_monitor, 1},
    {"poll", poll_page, 1},
};

static const struct form_t *form_asked(const request_rec *r)
{
    apr_size_t length = r->args ? strcspn(r->args, "&=") : 0;
    unsigned i;

    for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (length == strlen(forms[i].word) && !strncmp(r->args, forms[i].word, length)) {
            return &forms[i];
        }
    }
    return NULL;
}

int vault_status_handler(request_rec *r)
{
    const struct form_t *form;
    int status;

    if (!r->handler || strcmp(r->handler, "vault-status")) {
        return DECLINED;
    }
    form = form_asked(r);
    if (form && form->by_any) {
        return form->write(r);
    }
    if (r->method_number != M_GET && (status = vault_reply_method(r, 1, 0)) != OK) {
        return status;
    }
    vault_body_discard(r);
    if (form || r->args) {
        return form ? form->write(r) : write_html(r);
    }
    return accepts(r, "application/openmetrics-text") ? vault_metrics_write(r)
           : accepts(r, "application/json")           ? write_json(r)
                                                      : write_html(r);
}
