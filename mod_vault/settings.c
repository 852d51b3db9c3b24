/* SPDX-License-Identifier: Apache-2.0 */
/* The directives. A bad one stops the start with a sentence that names the directive, the value and what is accepted. */
#include "settings.h"

#include "apr_strings.h"
#include "http_core.h"

#include "mod_vault/vault.h"
#include "request/origin.h"
#include "request/own_handlers.h"
#include "request/reply.h"
#include "server/log.h"
#include "server/server.h"
#include "settings_feeds.h"
#include "view/declared.h"
#include "view/feed_key.h"

APLOG_USE_MODULE(vault);

vault_settings_t vault_settings;

void vault_settings_reset(void)
{
    static const vault_settings_t defaults = {
        .limits = {.size = 64 * 1024 * 1024, .interests = 65536, .pages = 10000},
        .page_timeout = 300,
        .max_client_pages = 1000,
        .max_client_unsent = 16 * 1024 * 1024,
        .max_page_interests = VAULT_PAGE_INTERESTS,
        .notify_rate = 100,
        .threads = 8,
    };

    vault_settings = defaults;
}

/* ----------------------------------------------------------------- locations */

static void init(void *part)
{
    vault_location_t *l = part;

    l->long_poll = -1;
    l->notify = -1;
    l->stream = -1;
    l->same_origin = -1;
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_location_t *b = outer, *a = inner;
    vault_location_t *l = part;

    l->long_poll = a->long_poll >= 0 ? a->long_poll : b->long_poll;
    l->timeout = a->timeout ? a->timeout : b->timeout;
    l->stream = a->stream >= 0 ? a->stream : b->stream;
    l->max_methods = a->max_methods ? a->max_methods : b->max_methods;
    l->max_output = a->max_output ? a->max_output : b->max_output;
    l->max_answer = a->max_answer ? a->max_answer : b->max_answer;
    l->max_poll_body = a->max_poll_body ? a->max_poll_body : b->max_poll_body;
    l->path = a->path ? a->path : b->path;
    l->handler = a->handler ? a->handler : b->handler;
    l->polls = a->polls ? a->polls : b->polls;
    l->interests = a->interests ? a->interests : b->interests;
    l->feed_log = a->feed_log ? a->feed_log : b->feed_log;
    l->exposed = a->exposed ? a->exposed : b->exposed;
    l->feed_key = a->feed_key ? a->feed_key : b->feed_key;
    l->notify_after = a->notify_after ? a->notify_after : b->notify_after;
    l->notify = a->notify >= 0 ? a->notify : b->notify;
    l->origins = a->origins ? a->origins : b->origins;
    l->same_origin = a->same_origin >= 0 ? a->same_origin : b->same_origin;
}

const vault_conf_t vault_location_conf = {sizeof(vault_location_t), init, merge};

const vault_location_t *vault_location_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_LOCATION);
}

int vault_location_timeout(const vault_location_t *l)
{
    return l->timeout ? l->timeout : 25;
}

int vault_location_stream(const vault_location_t *l)
{
    return l->stream >= 0 ? l->stream : 300;
}

int vault_location_max_methods(const vault_location_t *l)
{
    return l->max_methods ? l->max_methods : 16;
}

apr_off_t vault_location_max_output(const vault_location_t *l)
{
    return l->max_output ? l->max_output : 1024 * 1024;
}

apr_off_t vault_location_max_answer(const vault_location_t *l)
{
    return l->max_answer ? l->max_answer : 4 * 1024 * 1024;
}

apr_off_t vault_location_max_poll_body(const vault_location_t *l)
{
    return l->max_poll_body ? l->max_poll_body : VAULT_REPLY_FORM_MAX;
}

const char *vault_location_path(const vault_location_t *l)
{
    return l->path ? l->path : "/vault";
}

/* -------------------------------------------------------------------- values */

const char *vault_settings_number(cmd_parms *cmd, const char *value, int min, int max, const char *other, int *number)
{
    char *end;
    apr_int64_t n = apr_strtoi64(value, &end, 10);

    if (!*value || *end || n < min || n > max) {
        return apr_psprintf(cmd->pool, "%s %s: a whole number from %d to %d is accepted%s", cmd->cmd->name, value, min,
                            max, other);
    }
    *number = (int)n;
    return NULL;
}

static const char *parse_number(cmd_parms *cmd, const char *value, int min, int max, int *number)
{
    return vault_settings_number(cmd, value, min, max, "", number);
}

