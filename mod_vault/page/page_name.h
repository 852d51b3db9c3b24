/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_name.h
 * The part of a page's id that the module may show. The id is a bearer secret: a client that knows it can take over
 * the page. So the status and the logs show only its first digits, the name of the page. An administrator can tell
 * pages apart by their names and find a name in the HTML of a page. 112 random bits stay secret.
 *
 * Any thread of any process.
 */
#ifndef VAULT_PAGE_NAME_H
#define VAULT_PAGE_NAME_H

#include "page/page.h"

/** Length of a name, without the final NUL. */
#define VAULT_PAGE_NAME_LEN 12

void vault_page_name(const vault_page_t *page, char name[VAULT_PAGE_NAME_LEN + 1]);

/** Cut every id in `text` to its name. Any sequence of 40 or more hexadecimal digits counts as an id. NULL stays
 * NULL.
 * @return `text` itself if it has no id; else a copy in `pool` */
const char *vault_page_shorten(const char *text, apr_pool_t *pool);

/** Find the page with that name, the beginning of a name, or a whole id. The function refuses more digits than a name
 * has, unless they are a whole id. Otherwise a client that sees names could guess the rest of an id digit by digit.
 * @return APR_SUCCESS; of a whole id there may be no page
 *         APR_NOTFOUND  there is none
 *         APR_EEXIST    there are several
 *         APR_EINVAL    it is neither a name, its beginning, nor an id */
apr_status_t vault_page_find(vault_pages_t *p, vault_page_t *page, const char *name);

#endif
