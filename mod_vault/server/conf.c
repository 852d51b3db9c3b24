/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the configuration of a request, and parses values of directives. */
#include "server/conf.h"

#include <string.h>

#include "apr_file_io.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include "server/server.h"

const void *vault_conf_of(const request_rec *r, vault_conf_id_t id)
{
    return r->per_dir_config ? vault_conf_part(ap_get_module_config(r->per_dir_config, &vault_module), id) : NULL;
}

const char *vault_conf_number(cmd_parms *cmd, const char *value, int min, int max, const char *other, int *number)
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

const char *vault_conf_size(cmd_parms *cmd, const char *value, apr_off_t min, apr_off_t max, apr_off_t *size)
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

static const char *refuse(const cmd_parms *cmd, const char *path, const char *why)
{
    return apr_psprintf(cmd->pool, "%s %s: %s", cmd->cmd->name, path, why);
}

/* The length of the secret in `text`, which only white space may follow; 0: `text` is not of that form. */
static apr_size_t secret_length(const char *text)
{
    apr_size_t n = 0, rest;

    while (apr_isgraph(text[n])) {
        n++;
    }
    rest = n + strspn(text + n, " \t\r\n");
    return text[rest] ? 0 : n;
}

static const char *read_file(cmd_parms *cmd, const char *path, const char *what, char text[VAULT_CONF_SECRET_MAX + 3])
{
    apr_file_t *file;
    apr_finfo_t info;
    apr_size_t length = 0;
    apr_status_t rv = apr_file_open(&file, path, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_OS_DEFAULT, cmd->temp_pool);
    char why[120];

    if (rv != APR_SUCCESS) {
        return refuse(cmd, path, apr_strerror(rv, why, sizeof(why)));
    }
    if ((rv = apr_file_info_get(&info, APR_FINFO_PROT | APR_FINFO_TYPE, file)) != APR_SUCCESS ||
        info.filetype != APR_REG) {
        return refuse(cmd, path, "it is not a file");
    }
    if (info.protection & (APR_FPROT_WREAD | APR_FPROT_WWRITE)) {
        return refuse(
            cmd, path,
            apr_psprintf(cmd->pool, "other users can read or write the file; chmod o= makes the %s a secret", what));
    }
    rv = apr_file_read_full(file, text, VAULT_CONF_SECRET_MAX + 2, &length);
    apr_file_close(file);
    if (rv != APR_SUCCESS && !APR_STATUS_IS_EOF(rv)) {
        return refuse(cmd, path, apr_strerror(rv, why, sizeof(why)));
    }
    text[length] = '\0';
    return strlen(text) == length ? NULL : refuse(cmd, path, "a NUL is in the file");
}

const char *vault_conf_secret(cmd_parms *cmd, const char **secret, const char *path, const char *what, apr_size_t least)
{
    char text[VAULT_CONF_SECRET_MAX + 3];
    const char *error;
    apr_size_t length;

    path = ap_server_root_relative(cmd->pool, path);
    if ((error = read_file(cmd, path, what, text))) {
        return error;
    }
    length = secret_length(text);
    if (length < least || length > VAULT_CONF_SECRET_MAX) {
        return refuse(cmd, path,
                      apr_psprintf(cmd->pool,
                                   "a %s of %d to %d printable ASCII characters without a blank, alone in its file, is "
                                   "accepted; openssl rand -hex 32 makes one",
                                   what, (int)least, VAULT_CONF_SECRET_MAX));
    }
    *secret = apr_pstrmemdup(cmd->pool, text, length);
    return NULL;
}

const char *vault_conf_masked(const char *value, apr_pool_t *pool)
{
    const char *at = strrchr(value, '@'), *start = strchr(value, ':');

    if (!at) {
        return value;
    }
    if (!start || start > at) {
        return apr_pstrcat(pool, "***", at, NULL);
    }
    start++;
    start += strncmp(start, "//", 2) ? 0 : 2;
    return apr_pstrcat(pool, apr_pstrmemdup(pool, value, (apr_size_t)(start - value)), "***", at, NULL);
}

void vault_conf_add_word(apr_array_header_t **list, const char *word, apr_pool_t *pool)
{
    if (!word || !*list) {
        *list = apr_array_make(pool, 2, sizeof(const char *));
    }
    if (word) {
        APR_ARRAY_PUSH(*list, const char *) = word;
    }
}
