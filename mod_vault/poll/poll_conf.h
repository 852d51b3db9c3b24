/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file poll_conf.h
 * The directives on polls: how long they wait, and how much they may say.
 */
#ifndef VAULT_POLL_CONF_H
#define VAULT_POLL_CONF_H

#include "server/conf.h"

/** What the directives of a section say. */
typedef struct vault_poll_conf_t {
    int timeout;             /* VaultLongPollTimeout, seconds; 0: not said */
    int stream;              /* VaultStreamTimeout, seconds; 0: no streams; -1: not said */
    apr_off_t max_output;    /* VaultMaxOutput, bytes; 0: not said */
    apr_off_t max_answer;    /* VaultMaxAnswer, bytes; 0: not said */
    apr_off_t max_poll_body; /* VaultMaxPollBody, bytes; 0: not said */
} vault_poll_conf_t;

extern const vault_conf_t vault_poll_conf;
extern const command_rec vault_poll_directives[];

/** What holds for `r`; NULL: httpd has not looked for its sections. */
const vault_poll_conf_t *vault_poll_conf_of(const request_rec *r);

/** What holds, by directives or by default: seconds, bytes. */
int vault_poll_conf_timeout(const vault_poll_conf_t *l);
int vault_poll_conf_stream(const vault_poll_conf_t *l);
apr_off_t vault_poll_conf_max_output(const vault_poll_conf_t *l);
apr_off_t vault_poll_conf_max_answer(const vault_poll_conf_t *l);
apr_off_t vault_poll_conf_max_poll_body(const vault_poll_conf_t *l);

/** VaultMaxUnsentPerClient, in bytes. */
apr_off_t vault_poll_conf_max_unsent(void);

/** Back to the defaults: before each reading of the configuration. */
void vault_poll_conf_reset(void);

#endif
