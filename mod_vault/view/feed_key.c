/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the key file, and compares the keys of requests with it. */
#include "view/feed_key.h"

#include "apr_lib.h"
#include "apr_strings.h"

#include "base/hash.h"
#include "server/conf.h"
#include "server/server.h"
#include "view/context.h"
#include "view/view_conf.h"

#define KEY_MIN 32

#define SCHEME "Bearer "
#define RUN ";run="

/* ------------------------------------------------------------------ directive */

const char *vault_feed_key_read(cmd_parms *cmd, const vault_feed_key_t **set, const char *path)
{
    vault_feed_key_t *key = apr_pcalloc(cmd->pool, sizeof(*key));
    const char *error = ap_check_cmd_context(cmd, NOT_IN_DIR_LOC_FILE);

    if (error) {
        return error;
    }
    *set = key;
    if (!ap_cstr_casecmp(path, "off")) {
        return NULL;
    }
    if ((error = vault_conf_secret(cmd, &key->text, path, "key", KEY_MIN))) {
        return error;
    }
    key->length = strlen(key->text);
    key->id = vault_hash_id(0, key->text);
    return NULL;
}

const vault_feed_key_t *vault_feed_key_of(const request_rec *r)
{
    const vault_feed_key_t *key = vault_view_conf_of(r)->feed_key;

    return key && key->text ? key : NULL;
}

/* ------------------------------------------------------------------- requests */

/* The token of `Authorization: Bearer TOKEN`, or NULL. */
static const char *bearer(const request_rec *r)
{
    const char *said = apr_table_get(r->headers_in, "Authorization");

    return said && !ap_cstr_casecmpn(said, SCHEME, strlen(SCHEME)) ? said + strlen(SCHEME) : NULL;
}

/* Constant time: the duration depends only on the lengths, so it does not reveal how many characters match. */
static int is_same(const vault_feed_key_t *key, const char *said)
{
    apr_size_t i, length = strlen(said);
    volatile unsigned char differs = length != key->length;

    for (i = 0; i < key->length; i++) {
        differs |= (unsigned char)(key->text[i] ^ said[length ? i % length : 0]);
    }
    return !differs;
}

vault_feed_caller_t vault_feed_caller(request_rec *r)
{
    const vault_feed_key_t *key = vault_feed_key_of(r);
    const char *said = r->main ? NULL : bearer(r);

    if (!said) {
        return VAULT_FEED_CALLER_ANY;
    }
    if (key && is_same(key, said)) {
        return VAULT_FEED_CALLER_TRUSTED;
    }
    return !r->user && (key || vault_feed_caller_page(r)) ? VAULT_FEED_CALLER_WRONG : VAULT_FEED_CALLER_ANY;
}

void vault_feed_key_keep_page(request_rec *r)
{
    const char *page = bearer(r) ? apr_table_get(r->headers_in, "Vault-Page") : NULL;

    if (bearer(r) && !page) {
        page = apr_table_get(r->headers_in, "Vault-New-Page");
    }
    if (page) {
        vault_context_make(r)->said_page = page;
    }
}

const char *vault_feed_caller_page(request_rec *r)
{
    const vault_context_t *x = vault_context_get(r);

    return x ? x->said_page : NULL;
}

/* ------------------------------------------------------------------ Vault-Page */

static int parse_run(apr_uint64_t *run, const char *text)
{
    int digits;

    *run = 0;
    for (digits = 0; digits < 16 && apr_isxdigit(*text) && !apr_isupper(*text); digits++, text++) {
        *run = *run << 4 | (apr_uint64_t)(apr_isdigit(*text) ? *text - '0' : *text - 'a' + 10);
    }
    return *run && !*text;
}

int vault_feed_key_parse(vault_calls_t *calls, const char *text)
{
    char id[VAULT_PAGE_ID_LEN + 1];
    const char *rest = text + VAULT_PAGE_ID_LEN;

    if (strlen(text) < VAULT_PAGE_ID_LEN) {
        return 0;
    }
    apr_cpystrn(id, text, sizeof(id));
    calls->run = 0;
    if (!vault_page_parse(&calls->page, id)) {
        return 0;
    }
    return !*rest || (!strncmp(rest, RUN, strlen(RUN)) && parse_run(&calls->run, rest + strlen(RUN)));
}

const char *vault_feed_key_format(const vault_calls_t *calls, apr_pool_t *pool)
{
    char id[VAULT_PAGE_ID_LEN + 1];

    vault_page_format(&calls->page, id);
    return apr_psprintf(pool, "%s" RUN "%" APR_UINT64_T_HEX_FMT, id, calls->run);
}
