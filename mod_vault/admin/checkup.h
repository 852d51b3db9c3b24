/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file checkup.h
 * `vault-status?check`: checks the invariants of the shared tables of the running server, and whether the
 * settings fit together.
 */
#ifndef VAULT_CHECKUP_H
#define VAULT_CHECKUP_H

#include "httpd.h"

/** Answer {"Wrong": [sentence, …], "Warnings": [sentence, …], and what was checked}. "Wrong" lists faults of
 * mod_vault, or of code that has overwritten its memory; "Warnings" are for the administrator.
 * @return what the handler returns */
int vault_checkup(request_rec *r);

#endif