static const char *parse_size(cmd_parms *cmd, const char *value, apr_off_t min, apr_off_t max, apr_off_t *size)
{
    char *end;
    apr_int64_t n = apr_strtoi64(value, &end, 10);
    int shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : *end == 'G' || *end == 'g' ? 30 : 0;

    if (shift) {
        end++;
    }
    if (!*value || *end || n < 0 || n > (max >> shift) || (n << shift) < min) {
        return apr_psprintf(cmd->pool,
                            "%s %s: a size from %" APR_OFF_T_FMT " to %" APR_OFF_T_FMT
                            " bytes is accepted, as a whole number with or without K, M or G",
                            cmd->cmd->name, value, min, max);
    }
    *size = n << shift;
    return NULL;
}

/* A server-wide number: its place in vault_settings and its range come with the directive. */
typedef struct number_t {
    int *place;
    int min, max;
} number_t;

static int max_pages, max_interests; /* land in vault_settings.limits */

static const number_t PAGE_TIMEOUT = {&vault_settings.page_timeout, 1, 86400};
static const number_t CLIENT_PAGES = {&vault_settings.max_client_pages, 1, 1000000};
static const number_t CLIENT_WAITING = {&vault_settings.max_client_waiting, 1, 1000000};
static const number_t PAGE_INTERESTS = {&vault_settings.max_page_interests, 1, VAULT_PAGE_INTERESTS_MAX};
static const number_t CLIENT_INTERESTS = {&vault_settings.max_client_interests, 1, 10000000};
static const number_t NOTIFY_RATE = {&vault_settings.notify_rate, 0, 1000000};
static const number_t MAX_WAITING = {&vault_settings.max_waiting, 1, 1000000};
static const number_t THREADS = {&vault_settings.threads, 0, 10000};
static const number_t RUNS = {&vault_settings.runs, 1, 10000};
static const number_t MAX_PAGES = {&max_pages, 1, 1000000};
static const number_t MAX_INTERESTS = {&max_interests, 16, 10000000};

static const char *set_number(cmd_parms *cmd, void *dir, const char *value)
{
    const number_t *n = cmd->info;
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    if (!error && !(error = parse_number(cmd, value, n->min, n->max, n->place))) {
        if (n == &MAX_PAGES) {
            vault_settings.limits.pages = (apr_uint32_t)max_pages;
        }
        else if (n == &MAX_INTERESTS) {
            vault_settings.limits.interests = (apr_uint32_t)max_interests;
        }
    }
    return error;
}

static const char *set_memory(cmd_parms *cmd, void *dir, const char *value)
{
    apr_off_t size = 0;
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    if (!error && !(error = parse_size(cmd, value, 1024 * 1024, (apr_off_t)64 << 30, &size))) {
        vault_settings.limits.size = (apr_uint64_t)size;
    }
    return error;
}

/* A server-wide size: its place comes with the directive. */
static const char *set_client_size(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    return error ? error : parse_size(cmd, value, 64 * 1024, (apr_off_t)64 << 30, cmd->info);
}

static const char *set_long_poll(cmd_parms *cmd, void *dir, int on)
{
    ((vault_location_t *)vault_conf_part(dir, VAULT_CONF_LOCATION))->long_poll = on;
    return NULL;
}

static const char *set_same_origin(cmd_parms *cmd, void *dir, int on)
{
    ((vault_location_t *)vault_conf_part(dir, VAULT_CONF_LOCATION))->same_origin = on;
    return NULL;
}

static const char *set_stream(cmd_parms *cmd, void *dir, const char *value)
{
    return parse_number(cmd, value, 0, 86400, &((vault_location_t *)vault_conf_part(dir, VAULT_CONF_LOCATION))->stream);
}

static const char *set_timeout(cmd_parms *cmd, void *dir, const char *value)
{
    return parse_number(cmd, value, 1, 600, &((vault_location_t *)vault_conf_part(dir, VAULT_CONF_LOCATION))->timeout);
}

static const char *set_max_methods(cmd_parms *cmd, void *dir, const char *value)
{
    return parse_number(cmd, value, 1, 100, &((vault_location_t *)vault_conf_part(dir, VAULT_CONF_LOCATION))->max_methods);
}

static const char *set_max_output(cmd_parms *cmd, void *dir, const char *value)
{
    return parse_size(cmd, value, 1024, (apr_off_t)1 << 30, &((vault_location_t *)vault_conf_part(dir, VAULT_CONF_LOCATION))->max_output);
}

static const char *set_max_answer(cmd_parms *cmd, void *dir, const char *value)
{
    return parse_size(cmd, value, 1024, (apr_off_t)1 << 30, &((vault_location_t *)vault_conf_part(dir, VAULT_CONF_LOCATION))->max_answer);
}

