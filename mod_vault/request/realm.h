/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file realm.h
 * Identifies the sender of a request: its virtual host, its authentication realm and its user.
 *
 * A virtual host is identified by its ServerName and its addresses with ports, but not by its position in the
 * configuration, so its pages survive a graceful restart. A request for a ServerAlias belongs to the same virtual
 * host. An HTTP and an HTTPS virtual host of one name have different ports, so they are two. mod_vhost_alias serves
 * many sites from one virtual host; here they are one.
 *
 * A realm consists of the AuthType and the AuthName of the location where the user logged in.
 */
#ifndef VAULT_REALM_H
#define VAULT_REALM_H

#include "httpd.h"

#include "page/page.h"

/** The sender of the main request of `r`, since a subrequest acts for its main request. Call it after authentication.
 * The result points to memory of the main request. */
vault_owner_t vault_realm_owner(request_rec *r);

/** Numbers for the same virtual host and the same realm on other servers with the same configuration. They depend on
 * ServerName and ServerAlias, not on addresses.
 * @param seed   of all these servers
 * @param realm  0: without a user */
void vault_realm_shared(request_rec *r, apr_uint64_t seed, apr_uint64_t *host, apr_uint64_t *realm);

void vault_realm_hooks(void);

#endif
