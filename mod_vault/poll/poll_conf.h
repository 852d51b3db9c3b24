/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file poll_conf.h
 * The directives on polls: how long they wait, and how large their answers may be.
 */
#ifndef VAULT_POLL_CONF_H
#define VAULT_POLL_CONF_H

#include "server/conf.h"

/** The values of these directives in a section. */
typedef struct vault_poll_conf_t {
    int timeout;             /* VaultLongPollTimeout, seconds; 0: not set */
    int stream;              /* VaultStreamTimeout, seconds; 0: no streams; -1: not set */
    apr_off_t max_output;    /* VaultMaxOutput, bytes; 0: not set */
    apr_off_t max_answer;    /* VaultMaxAnswer, bytes; 0: not set */
    apr_off_t max_poll_body; /* VaultMaxPollBody, bytes; 0: not set */
} vault_poll_conf_t;

extern const vault_conf_t vault_poll_conf;
extern const command_rec vault_poll_directives[];

/** The values for `r`; NULL: httpd has not merged the sections of the request yet. */
const vault_poll_conf_t *vault_poll_conf_of(const request_rec *r);

/** The values in effect, configured or default, in seconds or bytes. */
int vault_poll_conf_timeout(const vault_poll_conf_t *l);
int vault_poll_conf_stream(const vault_poll_conf_t *l);
apr_off_t vault_poll_conf_max_output(const vault_poll_conf_t *l);
apr_off_t vault_poll_conf_max_answer(const vault_poll_conf_t *l);
apr_off_t vault_poll_conf_max_poll_body(const vault_poll_conf_t *l);

/** VaultMaxUnsentPerClient, in bytes. */
apr_off_t vault_poll_conf_max_unsent(void);

/** Restore the defaults, before the configuration is read. */
void vault_poll_conf_reset(void);

#endif
