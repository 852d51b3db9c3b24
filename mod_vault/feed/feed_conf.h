/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_conf.h
 * The directives on feeds: VaultFeed and VaultFeedLog.
 */
#ifndef VAULT_FEED_CONF_H
#define VAULT_FEED_CONF_H

#include "httpd.h"
#include "ap_expr.h"

#include "server/conf.h"

/** One `VaultFeedLog NAME METHOD key=expression …`. */
typedef struct vault_feed_log_t {
    const char *feed;
    const char *method;
    const char *where;             /* file and line, for the check at the start */
    apr_array_header_t *arguments; /* of vault_argument_t */
} vault_feed_log_t;

typedef struct vault_argument_t {
    const char *name;
    ap_expr_info_t *value;
} vault_argument_t;

/** The values of these directives in a section. */
typedef struct vault_feed_conf_t {
    apr_array_header_t *log; /* VaultFeedLog, of vault_feed_log_t *; NULL: not set; empty: Off */
} vault_feed_conf_t;

extern const vault_conf_t vault_feed_conf;
extern const command_rec vault_feed_directives[];

/** The values for `r`; NULL: httpd has not merged the sections of the request yet. */
const vault_feed_conf_t *vault_feed_conf_of(const request_rec *r);

#endif