/* Every poll for as many pages as there may be fits into the least: 32 of 91 bytes each, or 95 with their commas escaped. */
static const char *set_max_poll_body(cmd_parms *cmd, void *dir, const char *value)
{
    return parse_size(cmd, value, 4096, 1024 * 1024, &((vault_location_t *)vault_conf_part(dir, VAULT_CONF_LOCATION))->max_poll_body);
}

static const char *set_path(cmd_parms *cmd, void *dir, const char *value)
{
    apr_size_t len = strlen(value);

    if (value[0] != '/' || len < 2 || value[len - 1] == '/' || strpbrk(value, "?#\"'<>& ")) {
        return apr_psprintf(
            cmd->pool,
            "%s %s: a URL path is accepted that begins with a slash, does not end with one and needs no quoting, "
            "such as /vault",
            cmd->cmd->name, value);
    }
    ((vault_location_t *)vault_conf_part(dir, VAULT_CONF_LOCATION))->path = value;
    return NULL;
}

/* -------------------------------------------------------------------- notify */

/* Put it at the end of a list of words; NULL, that is Off, makes the list empty, whatever outer places have given. */
static void add_word(apr_array_header_t **list, const char *word, apr_pool_t *pool)
{
    if (!word || !*list) {
        *list = apr_array_make(pool, 2, sizeof(const char *));
    }
    if (word) {
        APR_ARRAY_PUSH(*list, const char *) = word;
    }
}

static const char *add_notify_after(cmd_parms *cmd, void *dir, const char *name)
{
    vault_location_t *l = vault_conf_part(dir, VAULT_CONF_LOCATION);
    apr_size_t length = strlen(name);

    if (!length || length > VAULT_INTEREST_MAX) {
        return apr_psprintf(cmd->pool, "%s \"%.40s\": the name of an interest, of 1 to %d bytes, is accepted; or Off",
                            cmd->cmd->name, name, VAULT_INTEREST_MAX);
    }
    add_word(&l->notify_after, ap_cstr_casecmp(name, "off") ? name : NULL, cmd->pool);
    return NULL;
}

static const char *set_notify(cmd_parms *cmd, void *dir, int on)
{
    ((vault_location_t *)vault_conf_part(dir, VAULT_CONF_LOCATION))->notify = on;
    return NULL;
}

/* -------------------------------------------------------------------- origins */

static const char *add_origin(cmd_parms *cmd, void *dir, const char *text)
{
    vault_location_t *l = vault_conf_part(dir, VAULT_CONF_LOCATION);
    int off = !ap_cstr_casecmp(text, "off");
    const char *origin = off ? text : vault_origin_parse(text, cmd->pool);

    if (!origin) {
        return apr_psprintf(cmd->pool,
                            "%s %.100s: an origin is accepted, as https://www.example.org or http://localhost:8080, "
                            "without a path; or *, for requests without credentials; or Off",
                            cmd->cmd->name, text);
    }
    add_word(&l->origins, off ? NULL : origin, cmd->pool);
    return NULL;
}

#define INFO(n) ((void *)(apr_uintptr_t) & (n))

