/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file includes.h
 * The paths of the site that an output includes: by `include virtual`, or as a part (cache/cache_part.h).
 *
 * httpd decides anew for each request whether a path may be included, and which file or handler it means. So a kept
 * output lists the paths, and each request looks all of them up, with httpd's access control, before it uses the
 * output. If a lookup has another result than that of the request that rendered the output, the output is not used.
 */
#ifndef VAULT_INCLUDES_H
#define VAULT_INCLUDES_H

#include "recording/recording.h"

/** What httpd has made of a path: handler, file, media type and filters, and the name of the site.
 * @param sub   the subrequest as it was looked up
 * @param kind  VAULT_INCLUDES_PART, or another word
 * @return a string that is equal for equal results, in `pool` */
const char *vault_includes_made(request_rec *sub, const char *kind, apr_pool_t *pool);
#define VAULT_INCLUDES_PART "part"

/** The document of `r` includes this URL: an absolute path, or one relative to the document. If it cannot be looked up
 * for this visitor, the output is not kept. */
void vault_includes_record(vault_recording_t *rec, request_rec *r, const char *url);

/** Does httpd make the same of all paths for the main request of `r`? */
int vault_includes_match(const vault_output_metadata_t *metadata, request_rec *r);

#endif
