/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file script_filter.h
 * Puts the page's script element into HTML whose application has asked for a page, but cannot know its id.
 *
 * It comes where html_place.h says, or at the end. What passes by is not held, but for a few bytes.
 */
#ifndef VAULT_SCRIPT_FILTER_H
#define VAULT_SCRIPT_FILTER_H

#include "httpd.h"

/** May the answer of `r`'s main request have the element? @return NULL, or a sentence why not */
const char *vault_script_refused(request_rec *r);

/** From here on, the next place is the element's; does nothing if the page has it. */
void vault_script_want(request_rec *r);

/** Let the filter see the answer of a view. */
void vault_script_insert(request_rec *r);

/** Register the filter. */
void vault_script_hooks(void);

#endif
