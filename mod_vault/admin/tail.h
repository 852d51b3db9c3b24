/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tail.h
 * `vault-status?tail=INTEREST&tail=…`: a page that shows nothing but which of these interests were notified.
 */
#ifndef VAULT_TAIL_H
#define VAULT_TAIL_H

#include "httpd.h"

/** POST: make the page, whose one method is this very URL, and answer {"page": ID, "seq": 0}. It is polled by
 * `vault-status?poll&page=ID&seq=N`, under the same Require as this; each update is JSON, {"interests": [NAME, …]}.
 * As the method of such a page: answer those that were notified since.
 * @return what the handler returns */
int vault_tail(request_rec *r);

#endif
