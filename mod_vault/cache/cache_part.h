/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_part.h
 * Parts of pages, for the SSI tag `<!--#vault cached="/path" -->`.
 *
 * A part is the output of another path of the site, as with `include virtual`. httpd looks the path up for each
 * visitor, with its access control. Where VaultCache is On for the path, the output comes from the output store, or
 * it is rendered with a recording of its own and kept. It is part of each page that contains it: such a page depends
 * on all that the part depends on, and is personal if the part is. A live page takes over the cursors and stamps of
 * the part, as if it had rendered the part itself.
 *
 * A page cannot wait in the middle of its document without a thread. So a page that needs a part which another request
 * renders takes the outdated one where VaultCacheStale allows it, and otherwise renders the part for itself.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CACHE_PART_H
#define VAULT_CACHE_PART_H

#include "httpd.h"
#include "util_filter.h"

/** Write a part.
 * @param r        the document with the tag
 * @param url      the path of the part, with its query
 * @param no_exec  only a part of a text type is allowed (IncludesNoExec)
 * @param bb       what the document has written so far; the part comes after it
 * @param next     the filter that `bb` will be passed to
 * @return NULL, or half a sentence, in the pool of the request, that says why there is no part */
const char *vault_cache_part(request_rec *r, const char *url, int no_exec, apr_bucket_brigade *bb, ap_filter_t *next);

/** Register the filter of this file. */
void vault_cache_part_hooks(void);

#endif
