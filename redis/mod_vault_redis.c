/* SPDX-License-Identifier: Apache-2.0 */
/* Redis as the store of mod_vault: `LoadModule vault_redis_module modules/mod_vault_redis.so`, and then
 * `VaultPageStore redis:HOST:PORT SECRET` or `VaultPageStore redis://USER:PASSWORD@HOST:PORT SECRET`.
 *
 * An entry is a hash with the fields `f` (fence), `v` (version) and `d` (data). Each call is one script, which Redis
 * runs in one step. Redis caches scripts by their text.
 */
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <string.h>

#include "httpd.h"
#include "ap_provider.h"
#include "apr_escape.h"
#include "apr_network_io.h"
#include "apr_strings.h"
#include "http_config.h"

#include "mod_vault/store.h"

#define PORT 6379
/* Enough for a number of 64 bits. */
#define NUMBER 24

struct vault_store_link_t {
    redisContext *context;
};

/* The time of an entry is never shortened: another request may have asked for more. */
#define LAST                                                                                                           \
    "local function last(ms) if redis.call('pttl', KEYS[1]) < tonumber(ms) then redis.call('pexpire', KEYS[1], ms) "   \
    "end end "

static const char read_script[] = LAST "local e = redis.call('hmget', KEYS[1], 'f', 'd', 'v') "
                                       "if not e[1] or not e[2] then return false end "
                                       "last(ARGV[2]) "
                                       "if e[1] == ARGV[1] then return {e[1]} end "
                                       "return e";

static const char claim_script[] = "local e = redis.call('hmget', KEYS[1], 'f', 'v') "
                                   "if e[1] ~= ARGV[1] or e[2] ~= ARGV[2] then return 0 end "
                                   "redis.call('hset', KEYS[1], 'f', ARGV[3], 'v', 0) "
                                   "return 1";

static const char write_script[] = LAST "local e = redis.call('hmget', KEYS[1], 'f', 'v') "
                                        "if e[1] and e[1] ~= ARGV[1] then return 0 end "
                                        "last(ARGV[4]) "
                                        "if e[2] and tonumber(e[2]) >= tonumber(ARGV[2]) then return 1 end "
                                        "redis.call('hset', KEYS[1], 'f', ARGV[1], 'v', ARGV[2], 'd', ARGV[3]) "
                                        "last(ARGV[4]) "
                                        "return 1";

/* -------------------------------------------------------------------- address */

typedef struct target_t {
    char *host;
    apr_port_t port;
    const char *user;     /* NULL: the default one */
    const char *password; /* NULL: none */
} target_t;

/* USER:PASSWORD or USER, with %XX in place of characters that mean something in URLs. @return 0: it is neither */
static int parse_user(target_t *t, const char *text, apr_pool_t *pool)
{
    const char *colon = strchr(text, ':');
    char *user = apr_pstrmemdup(pool, text, colon ? (apr_size_t)(colon - text) : strlen(text));

    t->user = *user ? apr_punescape_url(pool, user, NULL, NULL, 0) : NULL;
    t->password = colon ? apr_punescape_url(pool, colon + 1, NULL, NULL, 0) : NULL;
    return (*user ? t->user != NULL : colon != NULL) && (!colon || (t->password && *t->password));
}

/* HOST, HOST:PORT, [IPv6]:PORT; after // also with a user before it. */
static apr_status_t parse(target_t *t, const char *address, apr_pool_t *pool)
{
    char *scope = NULL;
    const char *at;
    apr_status_t rv;

    memset(t, 0, sizeof(*t));
    if (!strncmp(address, "//", 2)) {
        address += 2;
        at = strrchr(address, '@');
        if (at && !parse_user(t, apr_pstrmemdup(pool, address, (apr_size_t)(at - address)), pool)) {
            return APR_EINVAL;
        }
        address = at ? at + 1 : address;
    }
    rv = apr_parse_addr_port(&t->host, &scope, &t->port, address, pool);
    t->port = t->port ? t->port : PORT;
    return rv == APR_SUCCESS && t->host && *t->host && !scope && !strpbrk(t->host, "/,@ ") ? APR_SUCCESS : APR_EINVAL;
}

