/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file header_text.h
 * The syntax of the Vault-* headers between httpd and an application.
 *
 * The application sends comma-separated lists, so a program in between may join headers of the same name. White
 * space around an item is ignored. Characters with a meaning in this syntax are percent-encoded: `%2C` is a
 * comma, `%25` a percent sign. httpd sends the application one percent-encoded value in each header.
 *
 * Pure functions.
 */
#ifndef VAULT_HEADER_TEXT_H
#define VAULT_HEADER_TEXT_H

#include "apr_pools.h"

/** The next item of a comma-separated list, without white space around it, not decoded. Empty items are skipped.
 * @param rest  the unread part of the list; advanced past the item
 * @return the item, in `pool`; NULL: the list has no more items */
const char *vault_header_piece(const char **rest, apr_pool_t *pool);

/** Decode percent-encoding.
 * @return NULL: a percent sign is not followed by two hexadecimal digits, or a NUL is encoded */
const char *vault_header_decode(const char *text, apr_pool_t *pool);

/** Percent-encode commas, percent signs, spaces, and everything that is not printable ASCII. */
const char *vault_header_encode(const char *text, apr_pool_t *pool);

/** Split `key=value` and decode both parts. A key consists of letters, digits and hyphens. It is converted to
 * lower case, because it may be sent as part of a header name, whose case is not preserved.
 * @param value  NULL if it is empty, which removes the property
 * @return 0: the item does not have this form */
int vault_header_property(const char *piece, const char **key, const char **value, apr_pool_t *pool);

/** Can a property with this key be sent as a header? */
int vault_header_is_key(const char *key);

/** Could an application mistake a request header of this name for one of the module's own (Vault-Page,
 * Vault-New-Page, Vault-Stream, Vault-Property-…, Vault-Session-…)? CGI and similar interfaces turn header names that differ
 * only in case into the same variable. Some do the same with other characters in place of the hyphen. */
int vault_header_is_reserved(const char *name);

/** A list of header names, as in `Connection`, without the reserved ones. Commas separate the names. Semicolons
 * and spaces do, too, because mod_proxy of httpd 2.4 accepts them as separators.
 * @return "": all names are reserved; NULL: none is, and the list can stay as it is */
const char *vault_header_others(const char *list, apr_pool_t *pool);

#endif
