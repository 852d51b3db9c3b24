/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file recorded.h
 * What a request reads through the module, reported to the recording of its main request (recording/recording.h), if it
 * has one.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_RECORDED_H
#define VAULT_RECORDED_H

#include "httpd.h"

#include "recording/recording.h"

/** The recording that `r` contributes to; NULL: none. */
vault_recording_t *vault_recorded(request_rec *r);

/** Judge the handler and the filters of `r`, as vault_judge(). */
void vault_recorded_judge(request_rec *r, int declared);

/** As vault_page_txn_get(), and recorded. */
const char *vault_recorded_get(request_rec *r, const vault_page_txn_t *txn, const char *key);

/** As vault_page_txn_create_interest(), and recorded.
 * @param txn  NULL: there is no page, so the answer is 1 */
int vault_recorded_create_interest(request_rec *r, vault_page_txn_t *txn, const char *cursor, const char *interest);

void vault_recorded_hooks(void);

#endif
