/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file status.h
 * The handler `vault-status`: figures in all and by child, as HTML, `?auto` (key: value lines), JSON (`?json`, or Accept) or OpenMetrics
 * (`?metrics`, or Accept); with `?page=ID` what is known of that page, `?pages` all pages,
 * `?check` whether the shared tables are sound, `?monitor=INTEREST` a page that waits for it (vaultctl's).
 */
#ifndef VAULT_STATUS_H
#define VAULT_STATUS_H

#include "httpd.h"

int vault_status_handler(request_rec *r);

#endif
