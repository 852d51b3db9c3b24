/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file header_text.h
 * How the Vault-* headers between httpd and an application are written.
 *
 * From the application: comma lists, so that it does not matter whether something on the way joins headers of one name.
 * Blanks around a piece do not count. What must not be taken for that is percent-encoded: `%2C` is a comma, `%25` a percent sign.
 * To the application: one value a header, percent-encoded the same way.
 *
 * Pure functions.
 */
#ifndef VAULT_HEADER_TEXT_H
#define VAULT_HEADER_TEXT_H

#include "apr_pools.h"

/** The next piece of a comma list, without blanks around it, not decoded; empty ones are passed over.
 * @param rest  what is still to be read; moves on
 * @return in `pool`; NULL: no more */
const char *vault_header_piece(const char **rest, apr_pool_t *pool);

/** Undo percent-encoding.
 * @return NULL: a percent sign without two hexadecimal digits behind it, or an encoded NUL */
const char *vault_header_decode(const char *text, apr_pool_t *pool);

/** Percent-encode what is not printable ASCII, a blank, a comma or a percent sign. */
const char *vault_header_encode(const char *text, apr_pool_t *pool);

/** Cut `key=value`, and decode both. Keys are letters, digits and hyphens, and come out in lower case, since headers with them in
 * their names do not keep it.
 * @param value  NULL when it is empty: the property is to be removed
 * @return 0 it is not of that form */
int vault_header_property(const char *piece, const char **key, const char **value, apr_pool_t *pool);

/** Can a property of this name be sent as a header? */
int vault_header_is_key(const char *key);

/** Might an application take a request header of this name for one of ours (Vault-Page, Vault-New-Page, Vault-Stream, Vault-Property-…)? CGI and its relatives make
 * one variable of names that differ in case, and some also take other signs for the hyphen. */
int vault_header_is_reserved(const char *name);

/** A list of names, as in `Connection`, without those that are reserved. Names end at commas, and at semicolons and blanks as well, since
 * mod_proxy of httpd 2.4 reads them so. What stays is not changed.
 * @return "": nothing stays; NULL: none is reserved */
const char *vault_header_others(const char *list, apr_pool_t *pool);

#endif