const command_rec vault_commands[] = {
    AP_INIT_TAKE1("SetHandler", vault_own_handler_set, NULL, OR_FILEINFO, "a handler's name, as the core has it"),
    AP_INIT_FLAG("VaultLongPoll", set_long_poll, NULL, OR_OPTIONS, "On or Off: pages made here may ask for news"),
    AP_INIT_TAKE1("VaultStreamTimeout", set_stream, NULL, OR_OPTIONS,
                  "Seconds after which a stream of events ends, to be asked for again; 0: no streams"),
    AP_INIT_TAKE1("VaultLongPollTimeout", set_timeout, NULL, OR_OPTIONS,
                  "how long a poll waits, in seconds (1 to 600)"),
    AP_INIT_ITERATE("VaultLongPollOrigin", add_origin, NULL, RSRC_CONF | ACCESS_CONF,
                    "origins of other sites whose pages may poll here, as https://www.example.org; or *; or Off"),
    AP_INIT_FLAG("VaultSameOrigin", set_same_origin, NULL, RSRC_CONF | ACCESS_CONF,
                 "On or Off: other methods than GET, HEAD, OPTIONS and TRACE are for pages of this origin"),
    AP_INIT_TAKE1("VaultMaxMethods", set_max_methods, NULL, OR_OPTIONS, "how many methods a page may have (1 to 100)"),
    AP_INIT_TAKE1("VaultMaxOutput", set_max_output, NULL, OR_OPTIONS,
                  "how much one method may write, in bytes, with K, M or G"),
    AP_INIT_TAKE1("VaultMaxAnswer", set_max_answer, NULL, RSRC_CONF | ACCESS_CONF,
                  "how much one answer may have, of all methods and pages, in bytes, with K, M or G"),
    AP_INIT_TAKE1("VaultMaxPollBody", set_max_poll_body, NULL, RSRC_CONF | ACCESS_CONF,
                  "how long the form of a poll may be, in bytes, with K or M (4K to 1M)"),
    AP_INIT_TAKE1("VaultPath", set_path, NULL, OR_OPTIONS, "the URL path below which browsers find poll and vault.js"),
    AP_INIT_TAKE12("VaultPoll", vault_declared_set_poll, NULL, OR_OPTIONS,
                   "a path that the pages made here ask for news, and the condition under which they do; or Off"),
    AP_INIT_TAKE12(
        "VaultInterest", vault_declared_set_interest, NULL, OR_OPTIONS,
        "an interest that has the methods here run again, and the condition under which they wait for it; or Off"),
    AP_INIT_FLAG("VaultNotify", set_notify, NULL, OR_OPTIONS,
                 "On or Off: whether the header Vault-Notify of an answer notifies"),
    AP_INIT_ITERATE("VaultNotifyAfter", add_notify_after, NULL, OR_OPTIONS,
                    "interests that are notified when a request that may have written ends, however it ends; or Off"),
    AP_INIT_TAKE_ARGV(
        "VaultFeedLog", vault_settings_add_feed_log, NULL, RSRC_CONF | ACCESS_CONF,
        "a feed, its method and key=expression arguments, to be called for each finished request; or Off"),
    AP_INIT_TAKE_ARGV("VaultFeedExpose", vault_settings_add_feed_expose, NULL, RSRC_CONF | ACCESS_CONF,
                      "a feed and those of its methods that browsers may call by URL; or Off"),
    AP_INIT_TAKE1("VaultFeedKeyFile", vault_feed_key_set, NULL, RSRC_CONF,
                  "a file with the key by which applications call feeds from server to server; or Off"),
    AP_INIT_TAKE_ARGV("VaultFeed", vault_settings_add_feed, NULL, RSRC_CONF,
                      "a name, the path of a feed and its parameters as key=value"),
    AP_INIT_TAKE1("VaultSharedMemory", set_memory, NULL, RSRC_CONF,
                  "size of the memory shared by all children, in bytes, with K, M or G"),
    AP_INIT_TAKE1("VaultMaxPages", set_number, INFO(MAX_PAGES), RSRC_CONF, "how many pages there may be at a time"),
    AP_INIT_TAKE1("VaultMaxPagesPerClient", set_number, INFO(CLIENT_PAGES), RSRC_CONF,
                  "how many pages one user or, without login, one address may have at a time"),
    AP_INIT_TAKE1("VaultMaxMemoryPerClient", set_client_size, &vault_settings.max_client_memory, RSRC_CONF,
                  "how much of the shared memory the pages of one client may take, in bytes, with K, M or G"),
    AP_INIT_TAKE1("VaultMaxInterestsPerClient", set_number, INFO(CLIENT_INTERESTS), RSRC_CONF,
                  "how many interests the pages of one client may hold"),
    AP_INIT_TAKE1("VaultMaxWaitingPerClient", set_number, INFO(CLIENT_WAITING), RSRC_CONF,
                  "how many requests of one user or, without login, one address may wait in all children"),
    AP_INIT_TAKE1("VaultMaxUnsentPerClient", set_client_size, &vault_settings.max_client_unsent, RSRC_CONF,
                  "how many bytes of answers may wait until one user or, without login, one address reads them"),
    AP_INIT_TAKE1("VaultMaxInterests", set_number, INFO(MAX_INTERESTS), RSRC_CONF,
                  "how many interests there may be at a time"),
    AP_INIT_TAKE1("VaultMaxPageInterests", set_number, INFO(PAGE_INTERESTS), RSRC_CONF,
                  "how many interests a page may hold (1 to 1024)"),
    AP_INIT_TAKE1("VaultNotifyRate", set_number, INFO(NOTIFY_RATE), RSRC_CONF,
                  "how many notifies a second of one client are told at once; 0: all"),
    AP_INIT_TAKE1("VaultPageTimeout", set_number, INFO(PAGE_TIMEOUT), RSRC_CONF,
                  "a page that nobody polls for so many seconds expires"),
    AP_INIT_TAKE1("VaultMaxWaiting", set_number, INFO(MAX_WAITING), RSRC_CONF, "how many polls may wait in one child"),
    AP_INIT_TAKE1("VaultLongPollThreads", set_number, INFO(THREADS), RSRC_CONF,
                  "how many polls may wait in a thread each, in one child"),
    AP_INIT_TAKE1("VaultLongPollRuns", set_number, INFO(RUNS), RSRC_CONF,
                  "how many woken polls run at a time in one child"),
    {.name = NULL}};
