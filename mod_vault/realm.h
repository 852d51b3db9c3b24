/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file realm.h
 * Who sends a request: of which virtual host, of which authentication realm, and which user.
 *
 * A virtual host is known by its ServerName and its addresses with their ports, whatever its place in the configuration, so a graceful
 * restart keeps its pages. Those who call it by a ServerAlias are on the same one. An HTTP and an HTTPS virtual host of one name have
 * different ports, and so are two. mod_vhost_alias makes many sites of one virtual host: they are one here.
 *
 * A realm is what AuthType and AuthName say where the user logged in.
 */
#ifndef VAULT_REALM_H
#define VAULT_REALM_H

#include "httpd.h"

#include "page.h"

/** Who sends the main request of `r`: a subrequest acts for it. After authentication; what it points to lives as long as that request. */
vault_owner_t vault_realm_owner(request_rec *r);

void vault_realm_hooks(void);

#endif