static const char *check(const vault_store_options_t *options, apr_pool_t *pool)
{
    target_t t;

    if (parse(&t, options->address, pool) != APR_SUCCESS) {
        return "redis:HOST, redis:HOST:PORT or redis://USER:PASSWORD@HOST:PORT is accepted";
    }
    return t.password && options->password
               ? "one password is accepted, in the address or in the file of VaultPageStorePasswordFile"
               : NULL;
}

/* ----------------------------------------------------------------------- link */

static void close_link(vault_store_link_t *link)
{
    if (link->context) {
        redisFree(link->context);
    }
    free(link);
}

static apr_status_t status_of(const redisContext *context)
{
    return !context                        ? APR_ENOMEM
           : context->err == REDIS_ERR_IO  ? (errno == EAGAIN ? APR_TIMEUP : APR_FROM_OS_ERROR(errno))
           : context->err == REDIS_ERR_EOF ? APR_EOF
           : context->err == REDIS_OK      ? APR_SUCCESS
                                           : APR_EGENERAL;
}

/* Redis says so if a password is wrong or missing, and if the user may not do this. */
static apr_status_t status_of_error(const redisReply *reply)
{
    return !strncmp(reply->str, "NOAUTH", 6) || !strncmp(reply->str, "WRONGPASS", 9) ||
                   !strncmp(reply->str, "NOPERM", 6)
               ? APR_EACCES
               : APR_EGENERAL;
}

static apr_status_t log_in(redisContext *context, const target_t *t, const char *password)
{
    const char *words[3] = {"AUTH", t->user ? t->user : password, password};
    redisReply *reply;
    apr_status_t rv;

    if (!password) {
        return APR_SUCCESS;
    }
    errno = 0;
    reply = redisCommandArgv(context, t->user ? 3 : 2, words, NULL);
    if (!reply) {
        return status_of(context);
    }
    rv = reply->type == REDIS_REPLY_ERROR ? APR_EACCES : APR_SUCCESS;
    freeReplyObject(reply);
    return rv;
}

static apr_status_t connect_to(vault_store_link_t *link, const target_t *t, struct timeval within)
{
    apr_status_t rv;

    link->context = redisConnectWithTimeout(t->host, t->port, within);
    if ((rv = status_of(link->context)) != APR_SUCCESS) {
        return rv;
    }
    fcntl(link->context->fd, F_SETFD, FD_CLOEXEC); /* not for the programs of mod_cgi */
    return redisSetTimeout(link->context, within) == REDIS_OK ? APR_SUCCESS : APR_EGENERAL;
}

static apr_status_t open_link(vault_store_link_t **link, const vault_store_options_t *options,
                              apr_interval_time_t within)
{
    struct timeval time = {.tv_sec = apr_time_sec(within), .tv_usec = apr_time_usec(within)};
    apr_pool_t *pool;
    apr_status_t rv = apr_pool_create_unmanaged_ex(&pool, NULL, NULL);
    target_t t;

    if (rv != APR_SUCCESS) {
        return rv;
    }
    *link = calloc(1, sizeof(**link));
    rv = *link ? parse(&t, options->address, pool) : APR_ENOMEM;
    if (rv == APR_SUCCESS && (rv = connect_to(*link, &t, time)) == APR_SUCCESS) {
        rv = log_in((*link)->context, &t, t.password ? t.password : options->password);
    }
    apr_pool_destroy(pool);
    if (rv != APR_SUCCESS && *link) {
        close_link(*link);
        *link = NULL;
    }
    return rv;
}

/* ---------------------------------------------------------------------- calls */

typedef struct text_t {
    const char *text;
    apr_size_t size;
} text_t;

static text_t text_of(const char *text)
{
    return (text_t){text, strlen(text)};
}

static text_t number(char buffer[NUMBER], apr_uint64_t value)
{
    apr_snprintf(buffer, NUMBER, "%" APR_UINT64_T_FMT, value);
    return text_of(buffer);
}

