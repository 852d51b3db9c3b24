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

/** Why the answer to `r` is personal whatever its handler does: a user, credentials, or a session. NOT: it may be
 * shared. */
vault_personal_t vault_recorded_personal(const request_rec *r);

/** The handler of `r` says that its output is shared. */
void vault_recorded_share(request_rec *r);

/** Judge the handler and the filters of `r`, as vault_judge(). */
void vault_recorded_judge(request_rec *r, int declared);

/** The interests that a method of the page has waited for may be named again: hold them for the output.
 * @param deps  of vault_dep_t */
void vault_recorded_expect(vault_recording_t *rec, const apr_array_header_t *deps);

/** As vault_page_txn_get(), and recorded. */
const char *vault_recorded_get(request_rec *r, const vault_page_txn_t *txn, const char *key);

/** As vault_page_txn_create_interest(), and recorded.
 * @param txn  NULL: there is no page, so the answer is 1 */
int vault_recorded_create_interest(request_rec *r, vault_page_txn_t *txn, const char *cursor, const char *interest);

/** A note of a subrequest: what its handler says of its output (`Vault-Shared: yes`) counts, as for a main request.
 * VaultCacheKey says what it varies by. */
#define VAULT_RECORDED_PART "vault-part"
#define VAULT_RECORDED_DECLARED "vault-part-declared"

/** The page has made a call of a feed. If it has got the rows of the same call with a kept part, at another position in
 * their data, the page fails. The part is personal for a while, so that it is rendered as a piece of the page the
 * next time. */
void vault_recorded_conflict(request_rec *r, const char *cursor);

void vault_recorded_hooks(void);

#endif
