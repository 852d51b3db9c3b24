/* SPDX-License-Identifier: Apache-2.0 */
/* The directives VaultBundle… . An invalid value stops the start with a sentence. A missing file does so, too. */
#include "bundle/bundle_conf.h"

#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"
#include "http_core.h"

#include "output/output_store.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

static apr_array_header_t *all; /* of vault_bundle_t *: those of all virtual hosts */

static const struct {
    const char *name, *type;
} kinds[VAULT_BUNDLE_KINDS] = {
    [VAULT_BUNDLE_CSS] = {"css", ".css"},
    [VAULT_BUNDLE_JS] = {"js", ".js"},
    [VAULT_BUNDLE_HTML] = {"html", ".html"},
};

static vault_bundle_conf_t *part_of(void *dir)
{
    return vault_conf_part(dir, VAULT_CONF_BUNDLE);
}

/* Both sections have bundles only when httpd merges those of a virtual host, at the start: the directive is not
 * accepted in other sections. */
static apr_array_header_t *merge_bundles(apr_array_header_t *outer, apr_array_header_t *inner)
{
    if (!outer || !inner) {
        return inner ? inner : outer;
    }
    return apr_array_append(inner->pool, inner, outer);
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_bundle_conf_t *o = outer, *i = inner;
    vault_bundle_conf_t *l = part;
    int kind;

    l->bundles = merge_bundles(o->bundles, i->bundles);
    for (kind = 0; kind < VAULT_BUNDLE_KINDS; kind++) {
        VAULT_CONF_MERGE(l, o, i, tools[kind], NULL);
    }
    VAULT_CONF_MERGE(l, o, i, timeout, 0);
}

const vault_conf_t vault_bundle_conf = {sizeof(vault_bundle_conf_t), NULL, merge};

const vault_bundle_conf_t *vault_bundle_conf_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_BUNDLE);
}

const vault_bundle_tool_t *vault_bundle_conf_tool(const vault_bundle_conf_t *l, const vault_bundle_t *b)
{
    const vault_bundle_tool_t *tool = l->tools[b->kind];

    return tool && tool->command ? tool : NULL;
}

apr_interval_time_t vault_bundle_conf_timeout(const vault_bundle_conf_t *l)
{
    return apr_time_from_sec(l->timeout ? l->timeout : 10);
}

void vault_bundle_conf_reset(apr_pool_t *pconf)
{
    all = apr_array_make(pconf, 4, sizeof(vault_bundle_t *));
}

/* ----------------------------------------------------------------- directives */

static int is_path(const char *url)
{
    const char *p;

    for (p = url; apr_isalnum(*p) || (*p && strchr("/._~-", *p)); p++) {
    }
    return *url == '/' && !*p && !strstr(url, "//") && !strstr(url, "/.");
}

/* @return VAULT_BUNDLE_KINDS: there is no such kind */
static vault_bundle_kind_t kind_of_url(const char *url)
{
    vault_bundle_kind_t kind = 0;
    apr_size_t length = strlen(url);

    while (kind < VAULT_BUNDLE_KINDS && (length <= strlen(kinds[kind].type) + 1 ||
                                         strcmp(url + length - strlen(kinds[kind].type), kinds[kind].type) != 0)) {
        kind++;
    }
    return kind;
}

static int is_declared(const vault_bundle_conf_t *l, const char *url)
{
    int i;

    for (i = 0; l->bundles && i < l->bundles->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(l->bundles, i, const vault_bundle_t *)->url, url)) {
            return 1;
        }
    }
    return 0;
}

static const char *check_url(cmd_parms *cmd, const vault_bundle_conf_t *l, const char *url)
{
    if (!is_path(url) || kind_of_url(url) == VAULT_BUNDLE_KINDS) {
        return apr_psprintf(
            cmd->pool,
            "VaultBundle %s: a URL path of letters, digits and \"/._~-\" is accepted that begins with a "
            "slash and ends with .css, .js or .html",
            url);
    }
    return is_declared(l, url) ? apr_psprintf(cmd->pool, "VaultBundle %s: there is a bundle of that URL already", url)
                               : NULL;
}

static const char *add_bundle(cmd_parms *cmd, void *dir, int argc, char *const argv[])
{
    vault_bundle_conf_t *l = part_of(dir);
    vault_bundle_t *b = apr_pcalloc(cmd->pool, sizeof(*b));
    const char *error;
    int i;

    if (argc < 2) {
        return "VaultBundle: the URL of a bundle is needed, and then its files";
    }
    if ((error = check_url(cmd, l, argv[0]))) {
        return error;
    }
    b->url = argv[0];
    b->kind = b->files.kind = kind_of_url(b->url);
    b->type = kinds[b->kind].type;
    b->stem = apr_pstrmemdup(cmd->pool, b->url, strlen(b->url) - strlen(b->type));
    b->server = cmd->server;
    b->files.paths = apr_array_make(cmd->pool, argc - 1, sizeof(const char *));
    for (i = 1; i < argc; i++) {
        APR_ARRAY_PUSH(b->files.paths, const char *) = argv[i];
    }
    if (!l->bundles) {
        l->bundles = apr_array_make(cmd->pool, 4, sizeof(vault_bundle_t *));
    }
    APR_ARRAY_PUSH(l->bundles, vault_bundle_t *) = b;
    APR_ARRAY_PUSH(all, vault_bundle_t *) = b;
    return NULL;
}

