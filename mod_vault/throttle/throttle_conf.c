/* SPDX-License-Identifier: Apache-2.0 */
/* The directives VaultQos…, and the gates that they open. */
#include "throttle/throttle_conf.h"

#include "apr_lib.h"
#include "apr_strings.h"
#include "http_core.h"

#include "server/log.h"
#include "server/rules.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

#define LIMIT_MAX 65536

/* of vault_throttle_t *; those with a limit, in the order of the configuration */
static apr_array_header_t *throttles;

void vault_throttle_conf_reset(apr_pool_t *pconf)
{
    throttles = apr_array_make(pconf, 8, sizeof(vault_throttle_t *));
}

static vault_throttle_conf_t *part_of(void *dir)
{
    return vault_conf_part(dir, VAULT_CONF_THROTTLE);
}

static void init(void *part)
{
    vault_throttle_conf_t *l = part;

    l->queue = -1;
    l->share = -1;
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_throttle_conf_t *o = outer, *i = inner;
    vault_throttle_conf_t *l = part;

    VAULT_CONF_MERGE(l, o, i, throttle, NULL);
    VAULT_CONF_MERGE(l, o, i, ranks, NULL);
    VAULT_CONF_MERGE(l, o, i, timeout, 0);
    VAULT_CONF_MERGE(l, o, i, queue, -1);
    VAULT_CONF_MERGE(l, o, i, share, -1);
}

const vault_conf_t vault_throttle_conf = {sizeof(vault_throttle_conf_t), init, merge};

const vault_throttle_conf_t *vault_throttle_conf_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_THROTTLE);
}

/* ----------------------------------------------------------------- directives */

/* By default one client may use all but an eighth of the limit; of a limit below 4, all. */
static int each_of(int limit)
{
    return limit < 4 ? limit : limit < 8 ? limit - 1 : limit - limit / 8;
}

static const char *parse_each(cmd_parms *cmd, vault_throttle_t *t, const char *value)
{
    char *end;
    apr_int64_t n = apr_strtoi64(value, &end, 10);

    if (!apr_isdigit(*value) || *end || n < 1 || n > t->limit) {
        return apr_psprintf(cmd->pool, "%s %d %s: of one client, a whole number from 1 to %d is accepted",
                            cmd->cmd->name, t->limit, value, t->limit);
    }
    t->each = (int)n;
    return NULL;
}

static const char *set_limit(cmd_parms *cmd, void *dir, const char *value, const char *each)
{
    vault_throttle_t *t = apr_pcalloc(cmd->pool, sizeof(*t));
    const char *error;

    t->path = cmd->path;
    t->server = cmd->server;
    part_of(dir)->throttle = t;
    if (!ap_cstr_casecmp(value, "off")) {
        return each ? apr_psprintf(cmd->pool, "%s Off %s: nothing is accepted after Off", cmd->cmd->name, each) : NULL;
    }
    APR_ARRAY_PUSH(throttles, vault_throttle_t *) = t;
    error = vault_conf_number(cmd, value, 1, LIMIT_MAX, "; or Off", &t->limit);
    t->each = each_of(t->limit);
    return error || !each ? error : parse_each(cmd, t, each);
}

static const char *set_timeout(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_number(cmd, value, 1, 600, "", &part_of(dir)->timeout);
}

static const char *set_queue(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_number(cmd, value, 0, 65536, "", &part_of(dir)->queue);
}

static const char *set_share(cmd_parms *cmd, void *dir, const char *value)
{
    vault_throttle_conf_t *l = part_of(dir);

    if (!ap_cstr_casecmp(value, "off")) {
        l->share = 0;
        return NULL;
    }
    return vault_conf_number(cmd, value, 1, LIMIT_MAX, "; or Off", &l->share);
}

/* A value without an expression must be a rank itself. */
static int can_be_rank(const char *value)
{
    return ap_strchr_c(value, '%') || (apr_isdigit(value[0]) && !value[1]);
}

static const char *set_rank(cmd_parms *cmd, void *dir, const char *value, const char *condition)
{
    vault_throttle_conf_t *l = part_of(dir);

    if (!vault_rules_is_off(value, condition) && !can_be_rank(value)) {
        return apr_psprintf(
            cmd->pool,
            "%s %s: a whole number from 0 to %d is accepted, or an expression that gives one, and then the "
            "condition under which it holds, if there is one; or Off",
            cmd->cmd->name, value, VAULT_QOS_RANK_MAX);
    }
    /* The answer does not depend on the condition, so it adds nothing to Vary. */
    return vault_rules_add(cmd, &l->ranks, value, condition, AP_EXPR_FLAG_DONT_VARY);
}

