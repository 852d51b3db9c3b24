/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file script_filter.h
 * Inserts the page's script element into the HTML of an application that has asked for a page but does not know
 * its id.
 *
 * base/html_place.h finds the position; without one, it is the end of the document. The filter holds back only
 * a few bytes.
 */
#ifndef VAULT_SCRIPT_FILTER_H
#define VAULT_SCRIPT_FILTER_H

#include "httpd.h"

/** Can the element be inserted into the answer of the main request of `r`? @return NULL, or a sentence that says
 * why not */
const char *vault_script_refused(request_rec *r);

/** Insert the element at the next position; does nothing if the page has it already. */
void vault_script_want(request_rec *r);

/** Add the filter to the answer of a view. */
void vault_script_insert(request_rec *r);

/** Register the filter. */
void vault_script_hooks(void);

#endif
