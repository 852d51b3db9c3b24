/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_forms.h
 * The compressed forms of a kept response: made once by the filters DEFLATE and BROTLI_COMPRESS of httpd, as they are
 * configured, and then sent without them.
 *
 * A response is kept as it is before these filters. The first request that may have a form takes the plain response
 * through them; what leaves them is kept as this form. Later requests are sent the form, and the filters do nothing,
 * since the response has a Content-Encoding. The filters in the chain of a request, its Accept-Encoding
 * with the weights, and the variables of mod_deflate and mod_brotli decide which form it may have.
 *
 * Live pages have no forms: each has its own id in the HTML.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CACHE_FORMS_H
#define VAULT_CACHE_FORMS_H

#include "httpd.h"

#include "output/output_store.h"

/** Choose the form for the client, whether it was made yet or not. */
vault_output_form_t vault_cache_forms_choose(const request_rec *r, const char *type, const vault_output_entry_t *entry);

/** Until the plain response has been passed on, let the request accept this form only: the filters of httpd do not
 * compare weights.
 * @return the header Accept-Encoding, to be set again; NULL: there is none */
const char *vault_cache_forms_narrow(request_rec *r, vault_output_form_t form);

/** The entity tag of a form of the response with this tag. */
const char *vault_cache_forms_tag(const char *etag, vault_output_form_t form, apr_pool_t *pool);

/** The plain response is about to be passed on: if no other request makes this form, let the filters of httpd make it,
 * and keep it. */
void vault_cache_forms_keep(request_rec *r, const vault_output_entry_t *entry, vault_output_form_t form);

void vault_cache_forms_hooks(void);

#endif
