/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the paths that an output includes. */
#include "recording/includes.h"

#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"

#include "recording/output_key.h"
#include "request/main_request.h"
#include "request/subrequest.h"

#define INCLUDE "include"

/* The filters that httpd has chosen by the name of the file. Those of SetOutputFilter come when the handler runs. */
static const char *filters_of(const request_rec *sub, apr_pool_t *pool)
{
    const char *names = "";
    const ap_filter_t *f;

    for (f = sub->output_filters; f && f->frec->ftype < AP_FTYPE_PROTOCOL && strcmp(f->frec->name, "subreq_core");
         f = f->next) {
        names = apr_pstrcat(pool, names, ";", f->frec->name, NULL);
    }
    return names;
}

const char *vault_includes_made(request_rec *sub, const char *kind, apr_pool_t *pool)
{
    return vault_output_key(sub, &(vault_output_what_t){kind, sub->unparsed_uri, filters_of(sub, pool)}, pool);
}

/* Does `made` say that the path is that of a part? */
static int is_part(const char *made)
{
    static const char part[] = VAULT_INCLUDES_PART " ";

    return !strncmp(made, part, sizeof(part) - 1);
}

/* Looks the path up as mod_include, or the tag of a part, does. @return what httpd has made of it; NULL: it cannot be
 * included */
static const char *look_up(request_rec *top, const char *path, int part)
{
    request_rec *sub =
        part ? vault_subrequest_make(top, path, NULL, top->pool) : ap_sub_req_method_uri("GET", path, top, NULL);
    const char *made = NULL;

    if (sub->status == HTTP_OK && !sub->user) {
        made = vault_includes_made(sub, part ? VAULT_INCLUDES_PART : INCLUDE, top->pool);
    }
    ap_destroy_sub_req(sub);
    return made;
}

void vault_includes_record(vault_recording_t *rec, request_rec *r, const char *url)
{
    const char *folder = ap_escape_uri(r->pool, ap_make_dirstr_parent(r->pool, r->uri));
    const char *path = *url == '/' ? url : ap_make_full_path(r->pool, folder, url);
    const char *made = look_up(vault_main_request(r), path, 0);

    if (made) {
        vault_recording_include(rec, path, made);
    }
    else {
        vault_recording_drop(rec, VAULT_PERSONAL_NOT, "httpd refuses a path that it includes");
    }
}

int vault_includes_match(const vault_output_metadata_t *metadata, request_rec *r)
{
    request_rec *top = vault_main_request(r);
    int i;

    for (i = 0; i < metadata->includes->nelts; i++) {
        const vault_property_t *include = &APR_ARRAY_IDX(metadata->includes, i, vault_property_t);
        const char *made = include->value ? look_up(top, include->key, is_part(include->value)) : NULL;
        if (!made || strcmp(made, include->value)) {
            return 0;
        }
    }
    return 1;
}
