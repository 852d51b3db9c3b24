/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file explain.h
 * One page as JSON: its methods and what they wait for, its cursors and properties, what its polls last did, why it still waits.
 */
#ifndef VAULT_EXPLAIN_H
#define VAULT_EXPLAIN_H

#include "httpd.h"

/** Answer what is known of the page with that id; 404 when there is none, 400 when it is no id.
 * @return what the handler returns */
int vault_explain(request_rec *r, const char *id);

#endif
