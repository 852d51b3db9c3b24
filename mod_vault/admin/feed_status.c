/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the reports of feeds. */
#include "admin/feed_status.h"

#include "apr_strings.h"
#include "http_protocol.h"

#include "base/metric_text.h"
#include "feed/feed_report.h"

static const vault_feed_report_t *report_at(const apr_array_header_t *reports, int i)
{
    return &APR_ARRAY_IDX(reports, i, const vault_feed_report_t);
}

/* A value as text. NULL: it has none. */
static const char *text_of(const vault_feed_value_t *value, apr_pool_t *pool)
{
    return value->type == VAULT_FEED_VALUE_NUMBER ? apr_psprintf(pool, "%" APR_INT64_T_FMT, value->number)
                                                  : value->text;
}

/* ------------------------------------------------------------------ JSON, text */

static json_t *value_json(const vault_feed_value_t *value)
{
    return value->type == VAULT_FEED_VALUE_NUMBER ? json_integer((json_int_t)value->number)
           : value->text                          ? json_string(value->text)
                                                  : json_null();
}

json_t *vault_feed_status_json(const apr_array_header_t *reports)
{
    json_t *feeds = json_array();
    int i, k;

    for (i = 0; i < reports->nelts; i++) {
        const vault_feed_report_t *report = report_at(reports, i);
        json_t *feed =
            json_pack("{s:s, s:s, s:s?}", "Name", report->name, "Kind", report->kind, "Error", report->error);

        for (k = 0; report->figures[k].name; k++) {
            json_object_set_new(feed, report->figures[k].name, value_json(&report->values[k]));
        }
        json_array_append_new(feeds, feed);
    }
    return feeds;
}

static void write_line(request_rec *r, int number, const char *name, const char *value)
{
    if (value) {
        ap_rprintf(r, "Feed%d%s: %s\n", number, name, value);
    }
}

void vault_feed_status_auto(request_rec *r, const apr_array_header_t *reports)
{
    int i, k;

    for (i = 0; i < reports->nelts; i++) {
        const vault_feed_report_t *report = report_at(reports, i);

        write_line(r, i + 1, "Name", report->name);
        write_line(r, i + 1, "Kind", report->kind);
        write_line(r, i + 1, "Error", report->error);
        for (k = 0; report->figures[k].name; k++) {
            write_line(r, i + 1, report->figures[k].name, text_of(&report->values[k], r->pool));
        }
    }
}

/* ------------------------------------------------------------------ HTML */

static void write_row(request_rec *r, const char *name, const char *value, const char *meaning)
{
    ap_rprintf(r, "<tr><th>%s</th><td>%s</td><td>%s</td></tr>\n", ap_escape_html(r->pool, name),
               ap_escape_html(r->pool, value), ap_escape_html(r->pool, meaning));
}

void vault_feed_status_html(request_rec *r, const apr_array_header_t *reports)
{
    int i, k;

    for (i = 0; i < reports->nelts; i++) {
        const vault_feed_report_t *report = report_at(reports, i);

        ap_rprintf(r, "<h2>Feed %s (%s)</h2>\n<table>\n", ap_escape_html(r->pool, report->name),
                   ap_escape_html(r->pool, report->kind));
        if (report->error) {
            write_row(r, "Error", report->error, "why values are missing");
        }
        for (k = 0; report->figures[k].name; k++) {
            const char *value = text_of(&report->values[k], r->pool);

            write_row(r, report->figures[k].name, value ? value : "", report->figures[k].meaning);
        }
        ap_rputs("</table>\n", r);
    }
}

/* ------------------------------------------------------------------ OpenMetrics */

static const char *metric_of(const vault_feed_report_t *report, const vault_feed_figure_t *figure, apr_pool_t *pool)
{
    return vault_metric_name(vault_metric_name("vault_feed_", report->kind, pool), figure->name, pool);
}

/* The index of this metric among the figures of a feed; -1: the feed does not have it, or has another kind of
 * it. */
static int find_metric(const vault_feed_report_t *report, const char *metric, unsigned kind, apr_pool_t *pool)
{
    int k;

    for (k = 0; report->figures[k].name; k++) {
        if (report->figures[k].kind == kind && !strcmp(metric_of(report, &report->figures[k], pool), metric)) {
            return k;
        }
    }
    return -1;
}

/* Does an earlier feed have the metric, of any kind? Then its family has been written. */
static int was_written(const apr_array_header_t *reports, int before, const char *metric, apr_pool_t *pool)
{
    int i;

    for (i = 0; i < before; i++) {
        if (find_metric(report_at(reports, i), metric, VAULT_FIGURE_GAUGE, pool) >= 0 ||
            find_metric(report_at(reports, i), metric, VAULT_FIGURE_COUNTER, pool) >= 0) {
            return 1;
        }
    }
    return 0;
}

static void write_sample(request_rec *r, const char *metric, int grows, const char *feed, apr_int64_t value)
{
    ap_rprintf(r, "%s%s{feed=\"%s\"} %" APR_INT64_T_FMT "\n", metric, grows ? "_total" : "",
               vault_metric_label(feed, r->pool), value);
}

static void write_head(request_rec *r, const char *metric, const vault_feed_figure_t *figure)
{
    ap_rprintf(r, "# TYPE %s %s\n# HELP %s %s\n", metric, figure->kind == VAULT_FIGURE_COUNTER ? "counter" : "gauge",
               metric, vault_metric_label(figure->meaning, r->pool));
}

/* The samples of a family have to be together, so this writes those of all feeds from this one on. */
static void write_family(request_rec *r, const apr_array_header_t *reports, int first, int figure)
{
    const vault_feed_figure_t *f = &report_at(reports, first)->figures[figure];
    const char *metric = metric_of(report_at(reports, first), f, r->pool);
    int samples = 0, i;

    if (f->kind == VAULT_FIGURE_FACT || was_written(reports, first, metric, r->pool)) {
        return;
    }
    for (i = first; i < reports->nelts; i++) {
        const vault_feed_report_t *report = report_at(reports, i);
        int k = find_metric(report, metric, f->kind, r->pool);

        if (k >= 0 && report->values[k].type == VAULT_FEED_VALUE_NUMBER) {
            if (!samples++) {
                write_head(r, metric, f);
            }
            write_sample(r, metric, f->kind == VAULT_FIGURE_COUNTER, report->name, report->values[k].number);
        }
    }
}

void vault_feed_status_metrics(request_rec *r, const apr_array_header_t *reports)
{
    int i, k;

    if (reports->nelts) {
        ap_rputs(
            "# TYPE vault_feed_up gauge\n# HELP vault_feed_up the feed works, and reports its figures: 1; else 0\n", r);
    }
    for (i = 0; i < reports->nelts; i++) {
        write_sample(r, "vault_feed_up", 0, report_at(reports, i)->name, !report_at(reports, i)->error);
    }
    for (i = 0; i < reports->nelts; i++) {
        for (k = 0; report_at(reports, i)->figures[k].name; k++) {
            write_family(r, reports, i, k);
        }
    }
}
