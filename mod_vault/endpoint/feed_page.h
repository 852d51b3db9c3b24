/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_page.h
 * A feed call by an application for the page that it is rendering. The call reads the page's cursor from the run for
 * which httpd sent the request to the application, and adds its results to that run (page_calls.h).
 *
 * Thread: the one that owns the request. The request has the key (feed_key.h).
 */
#ifndef VAULT_FEED_PAGE_H
#define VAULT_FEED_PAGE_H

#include "httpd.h"

#include "page/page_calls.h"

/** Begin the call: if the request names an existing page, its context (context.h) gets the run.
 * @param cursor  the name of the call (call_name.h)
 * @return DECLINED: continue, also if the request names no page; else the request has been answered, and the handler
 *         returns this */
int vault_feed_page_begin(request_rec *r, const char *cursor);

/** The call has succeeded: add its results to the run.
 * @return DECLINED: send the rows; else nothing was added, the request has been answered, and the handler returns
 *         this */
int vault_feed_page_add(request_rec *r);

/** The call has failed, so the run must not take effect.
 * @return DECLINED: answer with the failure; else the run has ended, the request has been answered so, and the handler
 *         returns this */
int vault_feed_page_fail(request_rec *r);

/** Remove the call from the request's context, before its memory is freed. */
void vault_feed_page_end(request_rec *r);

#endif
