/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file method_url.h
 * Validates the URLs of methods.
 */
#ifndef VAULT_METHOD_URL_H
#define VAULT_METHOD_URL_H

/** The longest URL of a method, in bytes. */
#define VAULT_URL_MAX 1024

/** Is `url` a valid URL without a fragment, of at most VAULT_URL_MAX bytes? */
int vault_method_is_url(const char *url);

#endif
