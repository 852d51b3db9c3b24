/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_headers.h
 * HTTP caching (RFC 9111) of responses in the output store: which response may be kept and until when, by its headers;
 * which one fits a request; and what a kept response is sent with.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CACHE_HEADERS_H
#define VAULT_CACHE_HEADERS_H

#include "httpd.h"

#include "recording/recording.h"

/** Does the client force a reload, with Cache-Control no-cache or no-store, or Pragma no-cache? */
int vault_cache_headers_is_reload(const request_rec *r);

/** Does the client accept an outdated response (RFC 9111, section 5.2.1)? Not if it forces a reload, or limits the
 * age. */
int vault_cache_headers_accept_stale(const request_rec *r);

/** The headers of the response to `r` are complete: record until when it is fresh, and what it varies by; or why it
 * is not kept.
 * @param before      a copy of headers_out from before the handler ran: what other modules had set by then they set for
 *                    each request, so it does not count. NULL: they had set nothing
 * @param err_before  of err_headers_out */
void vault_cache_headers_judge(vault_recording_t *rec, const request_rec *r, const apr_table_t *before,
                               const apr_table_t *err_before);

/** The same, and record the headers. */
void vault_cache_headers_read(vault_recording_t *rec, request_rec *r, const apr_table_t *before,
                              const apr_table_t *err_before);

/** Does `r` have the same values of the headers that the kept response varies by? */
int vault_cache_headers_match(const vault_output_metadata_t *metadata, const request_rec *r);

/** What tells the response to `r` from others with this key: the headers by which this one varies. By it, one request
 * of several with the same headers renders (vault_output_lead()). @return to be added to the variant */
apr_uint64_t vault_cache_headers_vary_hash(const vault_output_entry_t *entry, const request_rec *r);

/** Send the kept headers with the response to `r`.
 * @param live  the response is a live page, which has no validators */
void vault_cache_headers_write(request_rec *r, const vault_output_metadata_t *metadata,
                               const vault_output_entry_t *entry, int live);

#endif
