/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ssi.h
 * The tags for mod_include:
 *
 *     <!--#vault poll="/logs/latest.shtml" -->
 *     <!--#feed name="database" method="get_new_instances" table="logs" template="log-entries.html"
 *     append="logs-div" -->
 *
 * In a page view `feed` renders its template in place; in a method it renders a turbo-stream element.
 */
#ifndef VAULT_SSI_H
#define VAULT_SSI_H

/** Register the tags, if mod_include is there. */
void vault_ssi_hooks(void);

#endif
