/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the tables, and those of counters.h. */
#include "admin/metrics_rows.h"

#include <stddef.h>

#include "cluster/cluster_facts.h"
#include "output/output_store.h"
#include "page/page.h"
#include "qos/qos.h"
#include "server/server.h"
#include "shm/heap.h"

static apr_uint64_t pages_now(void)
{
    return vault_pages_count(vault_server->pages);
}

static apr_uint64_t pages_max(void)
{
    return vault_segment_limits(vault_server->segment)->pages;
}

static apr_uint64_t sessions_now(void)
{
    return vault_sessions_count(vault_server->pages);
}

static apr_uint64_t sessions_max(void)
{
    return vault_pages_limits(vault_server->pages)->sessions;
}

static apr_uint64_t interests_now(void)
{
    return vault_interest_count(vault_server->notifier);
}

static apr_uint64_t interests_max(void)
{
    return vault_segment_limits(vault_server->segment)->interests;
}

static apr_uint64_t heap_used(void)
{
    return vault_heap_used(vault_server->heap);
}

static apr_uint64_t heap_size(void)
{
    return vault_heap_size(vault_server->heap);
}

static apr_uint64_t heap_lost(void)
{
    return vault_pages_lost(vault_server->pages);
}

static vault_qos_usage_t qos_usage(void)
{
    vault_qos_usage_t usage;

    vault_qos_usage(vault_server->qos, &usage);
    return usage;
}

static apr_uint64_t qos_passes(void)
{
    return qos_usage().used;
}

static apr_uint64_t qos_passes_max(void)
{
    return qos_usage().passes;
}

static apr_uint64_t qos_shortages(void)
{
    return qos_usage().shortages;
}

/* ------------------------------------------------------------- the output store */

static vault_output_totals_t output_totals(void)
{
    vault_output_totals_t totals = {0};

    if (vault_server->outputs) {
        vault_outputs_totals(vault_server->outputs, &totals);
    }
    return totals;
}

static vault_output_limits_t output_limits(void)
{
    return vault_server->outputs ? *vault_outputs_limits(vault_server->outputs) : (vault_output_limits_t){0};
}

static apr_uint64_t outputs_now(void)
{
    return output_totals().entries;
}

static apr_uint64_t outputs_max(void)
{
    return output_limits().entries;
}

static apr_uint64_t output_memory(void)
{
    return output_totals().memory;
}

static apr_uint64_t output_memory_max(void)
{
    return output_limits().memory;
}

static apr_uint64_t output_files(void)
{
    return output_totals().files;
}

static apr_uint64_t output_files_max(void)
{
    return output_limits().root ? output_limits().files : 0;
}

static apr_uint64_t output_hits(void)
{
    return output_totals().hits;
}

static apr_uint64_t output_misses(void)
{
    return output_totals().misses;
}

static apr_uint64_t output_waits(void)
{
    return output_totals().waits;
}

static apr_uint64_t output_renewals(void)
{
    return output_totals().renewed;
}

static apr_uint64_t output_evictions(void)
{
    return output_totals().evicted;
}

static apr_uint64_t cluster_servers(void)
{
    return vault_cluster_count();
}

#define COUNTER(field, name, meaning) {name, meaning, 1, NULL, offsetof(vault_counters_t, field)},
#define GAUGE(field, name, meaning) {name, meaning, 0, NULL, offsetof(vault_counters_t, field)},
static const vault_metrics_row_t rows[] = {
    {"Pages", "pages now", 0, pages_now, 0},
    {"PagesMax", "the most pages and sessions: VaultMaxPages", 0, pages_max, 0},
    {"Sessions", "sessions now", 0, sessions_now, 0},
    {"SessionsMax", "the most sessions: VaultMaxSessions", 0, sessions_max, 0},
    {"Interests", "interests that are held now", 0, interests_now, 0},
    {"InterestsMax", "the most interests: VaultMaxInterests", 0, interests_max, 0},
    {"HeapUsed", "bytes of shared memory in use for the states of pages", 0, heap_used, 0},
    {"HeapSize", "bytes of shared memory for the states of pages", 0, heap_size, 0},
    {"HeapLost", "bytes of HeapUsed that were lost with killed children, until the server is stopped", 0, heap_lost, 0},
    {"QosPasses", "requests that are handled or queued at all VaultQosLimit now", 0, qos_passes, 0},
    {"QosPassesMax", "requests of this kind that the shared memory has room for", 0, qos_passes_max, 0},
    {"QosShortages", "requests refused because their VaultQosLimit had no room in it", 1, qos_shortages, 0},
    {"Outputs", "outputs in the output store now", 0, outputs_now, 0},
    {"OutputsMax", "the most outputs that it has room for", 0, outputs_max, 0},
    {"OutputMemory", "bytes of outputs in its memory", 0, output_memory, 0},
    {"OutputMemoryMax", "the most bytes in its memory: VaultCacheMemory", 0, output_memory_max, 0},
    {"OutputFiles", "bytes of outputs in files", 0, output_files, 0},
    {"OutputFilesMax", "the most bytes in files: VaultCacheRootSize", 0, output_files_max, 0},
    {"OutputHits", "kept outputs that were used", 1, output_hits, 0},
    {"OutputMisses", "outputs that were rendered to be kept", 1, output_misses, 0},
    {"OutputWaits", "requests that were told to wait for another one that renders", 1, output_waits, 0},
    {"OutputRenewals", "outputs that took the place of an outdated one", 1, output_renewals, 0},
    {"OutputEvictions", "outputs that were evicted to make room for others", 1, output_evictions, 0},
    {"ClusterServers", "servers of the cluster that are heard now, with this one", 0, cluster_servers, 0},
    VAULT_COUNTERS(COUNTER, GAUGE)};
#undef GAUGE
#undef COUNTER

const vault_metrics_row_t *vault_metrics_rows(unsigned *count)
{
    *count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}

int vault_metrics_row_is_by_child(const vault_metrics_row_t *f)
{
    return !f->now;
}

apr_uint64_t vault_metrics_row_of_child(const vault_metrics_row_t *f, unsigned slot)
{
    const char *counters = (const char *)vault_slot_counters(vault_server->notifier, slot);

    return __atomic_load_n((const apr_uint64_t *)(const void *)(counters + f->offset), __ATOMIC_RELAXED);
}

unsigned vault_metrics_rows_next_child(unsigned slot)
{
    while (++slot <= vault_slot_last(vault_server->notifier)) {
        if (vault_slot_pid(vault_server->notifier, slot)) {
            return slot;
        }
    }
    return 0;
}

apr_uint64_t vault_metrics_row_total(const vault_metrics_row_t *f)
{
    apr_uint64_t sum;
    unsigned slot;

    if (f->now) {
        return f->now();
    }
    sum = vault_metrics_row_of_child(f, 0);
    for (slot = vault_metrics_rows_next_child(0); slot; slot = vault_metrics_rows_next_child(slot)) {
        sum += vault_metrics_row_of_child(f, slot);
    }
    return sum;
}
