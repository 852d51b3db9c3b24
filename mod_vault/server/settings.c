/* SPDX-License-Identifier: Apache-2.0 */
/* The server-wide directives. An invalid value stops the start with a sentence that names the directive, the
 * value and the accepted range. */
#include "server/settings.h"

#include "apr_file_info.h"
#include "apr_strings.h"
#include "http_core.h"

#include "page/page.h"
#include "shm/heap.h"

static vault_settings_t settings;

const vault_settings_t *vault_settings(void)
{
    return &settings;
}

void vault_settings_reset(void)
{
    static const vault_settings_t defaults = {
        .limits = {.size = 64 * 1024 * 1024, .interests = 65536, .pages = 10000},
        .page_timeout = 300,
        .max_client_pages = 1000,
        .max_page_interests = VAULT_PAGE_INTERESTS,
        .threads = 8,
        .cache_memory = 16 * 1024 * 1024,
        .cache_memory_max = 128 * 1024,
        .cache_root_size = 1024 * 1024 * 1024,
    };

    settings = defaults;
}

/* A server-wide number: the variable that it sets, and its range. */
typedef struct number_t {
    int *place;
    int min, max;
} number_t;

static int max_pages, max_interests; /* copied into settings.limits */

static const number_t PAGE_TIMEOUT = {&settings.page_timeout, 1, 86400};
static const number_t MAX_SESSIONS = {&settings.max_sessions, 1, 1000000};
static const number_t CLIENT_PAGES = {&settings.max_client_pages, 1, 1000000};
static const number_t CLIENT_WAITING = {&settings.max_client_waiting, 1, 1000000};
static const number_t PAGE_INTERESTS = {&settings.max_page_interests, 1, VAULT_PAGE_INTERESTS_MAX};
static const number_t CLIENT_INTERESTS = {&settings.max_client_interests, 1, 10000000};
static const number_t MAX_WAITING = {&settings.max_waiting, 1, 1000000};
static const number_t THREADS = {&settings.threads, 0, 10000};
static const number_t RUNS = {&settings.runs, 1, 10000};
static const number_t MAX_PAGES = {&max_pages, 1, 1000000};
static const number_t MAX_INTERESTS = {&max_interests, 16, 10000000};

static const char *set_number(cmd_parms *cmd, void *dir, const char *value)
{
    const number_t *n = cmd->info;
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    if (!error && !(error = vault_conf_number(cmd, value, n->min, n->max, "", n->place))) {
        if (n == &MAX_PAGES) {
            settings.limits.pages = (apr_uint32_t)max_pages;
        }
        else if (n == &MAX_INTERESTS) {
            settings.limits.interests = (apr_uint32_t)max_interests;
        }
    }
    return error;
}

static const char *set_memory(cmd_parms *cmd, void *dir, const char *value)
{
    apr_off_t size = 0;
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    if (!error && !(error = vault_conf_size(cmd, value, 1024 * 1024, (apr_off_t)64 << 30, &size))) {
        settings.limits.size = (apr_uint64_t)size;
    }
    return error;
}

/* A server-wide size. The row of the directive names the variable that it sets. */
static const char *set_client_size(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    return error ? error
                 : vault_conf_size(cmd, value, VAULT_CONF_CLIENT_BYTES_MIN, VAULT_CONF_CLIENT_BYTES_MAX, cmd->info);
}

#define CACHE_SIZE_MIN (1024 * 1024)

static const char *set_cache_memory(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    if (error) {
        return error;
    }
    if (!strcmp(value, "0")) {
        settings.cache_memory = 0;
        return NULL;
    }
    error = vault_conf_size(cmd, value, CACHE_SIZE_MIN, (apr_off_t)64 << 30, &settings.cache_memory);
    return error ? apr_pstrcat(cmd->pool, error, "; or 0, to keep no outputs", NULL) : NULL;
}

static const char *set_cache_memory_max(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    return error ? error : vault_conf_size(cmd, value, 1024, VAULT_HEAP_BLOCK_MAX, &settings.cache_memory_max);
}

