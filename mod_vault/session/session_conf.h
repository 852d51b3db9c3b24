/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session_conf.h
 * The directives on sessions.
 */
#ifndef VAULT_SESSION_CONF_H
#define VAULT_SESSION_CONF_H

#include "server/conf.h"

/** The values of these directives in a section. */
typedef struct vault_session_conf_t {
    int on;             /* VaultSession; -1: not set */
    int timeout;        /* VaultSessionTimeout, seconds; 0: not set */
    int bound;          /* VaultSessionBindAddress; -1: not set */
    const char *cookie; /* VaultSessionCookie; NULL: not set */
} vault_session_conf_t;

extern const vault_conf_t vault_session_conf;
extern const command_rec vault_session_directives[];

/** The values for `r`; NULL: httpd has not merged the sections of the request yet. */
const vault_session_conf_t *vault_session_conf_of(const request_rec *r);

/** Values with their defaults. */
int vault_session_conf_is_on(const request_rec *r);
int vault_session_conf_timeout(const vault_session_conf_t *l);
const char *vault_session_conf_cookie(const vault_session_conf_t *l);

#endif
