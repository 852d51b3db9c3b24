/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file monitor.h
 * `vault-status?monitor=INTEREST&monitor=…`: a page that shows only which of these interests were notified, for
 * `vaultctl monitor`. The former name of the parameter, `tail`, is accepted.
 */
#ifndef VAULT_MONITOR_H
#define VAULT_MONITOR_H

#include "httpd.h"

/** POST: create a page whose only method is this URL itself, and answer {"page": ID, "seq": 0}. The page is
 * polled by `vault-status?poll&page=ID&seq=N`, under the same Require. Each update is JSON, {"interests":
 * [NAME, …]}.
 * As the method of such a page: answer the interests that were notified since.
 * @return what the handler returns */
int vault_monitor(request_rec *r);

#endif
