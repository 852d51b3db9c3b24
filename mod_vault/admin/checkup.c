/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each table under its own locks while the server runs. */
#include "admin/checkup.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>

#include "ap_mpm.h"
#include "apr_strings.h"
#include "http_config.h"

#include "admin/metrics_rows.h"
#include "base/now.h"
#include "output/output_store.h"
#include "page/page.h"
#include "qos/qos.h"
#include "request/reply.h"
#include "server/mpm_limits.h"
#include "server/server.h"
#include "server/settings.h"
#include "shm/client_table.h"
#include "shm/heap.h"

#define PARENT_HEARS apr_time_from_sec(5)

static void add_wrong(json_t *list, const char *table, const char *wrong)
{
    if (wrong) {
        json_array_append_new(list, json_sprintf("%s: %s", table, wrong));
    }
}

static int is_gone(pid_t pid)
{
    return pid && kill(pid, 0) && errno == ESRCH;
}

/* A slot outlives its child until the parent has learned of its end. That takes a second, or as long as the
 * parent reads its configuration. */
static void look_at_children(json_t *wrong)
{
    apr_time_t end = vault_now() + PARENT_HEARS;
    unsigned slot;

    for (slot = vault_metrics_rows_next_child(0); slot; slot = vault_metrics_rows_next_child(slot)) {
        pid_t pid = vault_slot_pid(vault_server->notifier, slot);
        int gone = is_gone(pid);

        while (gone && vault_slot_pid(vault_server->notifier, slot) == pid && vault_now() < end) {
            apr_sleep(apr_time_from_msec(100));
        }
        if (gone && vault_slot_pid(vault_server->notifier, slot) == pid) {
            add_wrong(wrong, "slots", "a child that is gone still has one");
        }
    }
}

static json_t *strings(const apr_array_header_t *list)
{
    json_t *array = json_array();
    int i;

    for (i = 0; i < list->nelts; i++) {
        json_array_append_new(array, json_string(APR_ARRAY_IDX(list, i, const char *)));
    }
    return array;
}

/* The limits of httpd and of the module's directives, as docs/protocol.md describes them. */
static json_t *limits(void)
{
    int threads = 0, servers = 0;
    vault_mpm_limits_t mpm;

    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &servers);
    vault_mpm_limits_of_child(&mpm);
    return json_pack("{s:s, s:b, s:b, s:i, s:i, s:I, s:I, s:I, s:I, s:i}", "MPM", ap_show_mpm(), "Parking",
                     vault_server->can_park, "Bell", vault_server->can_park, "Children", servers, "Threads", threads,
                     "Waiting", (json_int_t)mpm.waiting, "ByConnections", (json_int_t)mpm.connections, "ByDescriptors",
                     (json_int_t)mpm.descriptors, "WaitingPerClient", (json_int_t)vault_mpm_limits_of_client(&mpm),
                     "LongPollThreads", vault_settings()->threads);
}

int vault_checkup(request_rec *r)
{
    json_t *wrong = json_array();

    add_wrong(wrong, "interests and queues", vault_notifier_check_live(vault_server->notifier));
    add_wrong(wrong, "shared memory", vault_heap_check(vault_server->heap));
    add_wrong(wrong, "pages", vault_pages_check_live(vault_server->pages, r->pool));
    add_wrong(wrong, "clients", vault_clients_check(vault_server->clients));
    add_wrong(wrong, "VaultQosLimit", vault_qos_check(vault_server->qos));
    if (vault_server->outputs) {
        add_wrong(wrong, "outputs", vault_outputs_check(vault_server->outputs));
    }
    look_at_children(wrong);
    return vault_reply_json(r, HTTP_OK,
                            json_pack("{s:o, s:o, s:o, s:I, s:I, s:I}", "Wrong", wrong, "Warnings",
                                      strings(vault_mpm_limits_warnings(r)), "Limits", limits(), "Pages",
                                      (json_int_t)vault_pages_count(vault_server->pages), "Interests",
                                      (json_int_t)vault_interest_count(vault_server->notifier), "HeapUsed",
                                      (json_int_t)vault_heap_used(vault_server->heap)));
}
