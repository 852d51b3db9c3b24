/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session_cookie.h
 * The cookie of a session.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_SESSION_COOKIE_H
#define VAULT_SESSION_COOKIE_H

#include "httpd.h"

#include "page/page.h"

/** The next cookie of that name that has the form of an id. A browser can send several of one name, for instance one
 * that another host of the domain has set.
 * @param rest  the unread part of the header Cookie; NULL: there is none
 * @return 0: there is no other */
int vault_session_cookie_next(const char **rest, const char *name, vault_page_t *session);

/** Set the cookie in the answer to the main request of `r`, whatever its status. */
void vault_session_cookie_set(request_rec *r, const char *name, const vault_page_t *session);

#endif
