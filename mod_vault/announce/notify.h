/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file notify.h
 * The handler `vault-notify`: POST with interest=NAME notifies every page that holds the interest.
 */
#ifndef VAULT_NOTIFY_H
#define VAULT_NOTIFY_H

#include "httpd.h"

int vault_notify_handler(request_rec *r);

#endif
