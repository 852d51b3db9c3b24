/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file subrequest.h
 * Subrequests for URLs of this server that look to their handlers like direct requests.
 */
#ifndef VAULT_SUBREQUEST_H
#define VAULT_SUBREQUEST_H

#include "util_filter.h"

/** Look up a URL of this server as httpd does for `include virtual`, with access control.
 * @param url   a path with its query, percent-encoded
 * @param next  the filter that gets the output; NULL: the subrequest is not run
 * @param pool  lives as long as the subrequest
 * @return to be destroyed by ap_destroy_sub_req(); its status is HTTP_OK if it can be run */
request_rec *vault_subrequest_make(request_rec *r, const char *url, ap_filter_t *next, apr_pool_t *pool);

/** Give the subrequest request headers of its own, without those that are about the response to its main request:
 * conditions, ranges, codings, and a body. */
void vault_subrequest_unset_headers(request_rec *sub);

#endif
