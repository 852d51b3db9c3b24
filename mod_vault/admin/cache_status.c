/* SPDX-License-Identifier: Apache-2.0 */
/* Shows why outputs are personal. */
#include "admin/cache_status.h"

#include "apr_lib.h"
#include "http_protocol.h"

#include "admin/metrics_rows.h"
#include "admin/cache_listing.h"
#include "server/server.h"

/* Indexed by vault_personal_t; the first one is no reason. */
static const struct reason_t {
    const char *label, *meaning;
} reasons[VAULT_PERSONAL_COUNT] = {{NULL, NULL},
#define ROW(name, label, meaning) {label, meaning},
                                   VAULT_PERSONAL_REASONS(ROW)
#undef ROW
};

static apr_uint64_t of_child(unsigned slot, unsigned reason)
{
    return __atomic_load_n(&vault_slot_counters(vault_server->notifier, slot)->personal[reason], __ATOMIC_RELAXED);
}

static apr_uint64_t total_of(unsigned reason)
{
    apr_uint64_t sum = of_child(0, reason);
    unsigned slot;

    for (slot = vault_metrics_rows_next_child(0); slot; slot = vault_metrics_rows_next_child(slot)) {
        sum += of_child(slot, reason);
    }
    return sum;
}

const char *vault_cache_status_meaning(unsigned reason)
{
    return reason < VAULT_PERSONAL_COUNT ? reasons[reason].meaning : NULL;
}

json_t *vault_cache_status_json(void)
{
    json_t *personal = json_object();
    unsigned i;

    for (i = 1; i < VAULT_PERSONAL_COUNT; i++) {
        json_object_set_new(personal, reasons[i].label, json_integer((json_int_t)total_of(i)));
    }
    return personal;
}

void vault_cache_status_auto(request_rec *r)
{
    unsigned i;

    for (i = 1; i < VAULT_PERSONAL_COUNT; i++) {
        ap_rprintf(r, "Personal%c%s: %" APR_UINT64_T_FMT "\n", apr_toupper(reasons[i].label[0]), reasons[i].label + 1,
                   total_of(i));
    }
}

void vault_cache_status_html(request_rec *r)
{
    unsigned i;

    ap_rputs("<h2>Personal outputs</h2>\n<table>\n", r);
    for (i = 1; i < VAULT_PERSONAL_COUNT; i++) {
        ap_rprintf(r, "<tr><th>%s</th><td>%" APR_UINT64_T_FMT "</td><td>%s</td></tr>\n", reasons[i].label, total_of(i),
                   reasons[i].meaning);
    }
    ap_rputs("</table>\n", r);
    vault_cache_listing_html(r);
}

void vault_cache_status_metrics(request_rec *r)
{
    unsigned i;

    ap_rputs("# TYPE vault_personal counter\n# HELP vault_personal outputs that were not shared, by reason\n", r);
    for (i = 1; i < VAULT_PERSONAL_COUNT; i++) {
        ap_rprintf(r, "vault_personal_total{reason=\"%s\"} %" APR_UINT64_T_FMT "\n", reasons[i].label, total_of(i));
    }
}
