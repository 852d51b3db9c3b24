/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_page.h
 * A call of a feed's method by an application, for the page that it renders just now: how far the page is comes from
 * the run that has asked the application, and what the call does goes there (page_calls.h).
 *
 * Thread: the one that owns the request, which has the key (feed_key.h).
 */
#ifndef VAULT_FEED_PAGE_H
#define VAULT_FEED_PAGE_H

#include "httpd.h"

#include "page_calls.h"

/** Begin the call, if the request names a page that is there: its context gets a run (context.h), and it is one from outside.
 * @param cursor  names the call (call_name.h)
 * @return DECLINED: go on, also when it names none; else what the handler returns: it has been answered */
int vault_feed_page_begin(request_rec *r, const char *cursor);

/** The call has succeeded: what it has done is added to the run.
 * @return DECLINED: now the rows may be sent; else what the handler returns: it has been answered, and nothing was
 *         added */
int vault_feed_page_add(request_rec *r);

/** The call has failed, so the run must not count.
 * @return DECLINED: the failure is to be answered; else what the handler returns: the run is over, and that has been
 *         answered */
int vault_feed_page_fail(request_rec *r);

/** The memory of the call goes. */
void vault_feed_page_end(request_rec *r);

#endif
