/* SPDX-License-Identifier: Apache-2.0 */
/* The directives on feeds. An invalid value stops the start with a sentence. */
#include "feed/feed_conf.h"

#include "apr_strings.h"
#include "http_core.h"

#include "feed/feeds.h"
#include "server/log.h"

APLOG_USE_MODULE(vault);

static vault_feed_conf_t *part_of(void *dir)
{
    return vault_conf_part(dir, VAULT_CONF_FEED);
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_feed_conf_t *o = outer, *i = inner;
    vault_feed_conf_t *l = part;

    VAULT_CONF_MERGE(l, o, i, log, NULL);
}

const vault_conf_t vault_feed_conf = {sizeof(vault_feed_conf_t), NULL, merge};

const vault_feed_conf_t *vault_feed_conf_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_FEED);
}

/* ----------------------------------------------------------------- directives */

/* Splits `key=value`. */
static const char *split(cmd_parms *cmd, const char *pair, const char **key, const char **value)
{
    const char *eq = ap_strchr_c(pair, '=');

    if (!eq || eq == pair) {
        return apr_psprintf(cmd->pool, "%s: \"%s\": after the first two words only key=value is accepted",
                            cmd->cmd->name, pair);
    }
    *key = apr_pstrmemdup(cmd->pool, pair, (apr_size_t)(eq - pair));
    *value = eq + 1;
    return NULL;
}

static const char *add_feed(cmd_parms *cmd, void *dir, int argc, char *const argv[])
{
    apr_table_t *params = apr_table_make(cmd->pool, 4);
    const char *key, *value, *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    int i;

    if (error) {
        return error;
    }
    if (argc < 2) {
        return "VaultFeed: a name and the path of a feed are needed, then its parameters as key=value";
    }
    for (i = 2; i < argc; i++) {
        if ((error = split(cmd, argv[i], &key, &value))) {
            return error;
        }
        if (apr_table_get(params, key)) {
            return apr_psprintf(cmd->pool, "VaultFeed %s: the parameter \"%s\" is given twice", argv[0], key);
        }
        apr_table_setn(params, key, value);
    }
    return vault_feeds_load(argv[0], ap_server_root_relative(cmd->pool, argv[1]), params, cmd->pool);
}

static const char *add_log_argument(cmd_parms *cmd, vault_feed_log_t *entry, const char *pair)
{
    vault_argument_t *a = apr_array_push(entry->arguments);
    const char *value, *wrong = NULL, *error = split(cmd, pair, &a->name, &value);

    if (error) {
        return error;
    }
    a->value = ap_expr_parse_cmd(cmd, value, AP_EXPR_FLAG_STRING_RESULT, &wrong, NULL);
    return wrong ? apr_psprintf(cmd->pool, "%s: \"%s\" is not an expression: %s", cmd->cmd->name, pair, wrong) : NULL;
}

static const char *add_feed_log(cmd_parms *cmd, void *dir, int argc, char *const argv[])
{
    vault_feed_conf_t *l = part_of(dir);
    vault_feed_log_t *entry;
    const char *error = NULL;
    int i;

    if (argc == 1 && !ap_cstr_casecmp(argv[0], "off")) {
        l->log = apr_array_make(cmd->pool, 1, sizeof(vault_feed_log_t *));
        return NULL;
    }
    if (argc < 2) {
        return "VaultFeedLog: the name of a feed and one of its methods are needed, then arguments as key=expression; "
               "or Off";
    }
    if (!l->log) {
        l->log = apr_array_make(cmd->pool, 1, sizeof(vault_feed_log_t *));
    }
    entry = apr_pcalloc(cmd->pool, sizeof(*entry));
    entry->feed = argv[0];
    entry->method = argv[1];
    entry->where = apr_psprintf(cmd->pool, "%s:%u", cmd->directive->filename, cmd->directive->line_num);
    entry->arguments = apr_array_make(cmd->pool, 4, sizeof(vault_argument_t));
    APR_ARRAY_PUSH(l->log, vault_feed_log_t *) = entry;
    for (i = 2; i < argc && !error; i++) {
        error = add_log_argument(cmd, entry, argv[i]);
    }
    return error ? error : vault_feeds_check_method(entry->feed, entry->method, cmd->pool);
}

const command_rec vault_feed_directives[] = {
    AP_INIT_TAKE_ARGV("VaultFeed", add_feed, NULL, RSRC_CONF,
                      "a name, the path of a feed and its parameters as key=value"),
    AP_INIT_TAKE_ARGV(
        "VaultFeedLog", add_feed_log, NULL, RSRC_CONF | ACCESS_CONF,
        "a feed, its method and key=expression arguments, to be called for each finished request; or Off"),
    {.name = NULL}};
