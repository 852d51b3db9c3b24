/* SPDX-License-Identifier: Apache-2.0 */
/* The output store of this server: created from the directives VaultCache…, and swept. */
#include "server/outputs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "server/log.h"
#include "server/server.h"
#include "server/settings.h"

APLOG_USE_MODULE(vault);

#define BYTES_PER_ENTRY 4096
#define ENTRIES_MIN 256
#define ENTRIES_MAX 65536
/* An entry that no request used for so long gives back the interests that it holds. */
#define IDLE apr_time_from_sec(3600)

static vault_output_limits_t limits(void)
{
    const vault_settings_t *s = vault_settings();
    apr_uint64_t entries = (apr_uint64_t)s->cache_memory / BYTES_PER_ENTRY;
    vault_output_limits_t l = {.memory = (apr_uint64_t)s->cache_memory,
                               .memory_max = (apr_uint64_t)s->cache_memory_max,
                               .root = s->cache_root,
                               .files = (apr_uint64_t)s->cache_root_size};

    l.entries = entries < ENTRIES_MIN ? ENTRIES_MIN : entries > ENTRIES_MAX ? ENTRIES_MAX : (apr_uint32_t)entries;
    return l;
}

apr_uint64_t vault_server_outputs_space(void)
{
    vault_output_limits_t l = limits();

    return l.memory ? vault_outputs_space(&l) : 0;
}

int vault_server_outputs_make(vault_outputs_t **outputs, vault_segment_t *segment, vault_notifier_t *notifier,
                              server_rec *s)
{
    vault_output_limits_t l = limits();
    apr_status_t rv = APR_SUCCESS;

    *outputs = NULL;
    if (l.memory) {
        rv = vault_outputs_create(outputs, segment, notifier, &l, s->process->pool);
    }
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_EMERG, rv, s,
                     VLTNO(00392) "the output store of VaultCacheMemory %" APR_UINT64_T_FMT
                                  "K cannot be made, with VaultCacheRoot %s",
                     l.memory >> 10, l.root ? l.root : "(none)");
    }
    return rv == APR_SUCCESS;
}

static int have_changed(const vault_outputs_t *outputs)
{
    const vault_output_limits_t *made = outputs ? vault_outputs_limits(outputs) : NULL;
    vault_output_limits_t l = limits();

    if (!made || !l.memory) {
        return made || l.memory;
    }
    return made->memory != l.memory || made->memory_max != l.memory_max || made->files != l.files ||
           strcmp(made->root ? made->root : "", l.root ? l.root : "");
}

void vault_server_outputs_restart(vault_outputs_t *outputs, server_rec *s)
{
    if (outputs) {
        vault_outputs_invalidate(outputs);
    }
    if (have_changed(outputs)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s,
                     VLTNO(00393) "VaultCacheMemory, VaultCacheMemoryMax, VaultCacheRoot and VaultCacheRootSize count "
                                  "from the next stop and start on; the output store is kept as it is");
    }
}

/* The parent cannot know this: it mostly runs as root. All children are alike, so the first one says it. */
void vault_server_outputs_start(void)
{
    const char *root;

    if (!vault_server->outputs) {
        return;
    }
    vault_outputs_set_slot(vault_server->outputs, vault_server->slot);
    root = vault_outputs_limits(vault_server->outputs)->root;
    if (root && vault_server->slot == 1 && access(root, R_OK | W_OK | X_OK)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, APR_FROM_OS_ERROR(errno), vault_server->s,
                     VLTNO(00394) "the user of the children may not use VaultCacheRoot %s: outputs above "
                                  "VaultCacheMemoryMax are not kept",
                     root);
    }
}

/* Once a minute in each child, and each failure is counted by one child. */
static void say_errors(apr_time_t now)
{
    static apr_time_t said;
    apr_uint64_t errors;
    apr_status_t why;

    if ((said && now - said < apr_time_from_sec(60)) ||
        !(errors = vault_outputs_write_errors(vault_server->outputs, &why))) {
        return;
    }
    said = now;
    ap_log_error(APLOG_MARK, APLOG_WARNING, why, vault_server->s,
                 VLTNO(00395) "%" APR_UINT64_T_FMT
                              " outputs were not kept: they cannot be written to VaultCacheRoot %s",
                 errors, vault_outputs_limits(vault_server->outputs)->root);
}

void vault_server_outputs_sweep(apr_time_t now)
{
    if (vault_server->outputs) {
        vault_outputs_sweep(vault_server->outputs, now, IDLE);
        say_errors(now);
    }
}
