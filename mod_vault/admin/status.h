/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file status.h
 * The handler `vault-status`: metrics in total and by child, as HTML, `?auto` (key: value lines), JSON
 * (`?json`, or Accept) or OpenMetrics (`?metrics`, or Accept). `?page=ID` shows one page, `?pages` all pages,
 * `?check` checks the shared tables, and `?monitor=INTEREST` creates a page that waits for the interest (for
 * `vaultctl monitor`).
 */
#ifndef VAULT_STATUS_H
#define VAULT_STATUS_H

#include "httpd.h"

int vault_status_handler(request_rec *r);

#endif
