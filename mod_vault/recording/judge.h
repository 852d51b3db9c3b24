/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file judge.h
 * Decides for each request that contributes to a recorded output whether its handler and filters can make the output
 * personal.
 *
 *   - A file is shared, and the output depends on the file, if the file is what reaches the first filter. With the
 *     filter INCLUDES its elements decide (output/ssi_elements.h), and each request that it includes is judged like
 *     this one.
 *   - The handler of feeds reports what it reads, and says that its output is shared.
 *   - Every other handler is opaque: its output is not kept, unless it says `Vault-Shared: yes`, calls vault_share()
 *     (vault.h), or VaultCacheKey names what it varies by.
 *   - Every output filter that is not known here makes the output personal.
 *   - An <If> makes an output personal that is kept without VaultCache.
 *   - The output for a user who has logged in is not kept.
 */
#ifndef VAULT_JUDGE_H
#define VAULT_JUDGE_H

#include "recording/recording.h"

/** Judge a request, whose filters have been inserted and whose handler is about to run.
 * @param declared  the configuration says by VaultCacheKey what the handler varies by
 * @return 1: the handler is opaque; 0: everything that it reads is recorded */
int vault_judge(vault_recording_t *rec, request_rec *r, int declared);

/** Does `r` name a file that httpd sends, through its filters or as it is? Another module may answer in its place. */
int vault_judge_is_file(const request_rec *r);

/** Does `r` name a file, or a method of a feed? Then what the handler reads is recorded, unless another module
 * answers in its place, which the recording finds. */
int vault_judge_knows(const request_rec *r);

/** Is this output filter in the chain of `r`, by itself or by AddOutputFilterByType? The names of filters do not depend
 * on case. */
int vault_judge_has_filter(const request_rec *r, const char *name);

/** Is there an <If> where `r` is? */
int vault_judge_has_if(const request_rec *r);

/** Is the answer to `r` a file as it is, which httpd serves best itself? Filters have been inserted. */
int vault_judge_is_plain_file(const request_rec *r);

/** The output filters that the configuration has chosen for `r`, for a key: a section such as <If> may choose others
 * for other requests. Before httpd has inserted them (a method that was looked up), those of SetOutputFilter.
 * @return in the request's pool */
const char *vault_judge_filters(const request_rec *r);

/** The handler of `r` says that its output is shared. */
void vault_judge_share(vault_recording_t *rec, request_rec *r);

void vault_judge_hooks(void);

#endif
