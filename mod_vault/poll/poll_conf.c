/* SPDX-License-Identifier: Apache-2.0 */
/* The directives on polls. */
#include "poll/poll_conf.h"

#include "http_core.h"

#include "request/reply.h"

static apr_off_t max_unsent;

static vault_poll_conf_t *part_of(void *dir)
{
    return vault_conf_part(dir, VAULT_CONF_POLL);
}

static void init(void *part)
{
    vault_poll_conf_t *l = part;

    l->stream = -1;
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_poll_conf_t *o = outer, *i = inner;
    vault_poll_conf_t *l = part;

    VAULT_CONF_MERGE(l, o, i, timeout, 0);
    VAULT_CONF_MERGE(l, o, i, stream, -1);
    VAULT_CONF_MERGE(l, o, i, max_output, 0);
    VAULT_CONF_MERGE(l, o, i, max_answer, 0);
    VAULT_CONF_MERGE(l, o, i, max_poll_body, 0);
}

const vault_conf_t vault_poll_conf = {sizeof(vault_poll_conf_t), init, merge};

const vault_poll_conf_t *vault_poll_conf_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_POLL);
}

int vault_poll_conf_timeout(const vault_poll_conf_t *l)
{
    return l->timeout ? l->timeout : 25;
}

int vault_poll_conf_stream(const vault_poll_conf_t *l)
{
    return l->stream >= 0 ? l->stream : 300;
}

apr_off_t vault_poll_conf_max_output(const vault_poll_conf_t *l)
{
    return l->max_output ? l->max_output : 1024 * 1024;
}

apr_off_t vault_poll_conf_max_answer(const vault_poll_conf_t *l)
{
    return l->max_answer ? l->max_answer : 4 * 1024 * 1024;
}

apr_off_t vault_poll_conf_max_poll_body(const vault_poll_conf_t *l)
{
    return l->max_poll_body ? l->max_poll_body : VAULT_REPLY_FORM_MAX;
}

apr_off_t vault_poll_conf_max_unsent(void)
{
    return max_unsent;
}

void vault_poll_conf_reset(void)
{
    max_unsent = 16 * 1024 * 1024;
}

/* ----------------------------------------------------------------- directives */

static const char *set_stream(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_number(cmd, value, 0, 86400, "", &part_of(dir)->stream);
}

static const char *set_timeout(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_number(cmd, value, 1, 600, "", &part_of(dir)->timeout);
}

static const char *set_max_output(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_size(cmd, value, 1024, (apr_off_t)1 << 30, &part_of(dir)->max_output);
}

static const char *set_max_answer(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_size(cmd, value, 1024, (apr_off_t)1 << 30, &part_of(dir)->max_answer);
}

/* The minimum is enough for a poll for the most pages allowed: 32 of 91 bytes each, or of 95 with escaped
 * commas. */
static const char *set_max_poll_body(cmd_parms *cmd, void *dir, const char *value)
{
    return vault_conf_size(cmd, value, 4096, 1024 * 1024, &part_of(dir)->max_poll_body);
}

static const char *set_max_unsent(cmd_parms *cmd, void *dir, const char *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    return error ? error
                 : vault_conf_size(cmd, value, VAULT_CONF_CLIENT_BYTES_MIN, VAULT_CONF_CLIENT_BYTES_MAX, &max_unsent);
}

const command_rec vault_poll_directives[] = {
    AP_INIT_TAKE1("VaultLongPollTimeout", set_timeout, NULL, OR_OPTIONS,
                  "how long a poll waits, in seconds (1 to 600)"),
    AP_INIT_TAKE1("VaultStreamTimeout", set_stream, NULL, OR_OPTIONS,
                  "Seconds after which a stream of events ends, to be asked for again; 0: no streams"),
    AP_INIT_TAKE1("VaultMaxOutput", set_max_output, NULL, OR_OPTIONS,
                  "how much one method may write, in bytes, with K, M or G"),
    AP_INIT_TAKE1("VaultMaxAnswer", set_max_answer, NULL, RSRC_CONF | ACCESS_CONF,
                  "how much one answer may have, of all methods and pages, in bytes, with K, M or G"),
    AP_INIT_TAKE1("VaultMaxPollBody", set_max_poll_body, NULL, RSRC_CONF | ACCESS_CONF,
                  "how long the form of a poll may be, in bytes, with K or M (4K to 1M)"),
    AP_INIT_TAKE1("VaultMaxUnsentPerClient", set_max_unsent, NULL, RSRC_CONF,
                  "how many bytes of answers may wait until one user or, without login, one address reads them"),
    {.name = NULL}};
