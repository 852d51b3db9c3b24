/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bundle_body.h
 * The current content of a bundle, in the form that a client accepts: from the output store, or made for it.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_BUNDLE_BODY_H
#define VAULT_BUNDLE_BODY_H

#include "httpd.h"

#include "bundle/bundle_conf.h"
#include "output/output_forms.h"

typedef struct vault_bundle_body_t {
    const char *text; /* in the pool; NULL: it is in the file */
    apr_file_t *file;
    apr_size_t size;
    vault_output_form_t form;
    apr_uint64_t etag; /* of the plain form */
    int is_kept;       /* it has its final form: no filter should compress it */
    int is_final;      /* it is what the configured command makes of the files as they are */
} vault_bundle_body_t;

/** Find or make the body.
 * @param stats  of the files, as they are now; what was read, if they change meanwhile
 * @return OK; SUSPENDED another request makes it: the handler returns SUSPENDED and runs again; or a status to answer
 *         with, which has been logged */
int vault_bundle_body_find(request_rec *r, const vault_bundle_t *b, vault_bundle_stat_t **stats,
                           vault_bundle_body_t *body);

/** The files cannot be read: find what was made of them before.
 * @return OK; or HTTP_NOT_FOUND: nothing is kept */
int vault_bundle_body_find_older(request_rec *r, const vault_bundle_t *b, vault_bundle_body_t *body);

/** The hash in the URL of the current content.
 * @return NULL; or a sentence on a file that cannot be read */
const char *vault_bundle_body_hash(request_rec *r, const vault_bundle_t *b, vault_bundle_stat_t **stats,
                                   apr_uint64_t *hash);

/** Log, not too often, that the files cannot be read. */
void vault_bundle_body_log_error(request_rec *r, const vault_bundle_t *b, const char *error);

#endif
