/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics in the format of OpenMetrics, and on the page of mod_status. */
#include "admin/metrics.h"

#include "apr_optional_hooks.h"
#include "apr_strings.h"
#include "http_protocol.h"
#include "mod_status.h"

#include "admin/cache_status.h"
#include "admin/feed_status.h"
#include "admin/metrics_rows.h"
#include "admin/qos_status.h"
#include "base/metric_text.h"
#include "feed/feed_report.h"
#include "server/server.h"

/* The section on the page of mod_status is short, so it shows only these. */
static const char *const in_mod_status[] = {"Pages",    "Interests", "Waiting", "Answers",
                                            "Notifies", "Failures",  "Refused"};

int vault_metrics_write(request_rec *r)
{
    unsigned count, i;
    const vault_metrics_row_t *rows = vault_metrics_rows(&count);

    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    ap_set_content_type(r, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    for (i = 0; i < count; i++) {
        const char *metric = vault_metric_name("vault", rows[i].name, r->pool);
        ap_rprintf(r, "# TYPE %s %s\n# HELP %s %s\n%s%s %" APR_UINT64_T_FMT "\n", metric,
                   rows[i].grows ? "counter" : "gauge", metric, rows[i].meaning, metric, rows[i].grows ? "_total" : "",
                   vault_metrics_row_total(&rows[i]));
    }
    vault_cache_status_metrics(r);
    vault_qos_status_metrics(r);
    vault_feed_status_metrics(r, vault_feed_reports(r->pool));
    ap_rputs("# EOF\n", r);
    return OK;
}

static int is_in_mod_status(const char *name)
{
    unsigned i;

    for (i = 0; i < sizeof(in_mod_status) / sizeof(in_mod_status[0]); i++) {
        if (!strcmp(name, in_mod_status[i])) {
            return 1;
        }
    }
    return 0;
}

static int write_in_mod_status(request_rec *r, int flags)
{
    unsigned count, i;
    const vault_metrics_row_t *rows = vault_metrics_rows(&count);
    const char *separator = "";

    if (!(flags & AP_STATUS_SHORT)) {
        ap_rputs("<hr />\n<h2>mod_vault</h2>\n<p>", r);
    }
    for (i = 0; i < count; i++) {
        if (!is_in_mod_status(rows[i].name)) {
            continue;
        }
        if (flags & AP_STATUS_SHORT) {
            ap_rprintf(r, "Vault%s: %" APR_UINT64_T_FMT "\n", rows[i].name, vault_metrics_row_total(&rows[i]));
        }
        else {
            ap_rprintf(r, "%s%" APR_UINT64_T_FMT " %s", separator, vault_metrics_row_total(&rows[i]), rows[i].meaning);
            separator = ", ";
        }
    }
    if (!(flags & AP_STATUS_SHORT)) {
        ap_rputs("</p>\n", r);
    }
    return OK;
}

void vault_metrics_hooks(void)
{
    APR_OPTIONAL_HOOK(ap, status_hook, write_in_mod_status, NULL, NULL, APR_HOOK_MIDDLE);
}
