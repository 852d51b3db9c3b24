/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file checkup.h
 * `vault-status?check`: the shared tables of the running server against their invariants, and the configuration against itself.
 */
#ifndef VAULT_CHECKUP_H
#define VAULT_CHECKUP_H

#include "httpd.h"

/** Answer {"Wrong": [sentence, …], "Warnings": [sentence, …], and what was looked at}. "Wrong" is a fault of mod_vault or of memory that
 * somebody else has written to; "Warnings" are for the administrator.
 * @return what the handler returns */
int vault_checkup(request_rec *r);

#endif
