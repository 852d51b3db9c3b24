/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file log.h
 * Tags of our log lines: `VLT00012: …`. Unique, never used again, listed in docs/log-messages.md (make check compares).
 */
#ifndef VAULT_LOG_H
#define VAULT_LOG_H

#include "http_log.h"

#define VLTNO(n) "VLT" #n ": "

#endif
