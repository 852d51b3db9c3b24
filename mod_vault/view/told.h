/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file told.h
 * The configuration sections where an application sends headers that have no effect: a warning is logged once for
 * each, by whichever child meets it first.
 *
 * Any thread of any child.
 */
#ifndef VAULT_TOLD_H
#define VAULT_TOLD_H

#include "httpd.h"

/** Has any child asked this before, for the section that `r` was handled in? If the list is full, the answer is yes. */
int vault_told_before(const request_rec *r);

void vault_told_hooks(void);

#endif