/* Runs a script with one key. @return APR_SUCCESS: `*reply` is to be freed */
static apr_status_t run(redisReply **reply, vault_store_link_t *link, const char *script, const char *key,
                        const text_t *args, int count)
{
    const char *words[8] = {"EVAL", script, "1", key};
    size_t sizes[8] = {4, strlen(script), 1, strlen(key)};
    int i;

    for (i = 0; i < count; i++) {
        words[4 + i] = args[i].text;
        sizes[4 + i] = args[i].size;
    }
    errno = 0;
    *reply = redisCommandArgv(link->context, 4 + count, words, sizes);
    if (!*reply) {
        return status_of(link->context);
    }
    if ((*reply)->type == REDIS_REPLY_ERROR) {
        apr_status_t rv = status_of_error(*reply);
        freeReplyObject(*reply);
        return rv;
    }
    return APR_SUCCESS;
}

static int is_text(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING;
}

static apr_status_t understand(const redisReply *reply, vault_stored_t *found, apr_pool_t *pool)
{
    char *end;

    if (reply->type == REDIS_REPLY_NIL) {
        return APR_NOTFOUND;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 1 || !is_text(reply->element[0])) {
        return APR_EGENERAL;
    }
    if (reply->elements == 1) {
        return APR_EEXIST;
    }
    if (reply->elements != 3 || !is_text(reply->element[1]) || !is_text(reply->element[2])) {
        return APR_EGENERAL;
    }
    found->fence = (apr_uint64_t)apr_strtoi64(reply->element[0]->str, &end, 10);
    found->version = (apr_uint64_t)apr_strtoi64(reply->element[2]->str, &end, 10);
    found->size = (apr_size_t)reply->element[1]->len;
    found->data = apr_pmemdup(pool, reply->element[1]->str, found->size);
    return APR_SUCCESS;
}

static apr_status_t read_entry(vault_store_link_t *link, const char *key, apr_uint64_t known, apr_interval_time_t lasts,
                               vault_stored_t *found, apr_pool_t *pool)
{
    char fence[NUMBER], ms[NUMBER];
    text_t args[] = {number(fence, known), number(ms, (apr_uint64_t)apr_time_as_msec(lasts))};
    redisReply *reply;
    apr_status_t rv = run(&reply, link, read_script, key, args, 2);

    if (rv == APR_SUCCESS) {
        rv = understand(reply, found, pool);
        freeReplyObject(reply);
    }
    return rv;
}

/* Scripts that answer 1, or 0 if the entry has another fence. */
static apr_status_t change(vault_store_link_t *link, const char *script, const char *key, const text_t *args, int count)
{
    redisReply *reply;
    apr_status_t rv = run(&reply, link, script, key, args, count);

    if (rv == APR_SUCCESS) {
        rv = reply->type != REDIS_REPLY_INTEGER ? APR_EGENERAL : reply->integer ? APR_SUCCESS : APR_ECONNABORTED;
        freeReplyObject(reply);
    }
    return rv;
}

static apr_status_t claim_entry(vault_store_link_t *link, const char *key, const vault_stored_t *from, apr_uint64_t to)
{
    char fence[NUMBER], version[NUMBER], after[NUMBER];
    text_t args[] = {number(fence, from->fence), number(version, from->version), number(after, to)};

    return change(link, claim_script, key, args, 3);
}

static apr_status_t write_entry(vault_store_link_t *link, const char *key, const vault_stored_t *what,
                                apr_interval_time_t lasts)
{
    char fence[NUMBER], count[NUMBER], ms[NUMBER];
    text_t args[] = {number(fence, what->fence),
                     number(count, what->version),
                     {what->data, what->size},
                     number(ms, (apr_uint64_t)apr_time_as_msec(lasts))};

    return change(link, write_script, key, args, 4);
}

static const vault_store_t store = {.size = sizeof(vault_store_t),
                                    .check = check,
                                    .open = open_link,
                                    .close = close_link,
                                    .read = read_entry,
                                    .claim = claim_entry,
                                    .write = write_entry};

static void register_hooks(apr_pool_t *pool)
{
    ap_register_provider(pool, VAULT_STORE_GROUP, "redis", VAULT_STORE_VERSION, &store);
}

AP_DECLARE_MODULE(vault_redis) = {
    STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks, 0,
};