static const char *set_tool(cmd_parms *cmd, void *dir, const char *name, const char *command)
{
    vault_bundle_tool_t *tool = apr_pcalloc(cmd->pool, sizeof(*tool));
    vault_bundle_kind_t kind = 0;
    const char *wrong;

    while (kind < VAULT_BUNDLE_KINDS && strcmp(name, kinds[kind].name)) {
        kind++;
    }
    if (kind == VAULT_BUNDLE_KINDS) {
        return apr_psprintf(cmd->pool, "%s %s: css, js or html is accepted, and then a command or Off", cmd->cmd->name,
                            name);
    }
    part_of(dir)->tools[kind] = tool;
    if (!ap_cstr_casecmp(command, "off")) {
        return NULL;
    }
    wrong = vault_bundle_tool_parse(tool, command, cmd->pool);
    return wrong ? apr_psprintf(cmd->pool, "%s %s \"%s\": %s", cmd->cmd->name, name, command, wrong) : NULL;
}

static const char *set_timeout(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_number(cmd, value, 1, 60, "", &part_of(dir)->timeout);
}

const command_rec vault_bundle_directives[] = {
    AP_INIT_TAKE_ARGV("VaultBundle", add_bundle, NULL, RSRC_CONF,
                      "the URL of a bundle, which ends with .css, .js or .html, and its files in their order"),
    AP_INIT_TAKE2("VaultBundleFilter", set_tool, NULL, RSRC_CONF,
                  "css, js or html, and the command that minifies bundles of that kind; or Off"),
    AP_INIT_TAKE1("VaultBundleTimeout", set_timeout, NULL, RSRC_CONF,
                  "how long such a command may run, in seconds (1 to 60)"),
    {.name = NULL}};

/* -------------------------------------------------------------------- checking */

/* Makes the names of the files absolute. */
static const char *resolve(vault_bundle_t *b, apr_pool_t *pool)
{
    const core_server_config *core = ap_get_core_module_config(b->server->module_config);
    int i;

    for (i = 0; i < b->files.paths->nelts; i++) {
        const char **path = &APR_ARRAY_IDX(b->files.paths, i, const char *);
        char *absolute = NULL;

        if (**path != '/' &&
            apr_filepath_merge(&absolute, core->ap_document_root, *path,
                               APR_FILEPATH_NOTRELATIVE | APR_FILEPATH_NOTABOVEROOT, pool) != APR_SUCCESS) {
            return apr_pstrcat(pool, *path,
                               ": a relative path must lie in the DocumentRoot; other files are accepted "
                               "with an absolute path",
                               NULL);
        }
        *path = absolute ? absolute : *path;
    }
    vault_bundle_files_init(&b->files, pool);
    b->retry_at = apr_pcalloc(pool, sizeof(*b->retry_at));
    return NULL;
}

static const char *check(vault_bundle_t *b, apr_pool_t *pconf, apr_pool_t *ptemp)
{
    vault_bundle_stat_t *stats;
    vault_bundle_text_t joined;
    const char *wrong = resolve(b, pconf);

    if (!wrong) {
        wrong = vault_bundle_files_stat(&b->files, &stats, ptemp);
    }
    if (!wrong) {
        wrong = vault_bundle_files_join(&b->files, &stats, &joined, ptemp);
    }
    if (wrong) {
        return wrong;
    }
    b->size = joined.size;
    return joined.warning;
}

/* When the configuration has been read, as a DocumentRoot may follow the bundles. `httpd -t` calls it as well. */
static int check_all(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    const char *wrong;
    int i, status = OK;

    for (i = 0; i < all->nelts; i++) {
        vault_bundle_t *b = APR_ARRAY_IDX(all, i, vault_bundle_t *);

        if ((wrong = check(b, pconf, ptemp))) {
            ap_log_error(APLOG_MARK, APLOG_EMERG, 0, s, VLTNO(00410) "VaultBundle %s: %s", b->url, wrong);
            status = HTTP_INTERNAL_SERVER_ERROR;
        }
    }
    return status;
}

/* A command may make the bundle small enough for memory. */
static void warn_of_large_bundles(server_rec *s)
{
    const vault_output_limits_t *limits = vault_outputs_limits(vault_server->outputs);
    int i;

    for (i = 0; i < all->nelts && !limits->root; i++) {
        const vault_bundle_t *b = APR_ARRAY_IDX(all, i, vault_bundle_t *);

        if (b->size > limits->memory_max) {
            ap_log_error(
                APLOG_MARK, APLOG_WARNING, 0, s,
                VLTNO(00440) "VaultBundle %s: its files have %" APR_SIZE_T_FMT
                             " bytes: unless a command makes them smaller than VaultCacheMemoryMax %" APR_UINT64_T_FMT
                             "K, they are kept in VaultCacheRoot only, which is not set",
                b->url, b->size, limits->memory_max >> 10);
        }
    }
}

static int log_what_is_not_kept(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    if (!all->nelts || ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK;
    }
    if (vault_server->outputs) {
        warn_of_large_bundles(s);
    }
    else {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s,
                     VLTNO(00415) "VaultCacheMemory is 0: bundles are joined, but neither minified nor compressed");
    }
    return OK;
}

void vault_bundle_conf_hooks(void)
{
    ap_hook_post_config(log_what_is_not_kept, NULL, NULL, APR_HOOK_LAST);
    ap_hook_check_config(check_all, NULL, NULL, APR_HOOK_MIDDLE);
}
