/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the gates of VaultQosLimit: each row of the table below is one value of every gate. */
#include "admin/qos_status.h"

#include <stddef.h>

#include "http_protocol.h"

#include "base/metric_text.h"
#include "base/utf8.h"
#include "qos/qos.h"
#include "server/server.h"

/* A value of a gate: its offset in vault_qos_facts_t, and its size of 32 or 64 bits. */
typedef struct column_t {
    const char *name;
    const char *metric;
    const char *meaning;
    int grows;
    apr_size_t offset;
} column_t;

#define AT(field) offsetof(vault_qos_facts_t, field)
static const column_t columns[] = {
    {"Limit", "limit", "requests that may be handled at once: VaultQosLimit", 0, AT(limit)},
    {"PerClient", "per_client", "of these, requests of one client", 0, AT(each)},
    {"Running", "running", "requests that are handled now", 0, AT(running)},
    {"Queued", "queued", "requests that wait to be let in", 0, AT(queued)},
    {"Admitted", "admitted", "requests let in", 1, AT(admitted)},
    {"Refused", "refused", "requests answered with 503: the queue was full, or they could not wait", 1, AT(refused)},
    {"Displaced", "displaced",
     "waiting requests answered with 503: requests of a higher rank, or of clients with fewer requests, took their "
     "places",
     1, AT(displaced)},
    {"TimedOut", "timed_out", "requests answered with 503: VaultQosTimeout", 1, AT(timeouts)},
    {"Gone", "gone", "clients that went away while they waited", 1, AT(gone)},
};
#undef AT
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static apr_uint64_t value_of(const vault_qos_facts_t *facts, const column_t *column)
{
    const char *at = (const char *)facts + column->offset;

    return column->grows ? *(const apr_uint64_t *)(const void *)at : *(const apr_uint32_t *)(const void *)at;
}

/* Advances to the next gate that is configured or still has requests; start with index 0. @return 0: there are
 * no more */
static int next_gate(apr_uint32_t *index, vault_qos_facts_t *facts)
{
    while (++*index <= VAULT_QOS_ROOM) {
        if (!vault_qos_facts(vault_server->qos, *index, facts)) {
            return 0;
        }
        if (facts->configured || facts->running || facts->queued) {
            return 1;
        }
    }
    return 0;
}

json_t *vault_qos_status_json(apr_pool_t *pool)
{
    json_t *gates = json_array();
    vault_qos_facts_t facts;
    apr_uint32_t index = 0;
    apr_size_t i;

    while (next_gate(&index, &facts)) {
        json_t *gate = json_object();
        apr_size_t length; /* a path can be any bytes */
        const char *name = vault_utf8_clean(facts.name, strlen(facts.name), &length, pool);

        json_object_set_new(gate, "Location", json_stringn(name, length));

        for (i = 0; i < COLUMNS; i++) {
            json_object_set_new(gate, columns[i].name, json_integer((json_int_t)value_of(&facts, &columns[i])));
        }
        json_array_append_new(gates, gate);
    }
    return gates;
}

void vault_qos_status_auto(request_rec *r)
{
    vault_qos_facts_t facts;
    apr_uint32_t index = 0;
    int number = 0;
    apr_size_t i;

    while (next_gate(&index, &facts)) {
        ap_rprintf(r, "Qos%dLocation: %s\n", ++number, facts.name);
        for (i = 0; i < COLUMNS; i++) {
            ap_rprintf(r, "Qos%d%s: %" APR_UINT64_T_FMT "\n", number, columns[i].name, value_of(&facts, &columns[i]));
        }
    }
}

static void write_html_head(request_rec *r)
{
    apr_size_t i;

    ap_rputs("<h2>VaultQosLimit</h2>\n<table>\n<tr><th>location</th>", r);
    for (i = 0; i < COLUMNS; i++) {
        ap_rprintf(r, "<th title=\"%s\">%s</th>", columns[i].meaning, columns[i].name);
    }
    ap_rputs("</tr>\n", r);
}

void vault_qos_status_html(request_rec *r)
{
    vault_qos_facts_t facts;
    apr_uint32_t index = 0;
    int rows = 0;
    apr_size_t i;

    while (next_gate(&index, &facts)) {
        if (!rows++) {
            write_html_head(r);
        }
        ap_rprintf(r, "<tr><td>%s</td>", ap_escape_html(r->pool, facts.name));
        for (i = 0; i < COLUMNS; i++) {
            ap_rprintf(r, "<td>%" APR_UINT64_T_FMT "</td>", value_of(&facts, &columns[i]));
        }
        ap_rputs("</tr>\n", r);
    }
    if (rows) {
        ap_rputs("</table>\n", r);
    }
}

/* The lines of a family have to be together, so this walks over all gates for each family. */
static void write_family(request_rec *r, const column_t *column)
{
    vault_qos_facts_t facts;
    apr_uint32_t index = 0;
    int lines = 0;

    while (next_gate(&index, &facts)) {
        if (!lines++) {
            ap_rprintf(r, "# TYPE vault_qos_%s %s\n# HELP vault_qos_%s %s\n", column->metric,
                       column->grows ? "counter" : "gauge", column->metric, column->meaning);
        }
        ap_rprintf(r, "vault_qos_%s%s{location=\"%s\"} %" APR_UINT64_T_FMT "\n", column->metric,
                   column->grows ? "_total" : "", vault_metric_label(facts.name, r->pool), value_of(&facts, column));
    }
}

void vault_qos_status_metrics(request_rec *r)
{
    apr_size_t i;

    for (i = 0; i < COLUMNS; i++) {
        write_family(r, &columns[i]);
    }
}