const command_rec vault_throttle_directives[] = {
    AP_INIT_TAKE12("VaultQosLimit", set_limit, NULL, RSRC_CONF | ACCESS_CONF,
                   "how many requests are handled at once, in all children together (1 to 65536), and how many of one "
                   "client; or Off"),
    AP_INIT_TAKE12(
        "VaultQosPriority", set_rank, NULL, RSRC_CONF | ACCESS_CONF,
        "a number from 0 to 9, or an expression that gives one, and the condition under which it holds; or Off"),
    AP_INIT_TAKE1("VaultQosTimeout", set_timeout, NULL, RSRC_CONF | ACCESS_CONF,
                  "how long a request waits to be let in, in seconds (1 to 600)"),
    AP_INIT_TAKE1("VaultQosQueue", set_queue, NULL, RSRC_CONF | ACCESS_CONF,
                  "how many requests may wait to be let in (0 to 65536)"),
    AP_INIT_TAKE1("VaultQosQueuePerClient", set_share, NULL, RSRC_CONF | ACCESS_CONF,
                  "how many of them one user or, without login, one address may have (1 to 65536), or Off"),
    {.name = NULL}};

int vault_throttle_conf_timeout(const vault_throttle_conf_t *l)
{
    return l->timeout ? l->timeout : 10;
}

int vault_throttle_conf_queue(const vault_throttle_conf_t *l)
{
    return l->queue >= 0 ? l->queue : 1000;
}

int vault_throttle_conf_share(const vault_throttle_conf_t *l)
{
    return l->share >= 0 ? l->share : (vault_throttle_conf_queue(l) + 1) / 2;
}

/* ------------------------------------------------------------------- start-up */

static const char *place_name(const vault_throttle_t *t, apr_pool_t *p)
{
    const server_rec *s = t->server;
    unsigned port = s->addrs && s->addrs->host_port ? s->addrs->host_port : s->port;
    const char *host = s->server_hostname ? s->server_hostname : "localhost", *path = t->path ? t->path : "(server)";

    return port ? apr_psprintf(p, "%s:%u %s", host, port, path) : apr_psprintf(p, "%s %s", host, path);
}

/* How many of the first `count` names are the same. */
static int before_it(const char *name, const apr_array_header_t *names, int count)
{
    int i, same = 0;

    for (i = 0; i < count; i++) {
        same += !strcmp(APR_ARRAY_IDX(names, i, const char *), name);
    }
    return same;
}

static void name_all(apr_pool_t *p)
{
    apr_array_header_t *places = apr_array_make(p, throttles->nelts, sizeof(const char *));
    int i, same;

    for (i = 0; i < throttles->nelts; i++) {
        vault_throttle_t *t = APR_ARRAY_IDX(throttles, i, vault_throttle_t *);
        const char *place = place_name(t, p);

        APR_ARRAY_PUSH(places, const char *) = place;
        same = before_it(place, places, i);
        t->name = same ? apr_psprintf(p, "%s #%d", place, same + 1) : place;
    }
}

int vault_throttle_conf_open(server_rec *s, apr_pool_t *pconf)
{
    apr_status_t rv;
    int i;

    if (throttles->nelts > VAULT_QOS_GATES) {
        ap_log_error(APLOG_MARK, APLOG_EMERG, 0, s,
                     VLTNO(00261) "VaultQosLimit is set in %d places: at most %d are accepted", throttles->nelts,
                     VAULT_QOS_GATES);
        return 0;
    }
    name_all(pconf);
    vault_qos_begin(vault_server->qos);
    for (i = 0; i < throttles->nelts; i++) {
        vault_throttle_t *t = APR_ARRAY_IDX(throttles, i, vault_throttle_t *);

        rv = vault_qos_open(vault_server->qos, t->name, (apr_uint32_t)t->limit, (apr_uint32_t)t->each, &t->gate);
        if (rv != APR_SUCCESS) {
            ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                         VLTNO(00262) "VaultQosLimit %d does not hold for %s until the next restart: too many requests "
                                      "of the configurations before still run",
                         t->limit, t->name);
        }
    }
    return 1;
}
