/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_name.h
 * What may be shown of a page's id. Who knows the id has the page, so the status and the logs call a page by the beginning of it: that tells
 * pages apart, can be compared with the HTML of a page by eye, and leaves 80 random bits unsaid.
 *
 * Any thread of any process.
 */
#ifndef VAULT_PAGE_NAME_H
#define VAULT_PAGE_NAME_H

#include "page.h"

/** Length of a name, without the final NUL. */
#define VAULT_PAGE_NAME_LEN 12

void vault_page_name(const vault_page_t *page, char name[VAULT_PAGE_NAME_LEN + 1]);

/** `text` with every id in it cut to its name: that is what any 40 or more hexadecimal digits in a row are taken for. NULL stays NULL.
 * @return `text` itself if there is none; else in `pool` */
const char *vault_page_shorten(const char *text, apr_pool_t *pool);

/** The page with that name, or with that whole id. A beginning of a name will do. More digits than a name has are not looked for, or who
 * sees names could find out the rest of an id digit by digit.
 * @return APR_SUCCESS; a whole id is only parsed: the page may be gone
 *         APR_NOTFOUND  there is none
 *         APR_EEXIST    there are several
 *         APR_EINVAL    it is neither a name, its beginning, nor an id */
apr_status_t vault_page_find(const vault_pages_t *p, vault_page_t *page, const char *name);

#endif
