/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file request_line.h
 * Keeps ids of pages out of httpd's scoreboard, which mod_status shows. httpd copies the request line into the
 * scoreboard, and the request line of a poll contains the id. Handlers, applications and the access log see the line
 * as the client has sent it.
 */
#ifndef VAULT_REQUEST_LINE_H
#define VAULT_REQUEST_LINE_H

#include "httpd.h"

/** ap_update_child_status() for `r`, with ids cut to names (page_name.h). The thread that owns the request. */
void vault_request_line_show(request_rec *r, int status);

void vault_request_line_hooks(void);

#endif