static const char *set_cache_root(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    const char *root = error ? NULL : ap_server_root_relative(cmd->pool, value);
    apr_finfo_t info;

    if (error) {
        return error;
    }
    if (!root || apr_stat(&info, root, APR_FINFO_TYPE, cmd->pool) != APR_SUCCESS || info.filetype != APR_DIR) {
        return apr_psprintf(cmd->pool, "VaultCacheRoot %s: an existing folder is accepted", value);
    }
    settings.cache_root = root;
    return NULL;
}

static const char *set_cache_root_size(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    return error ? error : vault_conf_size(cmd, value, CACHE_SIZE_MIN, (apr_off_t)64 << 30, &settings.cache_root_size);
}

#define INFO(n) ((void *)(apr_uintptr_t) & (n))

const command_rec vault_server_directives[] = {
    AP_INIT_TAKE1("VaultSharedMemory", set_memory, NULL, RSRC_CONF,
                  "size of the memory shared by all children, in bytes, with K, M or G"),
    AP_INIT_TAKE1("VaultMaxPages", set_number, INFO(MAX_PAGES), RSRC_CONF, "how many pages there may be at a time"),
    AP_INIT_TAKE1("VaultMaxSessions", set_number, INFO(MAX_SESSIONS), RSRC_CONF,
                  "how many of VaultMaxPages may be sessions"),
    AP_INIT_TAKE1("VaultMaxPagesPerClient", set_number, INFO(CLIENT_PAGES), RSRC_CONF,
                  "how many pages and sessions one user or, without login, one address may have at a time"),
    AP_INIT_TAKE1("VaultMaxMemoryPerClient", set_client_size, &settings.max_client_memory, RSRC_CONF,
                  "how much of the shared memory the pages of one client may take, in bytes, with K, M or G"),
    AP_INIT_TAKE1("VaultMaxInterestsPerClient", set_number, INFO(CLIENT_INTERESTS), RSRC_CONF,
                  "how many interests the pages of one client may hold"),
    AP_INIT_TAKE1("VaultMaxWaitingPerClient", set_number, INFO(CLIENT_WAITING), RSRC_CONF,
                  "how many requests of one user or, without login, one address may wait in all children"),
    AP_INIT_TAKE1("VaultMaxInterests", set_number, INFO(MAX_INTERESTS), RSRC_CONF,
                  "how many interests there may be at a time"),
    AP_INIT_TAKE1("VaultMaxPageInterests", set_number, INFO(PAGE_INTERESTS), RSRC_CONF,
                  "how many interests a page may hold (1 to 1024)"),
    AP_INIT_TAKE1("VaultPageTimeout", set_number, INFO(PAGE_TIMEOUT), RSRC_CONF,
                  "a page without a poll for so many seconds expires"),
    AP_INIT_TAKE1("VaultMaxWaiting", set_number, INFO(MAX_WAITING), RSRC_CONF, "how many polls may wait in one child"),
    AP_INIT_TAKE1("VaultLongPollThreads", set_number, INFO(THREADS), RSRC_CONF,
                  "how many polls may wait in a thread each, in one child"),
    AP_INIT_TAKE1("VaultLongPollRuns", set_number, INFO(RUNS), RSRC_CONF,
                  "how many woken polls run at a time in one child"),
    AP_INIT_TAKE1("VaultCacheMemory", set_cache_memory, NULL, RSRC_CONF,
                  "size of the shared memory for rendered outputs, in bytes, with K, M or G; 0: none are kept"),
    AP_INIT_TAKE1("VaultCacheMemoryMax", set_cache_memory_max, NULL, RSRC_CONF,
                  "the largest output that is kept in memory, in bytes, with K"),
    AP_INIT_TAKE1("VaultCacheRoot", set_cache_root, NULL, RSRC_CONF, "the folder for larger outputs"),
    AP_INIT_TAKE1("VaultCacheRootSize", set_cache_root_size, NULL, RSRC_CONF,
                  "how many bytes of outputs may be in that folder, with K, M or G"),
    {.name = NULL}};
