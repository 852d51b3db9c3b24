/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bundle.h
 * Bundles: several files of a kind that are sent as one.
 *
 * A bundle has two URLs. `/site.css` is that of the directive. `/site-0123456789abcdef.css` names the content: pages
 * have it by the tag or by vault_bundle_url(), and its answer may be cached for a year. The number is a hash of the
 * joined files and of the command of VaultBundleFilter, so that servers with the same files have the same URL, and it
 * is known before the command has run. With another number the current content is the answer, to be cached for a
 * minute: pages of another server or of yesterday work, and no cache keeps the wrong content.
 *
 * The output store keeps what the command has made, once for all processes. One request runs the command; others wait
 * for it without a thread. If the command fails, the joined files are sent as they are. Each request asks the file
 * system whether a file has changed.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_BUNDLE_H
#define VAULT_BUNDLE_H

#include "httpd.h"

/** The URL of the current content of a bundle of this virtual host.
 * @param url  as in VaultBundle
 * @return in r->pool; `url` itself if the files cannot be read; NULL: there is no such bundle */
const char *vault_bundle_url(request_rec *r, const char *url);

/** Register the hooks of this file. */
void vault_bundle_hooks(void);

#endif
